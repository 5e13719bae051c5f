import { newIntentId, parseCommand } from '@pf/contracts';
import type { AccountId, IntentId } from '@pf/domain';
import type { NewRecord } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Commands } from '../../src/commands.ts';
import { CommandTurns } from '../../src/limits/command-turns.ts';
import { Outcomes } from '../../src/outcomes.ts';

const PARTITION = 3;
/** The most that a writer takes at once. */
const BATCH = 200;
const FLOODING = 'acct_flooding' as AccountId;
const OTHER = 'acct_other' as AccountId;

/** A gateway's commands, and the log of one partition from which a writer takes batches when the test says so. */
function partition(factor?: number) {
  const log: NewRecord[] = [];
  const outcomes = new Outcomes({ findOutcomes: async () => [] }, createLogger('test', 'silent'));
  const commands = new Commands(
    {
      publish: async (_topic, record) => void log.push(record),
      close: async () => undefined,
    },
    { name: 'replies', listening: true },
    outcomes,
    new CommandTurns(factor),
  );
  const settled = async (): Promise<void> => void (await jest.advanceTimersByTimeAsync(1));
  return {
    log,
    send: (accountId: AccountId, livemode = true, payerOf?: IntentId) =>
      commands.send({
        type: 'detect',
        intentId: payerOf ?? newIntentId(PARTITION),
        accountId,
        livemode,
        data: {},
        byPayer: payerOf !== undefined,
      }),
    settled,
    /** Decides one batch, in the order of the log. @returns how many commands were in it */
    decide: async (): Promise<number> => {
      await settled();
      const batch = log.splice(0, BATCH);
      for (const { value } of batch) {
        const command = parseCommand(value);
        if (command.kind !== 'command') throw new Error(`${command.type} was not sent`);
        const { commandId, intentId } = command;
        outcomes.settle({
          outcome: { kind: 'accepted', commandId, intentId, replayed: false, build: null, attempts: null },
          intent: null,
        });
      }
      await settled();
      return batch.length;
    },
  };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('Commands of one account that floods a partition', () => {
  it('let another account’s command be decided in the next batch', async () => {
    const { send, decide, log, settled } = partition();
    const refused: unknown[] = [];
    const flood = Array.from({ length: 5_000 }, () => send(FLOODING).catch((error: unknown) => refused.push(error)));
    await settled();
    expect(log.length).toBe(64);
    let isDecided = false;
    const other = send(OTHER).then(() => (isDecided = true));
    expect(await decide()).toBe(65);
    expect(isDecided).toBe(true);
    await other;
    // Those that were accepted are decided; the rest was refused at once, and did nothing.
    for (let batch = 0; batch < 10; batch++) await decide();
    await Promise.all(flood);
    expect(refused).toHaveLength(5_000 - 64 - 512);
    expect(refused[0]).toMatchObject({ code: 'rate_limit.exceeded', details: { retry_after: 1 } });
  });

  it('wait for their turn, and are refused when it does not come', async () => {
    const { send, log, settled, decide } = partition();
    const flood = Array.from({ length: 65 }, () => send(FLOODING));
    const last = expect(flood[64]).rejects.toMatchObject({ code: 'rate_limit.exceeded' });
    await settled();
    await jest.advanceTimersByTimeAsync(3_000);
    await last;
    expect(log).toHaveLength(64);
    await decide();
    expect(await Promise.all(flood.slice(0, 64))).toHaveLength(64);
  });

  it('time out as soon as others, however long they waited for their turn', async () => {
    const { send, log, settled, decide } = partition();
    const first = Array.from({ length: 64 }, () => send(FLOODING));
    const waited = send(FLOODING);
    await settled();
    await jest.advanceTimersByTimeAsync(2_900);
    await decide();
    await Promise.all(first);
    const late = expect(waited).rejects.toMatchObject({ code: 'service.unavailable' });
    await settled();
    expect(log).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(8_500 - 2_900);
    await late;
  });

  it('wait once for both turns of a test account', async () => {
    const { send, log, settled } = partition();
    const accounts = Array.from({ length: 5 }, (_, account) => `acct_${account}` as AccountId);
    // All places of test mode are taken, and those of one account wait for its own.
    const flood = accounts.flatMap((account) => Array.from({ length: 16 }, () => send(account, false)));
    const ends = flood.map((one) =>
      one.then(
        () => 'decided',
        ({ code }: { code: string }) => code,
      ),
    );
    await settled();
    expect(log).toHaveLength(64);
    const last = send('acct_4' as AccountId, false).then(null, ({ code }: { code: string }) => code);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(await last).toBe('rate_limit.exceeded');
    expect(await Promise.all(ends.slice(64))).toEqual(Array.from({ length: 16 }, () => 'rate_limit.exceeded'));
    await jest.advanceTimersByTimeAsync(5_500);
    expect(await Promise.all(ends.slice(0, 64))).toEqual(Array.from({ length: 64 }, () => 'service.unavailable'));
  });

  it('leave less to a test account, and to all of them together as much as to one live account', async () => {
    const { send, log, settled, decide } = partition();
    const flood = Array.from({ length: 10 }, (_, account) =>
      Array.from({ length: 20 }, () => send(`acct_${account}` as AccountId, false)),
    ).flat();
    await settled();
    expect(log).toHaveLength(64);
    const live = send(OTHER);
    expect(await decide()).toBe(65);
    await live;
    while ((await decide()) > 0);
    await Promise.all(flood);
  });

  it('take no turn of the account when payers send them, and few for one intent', async () => {
    const { send, log, settled, decide } = partition();
    const refused: unknown[] = [];
    const floodOf = (intentId: IntentId) =>
      Array.from({ length: 600 }, () => send(FLOODING, true, intentId).catch((error: unknown) => refused.push(error)));
    const flood = floodOf(newIntentId(PARTITION));
    await settled();
    expect(log).toHaveLength(4);
    const other = send(FLOODING, true, newIntentId(PARTITION));
    await settled();
    expect(log).toHaveLength(5);
    const all = Array.from({ length: 20 }, () => floodOf(newIntentId(PARTITION))).flat();
    await settled();
    expect(log).toHaveLength(32);
    const ofKey = send(FLOODING);
    expect(await decide()).toBe(33);
    await Promise.all([other, ofKey]);
    while ((await decide()) > 0);
    await Promise.all([...flood, ...all]);
    expect(refused.length).toBeGreaterThan(0);
  });

  it('are not bounded for a load test', async () => {
    const { send, log, settled, decide } = partition(100);
    const flood = Array.from({ length: 1_000 }, () => send(FLOODING));
    await settled();
    expect(log).toHaveLength(1_000);
    while ((await decide()) > 0);
    await Promise.all(flood);
  });
});
