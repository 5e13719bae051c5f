import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { trustedClock } from '@pf/clock';
import { encodeInput, newIntentId, parseEvent, parseOutcome } from '@pf/contracts';
import {
  createStore,
  type Database,
  findIntent,
  listIntents,
  loadWatchedIntents,
  UNSPLIT,
  verifyProjection,
} from '@pf/database';
import type { AccountId, IntentId, PaymentIntent } from '@pf/domain';
import { about, gateway, watcher } from '@pf/domain/testing';
import type { LogRecord, NewRecord } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { type Cluster, startCluster } from '@pf/testing';
import { linesOf } from '../../../packages/contracts/test/evolution/recorded.ts';
import { IntentWriter } from '../src/writer.ts';
import { raw } from './batches.ts';
import { observed, sent } from './messages.ts';

/** All recorded intents are in this partition. */
const partition = 3;
const events = linesOf('b026edb', 'events');
const states = linesOf('b026edb', 'states');
const idOf = (state: string): IntentId => (JSON.parse(state) as { id: IntentId }).id;
const stateOf = (state: string) =>
  JSON.parse(state) as { reference: string; status: string; version: number; idempotencyKey: string | null };
const account = { accountId: 'acct_2pqKc8hR5mUj8xNgYq3vWJ' as AccountId, livemode: false };

let cluster: Cluster;
let database: Database;
beforeAll(async () => {
  cluster = await startCluster();
  database = cluster.database;
});
afterAll(() => cluster.close());
beforeEach(async () => {
  await database.sql.query(
    'TRUNCATE ledger.intents, ledger.intent_events, ledger.checkpoints, service.command_outcomes',
  );
});

const recordAt = (value: string, offset: number): LogRecord => ({
  ...raw(value),
  topic: 'intent.events',
  partition,
  offset: BigInt(offset),
});

class TestWriter {
  readonly dead: NewRecord[] = [];
  readonly alarms: object[] = [];
  readonly writer: IntentWriter;
  #offset = 0;

  constructor() {
    const log = createLogger('test', 'silent');
    jest.spyOn(log, 'error').mockImplementation((fields: unknown) => {
      if ('alarm' in (fields as object)) this.alarms.push(fields as object);
    });
    this.writer = new IntentWriter({
      partitions: 6,
      ledger: createStore(database).ledger,
      publisher: { publish: async (_topic, record) => void this.dead.push(record), close: async () => undefined },
      announcer: { announce: () => undefined },
      log,
      // Before the recorded intents expire.
      clock: trustedClock(() => Date.UTC(2026, 10, 21, 12, 30)),
    });
  }

  /** Projects a log from its beginning. */
  async follow(lines: readonly string[]): Promise<void> {
    await this.writer.checkpoint(partition);
    const records = lines.map(recordAt);
    expect(await this.writer.catchUp(partition, 0n, records, BigInt(lines.length))).toBe(true);
    this.#offset = lines.length;
  }

  /** Decides messages, appends what they lead to, and projects it. Returns the outcomes in order. */
  async decide(...messages: readonly Parameters<typeof encodeInput>[0][]) {
    const records = messages.map((message, index) => ({
      ...raw(encodeInput(message)),
      topic: message.kind === 'command' ? ('intent.commands' as const) : ('chain.observations' as const),
      partition,
      offset: BigInt(index),
      timestamp: Date.UTC(2026, 10, 21, 12, 30),
    }));
    const { append, context } = await this.writer.decide(partition, records);
    const next = this.#offset + append.length;
    expect(await this.writer.project(partition, BigInt(this.#offset), BigInt(next), context)).toBe(true);
    this.#offset = next;
    return context.decided.outcomes.map(({ outcome }) => outcome);
  }
}

const storedStates = async (): Promise<ReadonlyMap<IntentId, string>> => {
  const { rows } = await database.sql.query<{ id: IntentId; state: string }>('SELECT id, state FROM ledger.intents');
  return new Map(rows.map(({ id, state }) => [id, state]));
};
const command = (id: IntentId, input: Parameters<typeof sent>[0]) => sent({ ...about(id, input), ...account });
const created = states.filter((state) => stateOf(state).status === 'created');
const unclaimed = created.filter((state) => !state.includes('"status":"live"'));
const [one, other] = [idOf(unclaimed[0] ?? ''), idOf(unclaimed[1] ?? '')];

describe('A log and rows of commit b026edb', () => {
  it('are projected to the bytes that it stored, and a rebuild finds nothing to repair', async () => {
    await new TestWriter().follow(events);
    expect([...(await storedStates()).values()].sort()).toEqual([...states].sort());
    const read = async function* (from: bigint, end: bigint) {
      yield { records: events.map(recordAt).filter(({ offset }) => offset >= from && offset < end), next: end };
    };
    const log = { read, end: async () => BigInt(events.length) };
    expect(await verifyProjection(database, partition, log)).toMatchObject({ events: 80, intents: 17, differing: [] });
  });

  it('take commands: each open intent can be cancelled or is in progress, and known outcomes are read', async () => {
    const test = new TestWriter();
    await test.follow(events);
    const outcomes = await test.decide(...created.map((state) => command(idOf(state), gateway.cancel())));
    for (const outcome of outcomes)
      expect(outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind).toMatch(
        /^(accepted|intent.submission_in_progress)$/,
      );
    expect(outcomes.filter(({ kind }) => kind === 'accepted').length).toBeGreaterThan(0);
    for (const line of linesOf('b026edb', 'outcomes')) expect(() => parseOutcome(line)).not.toThrow();
  });
});

describe('An event that only newer code understands', () => {
  const foreign = (id: IntentId, type: string): string => {
    const last = events.findLast((line) => parseEvent(line).intentId === id) ?? '';
    const { version } = parseEvent(last);
    return JSON.stringify({ ...(JSON.parse(last) as object), type, version: version + 1, data: { new: true } });
  };

  it('holds its intent, with one alarm, while the partition and every other intent go on', async () => {
    const test = new TestWriter();
    await test.follow([...events, foreign(one, 'payout_scheduled')]);
    const outcomes = await test.decide(
      command(one, gateway.cancel()),
      command(other, gateway.cancel()),
      observed(about(one, watcher.dropped('0x01' as never))),
    );
    expect(outcomes).toMatchObject([
      { kind: 'refused', refusal: { code: 'intent.unavailable' } },
      { kind: 'accepted', intentId: other },
    ]);
    expect(test.dead.map(({ key }) => key)).toEqual([one]);
    expect(test.alarms).toMatchObject([{ alarm: 'held_intent', intentId: one }]);
    // What the public sees goes on, and the row keeps its place in the history.
    const intent = await findIntent(database, one, account);
    expect(intent).toMatchObject({ status: 'created', heldFrom: intent?.version });
  });

  it('holds an intent whose creation it is', async () => {
    const [first = '', ...rest] = events;
    const test = new TestWriter();
    await test.follow([JSON.stringify({ ...(JSON.parse(first) as object), schemaVersion: 4, data: 'newer' }), ...rest]);
    const { intentId } = parseEvent(first);
    const rows = await storedStates();
    expect(JSON.parse(rows.get(intentId) ?? '')).toMatchObject({ heldFrom: 1, idempotencyKey: 'order 7' });
    expect(rows.size).toBe(states.length);
  });
});

describe('A row that cannot be decoded', () => {
  it('makes only its own intent unavailable', async () => {
    const test = new TestWriter();
    await test.follow(events);
    await database.sql.query(`UPDATE ledger.intents SET state = '{"schemaVersion":3}' WHERE id = $1`, [one]);
    const outcomes = await test.decide(command(one, gateway.cancel()), command(other, gateway.cancel()));
    expect(outcomes).toMatchObject([
      { kind: 'refused', refusal: { code: 'intent.unavailable' } },
      { kind: 'accepted', intentId: other },
    ]);
    expect(test.alarms).toMatchObject([{ alarm: 'held_intent', intentId: one }]);
    await expect(findIntent(database, one, account)).rejects.toThrow('cannot be decoded');
    const { rows: listed } = await listIntents(database, account, {}, null, 100);
    expect(listed).toHaveLength(states.length - 1);
    const pages = [];
    for (let after = null; ;) {
      const { rows: page } = await listIntents(database, account, {}, after, 2);
      pages.push(...page);
      const last = page.at(-1);
      if (page.length < 2 || last === undefined) break;
      after = { createdAt: last.createdAt, id: last.id };
    }
    expect(pages).toEqual(listed);
    const watched: PaymentIntent[] = [];
    const chain = listed[0]?.chain;
    await loadWatchedIntents(
      database,
      chain === undefined ? [] : [chain],
      0,
      (intent) => watched.push(intent),
      UNSPLIT,
    );
    expect(watched).toHaveLength(states.length);
    const { reference, status, version } = stateOf(states.find((state) => idOf(state) === one) ?? '');
    expect(watched.filter(({ heldFrom }) => heldFrom !== undefined)).toMatchObject([
      { id: one, reference, status, version, heldFrom: version, submissions: [] },
    ]);
  });

  it('keeps its idempotency key', async () => {
    const test = new TestWriter();
    await test.follow(events);
    const keyed = idOf(states.find((state) => stateOf(state).idempotencyKey !== null) ?? '');
    await database.sql.query(`UPDATE ledger.intents SET state = 'damaged' WHERE id = $1`, [keyed]);
    const again = sent({ ...about(one, gateway.create({ idempotencyKey: 'order 7' })), ...account });
    const fresh = newIntentId(partition);
    expect(await test.decide({ ...again, intentId: fresh })).toMatchObject([
      { kind: 'refused', refusal: { code: 'intent.unavailable' } },
    ]);
  });
});

describe('Rows of a newer version with more fields', () => {
  it('keep them when this version changes the intents', async () => {
    const test = new TestWriter();
    await test.follow(events);
    const more = `jsonb_set(state::jsonb, '{addedLater}', '{"by": "newer code"}')::text`;
    await database.sql.query(`UPDATE ledger.intents SET state = ${more}`);
    await test.decide(command(one, gateway.cancel()), command(other, gateway.detect()));
    for (const id of [one, other])
      expect(JSON.parse((await storedStates()).get(id) ?? '')).toMatchObject({ addedLater: { by: 'newer code' } });
  });
});
