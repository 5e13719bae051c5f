import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EventLog, EventLogOptions, Publisher } from '../../src/index.ts';
import { fold, Ledger, type TestEvent } from './ledger.ts';
import { freshLog, freshOptions, PARTITIONS, until } from '../stack.ts';
import { type Worker, Workers } from './workers.ts';

describe('A partition that goes to another process', () => {
  let folder: string;
  let file: string;
  let options: EventLogOptions;
  let log: EventLog;
  let publisher: Publisher;
  let sent = 0;
  const workers = new Workers();

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'event-log-'));
    file = join(folder, 'ledger.sqlite');
    options = freshOptions();
    log = await freshLog(options);
    publisher = await log.publisher();
    sent = 0;
  });

  afterEach(async () => {
    await workers.killAll();
    await publisher.close();
    rmSync(folder, { recursive: true });
  });

  /** Sends one command to every partition and returns their ids. */
  async function sendRound(): Promise<number[]> {
    const ids = Array.from({ length: PARTITIONS }, () => ++sent);
    await Promise.all(
      ids.map((id, partition) =>
        publisher.publish('intent.commands', { partition, key: String(id), value: JSON.stringify({ id }) }),
      ),
    );
    return ids;
  }

  const handledBy = (worker: Worker, ids: readonly number[], withinMs?: number): Promise<void> =>
    until(() => ids.every((id) => worker.published.has(id)), `commands ${ids.join()} to be handled`, withinMs);

  /** Every command led to one event, in order and without a gap, and the projection equals the fold of the log. */
  async function expectConsistent(): Promise<void> {
    const reader = await log.reader('check');
    const ledger = new Ledger(file);
    const seen: number[] = [];
    for (let partition = 0; partition < PARTITIONS; partition++) {
      // A commit is visible to readers some milliseconds after it resolves.
      await until(
        async () => ledger.load(partition).position === (await reader.endOffset('intent.events', partition)),
        'the log to show what is projected',
      );
      const values: string[] = [];
      const end = await reader.endOffset('intent.events', partition);
      for await (const { records } of reader.read('intent.events', partition, 0n, end))
        values.push(...records.map(({ value }) => value ?? ''));
      const events = values.map((value) => JSON.parse(value) as TestEvent);
      expect(events.map(({ version }) => version)).toEqual(events.map((_, index) => index + 1));
      expect(ledger.load(partition)).toEqual(fold({ position: 0n, count: 0, hash: '' }, values, end));
      const consumed = await reader.endOffset('intent.commands', partition);
      await until(
        async () => (await reader.committed('intent', 'intent.commands', partition)) === consumed,
        'all commands to be consumed',
      );
      seen.push(...events.map(({ id }) => id));
    }
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
    ledger.close();
    await reader.close();
  }

  it('has a new owner at once after SIGTERM, and no command is lost or decided twice', async () => {
    // A process that does not leave the group keeps its partitions for longer than this test waits.
    options = { ...options, sessionTimeoutMs: 60_000 };
    const first = workers.start({ options, file });
    await first.untilOwning(PARTITIONS);
    const second = workers.start({ options, file });
    await Promise.all([first.untilOwning(PARTITIONS / 2), second.untilOwning(PARTITIONS / 2)]);
    const before = await sendRound();
    await until(() => before.every((id) => first.published.has(id) || second.published.has(id)), 'both to work');
    const gone = first.stop('SIGTERM');
    const during = await sendRound();
    await until(
      () => during.every((id) => first.published.has(id) || second.published.has(id)),
      'the commands of the take-over',
    );
    await Promise.all([gone, second.untilOwning(PARTITIONS)]);
    await handledBy(second, await sendRound());
    await expectConsistent();
  });

  it('has a new owner after kill -9, once the session has timed out', async () => {
    const first = workers.start({ options, file });
    await first.untilOwning(PARTITIONS);
    await handledBy(first, await sendRound());
    await first.stop('SIGKILL');
    const left = await sendRound();
    const second = workers.start({ options, file });
    await handledBy(second, left);
    await expectConsistent();
  });

  it('gets the projection of events that a killed owner committed and did not project', async () => {
    const first = workers.start({ options, file, trap: { moment: 'committed', signal: 'SIGKILL', time: 1 } });
    await first.untilOwning(PARTITIONS);
    await sendRound();
    await until(() => first.trapped, 'the owner to die');
    const second = workers.start({ options, file });
    await second.untilOwning(PARTITIONS);
    await handledBy(second, await sendRound());
    expect(second.caughtUp).toBeGreaterThan(0);
    await expectConsistent();
  });

  it('rejects the commit of an earlier owner that was suspended while the partition moved', async () => {
    const sleeper = workers.start({ options, file, trap: { moment: 'decided', signal: 'SIGSTOP', time: 1 } });
    await sleeper.untilOwning(PARTITIONS);
    const ids = await sendRound();
    await until(() => sleeper.trapped, 'the owner to fall asleep');
    const second = workers.start({ options, file });
    await handledBy(second, ids);
    sleeper.kill('SIGCONT');
    await until(() => sleeper.lost.length > 0, 'the sleeper to find itself fenced');
    await until(
      () => sleeper.owned.length + second.owned.length === PARTITIONS && sleeper.owned.length === second.owned.length,
      'the group to share the partitions again',
    );
    const after = await sendRound();
    await until(() => after.every((id) => sleeper.published.has(id) || second.published.has(id)), 'both to work on');
    await expectConsistent();
  });
});
