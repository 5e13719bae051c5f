import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { evolve, type IntentEvent, type IntentId, type PaymentIntent } from '@pf/domain';
import { events, type ExpectedEvent, samples } from '@pf/domain/testing';
import { createStore, type RestingIntent, UNSPLIT } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

const PARTITION = 1;
const CHAIN = samples.BASE_SEPOLIA;

describe('Loading what is watched', () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
    await createStore(own.database).ledger.checkpoint(PARTITION);
  });
  afterAll(() => own.close());

  async function project(...told: readonly ExpectedEvent[]): Promise<PaymentIntent> {
    const intentId = newIntentId(PARTITION);
    let intent: PaymentIntent | undefined;
    for (const [at, { type, data }] of told.entries())
      intent = evolve(intent, { type, data, intentId, version: at + 1, at: 1_795_453_843_123 + at } as IntentEvent);
    if (!intent) throw new Error('there are no events');
    const position = { partition: PARTITION, from: 0n, next: 0n, lastAt: 0 };
    const { ledger } = createStore(own.database);
    await ledger.project({ ...position, intents: [{ intent, before: 0 }], events: [], outcomes: [] });
    return intent;
  }
  /** The ids of those that are given as a whole, and those at rest. */
  async function loadResting(since: number): Promise<{ whole: ReadonlySet<IntentId>; resting: RestingIntent[] }> {
    const whole = new Set<IntentId>();
    const resting: RestingIntent[] = [];
    await createStore(own.database).watchedIntents.load([CHAIN], 0, ({ id }) => void whole.add(id), UNSPLIT, {
      since,
      each: (intent) => void resting.push(intent),
    });
    return { whole, resting };
  }
  async function load(): Promise<ReadonlyMap<IntentId, PaymentIntent>> {
    const found = new Map<IntentId, PaymentIntent>();
    await createStore(own.database).watchedIntents.load(
      [CHAIN],
      0,
      (intent) => void found.set(intent.id, intent),
      UNSPLIT,
    );
    return found;
  }

  it('returns an unchanged intent from its columns, and any other from its state', async () => {
    const metadata = { order: '7' };
    const plain = await project(events.created({ metadata }));
    const bound = await project(events.created({ fulfiller: samples.BOB, direction: 'send' }));
    const detected = await project(events.created({ metadata }), events.detected());
    const found = await load();
    const slim = { decimals: 0, amount: '', metadata: null, idempotencyKey: null };
    expect(found.get(plain.id)).toEqual({ ...plain, ...slim });
    expect(found.get(bound.id)).toEqual({ ...bound, ...slim });
    expect(found.get(detected.id)).toEqual(detected);
  });

  it('returns as held an intent that newer code marked', async () => {
    const [held, newer] = [await project(events.created()), await project(events.created())];
    const mark = 'UPDATE ledger.intents SET state = jsonb_set(state::jsonb, $2, $3)::text WHERE id = $1';
    await own.database.sql.query(mark, [held.id, '{heldFrom}', '1']);
    await own.database.sql.query(mark, [newer.id, '{schemaVersion}', '99']);
    const found = await load();
    expect(found.get(held.id)).toMatchObject({ id: held.id, heldFrom: 1 });
    expect(found.get(newer.id)).toMatchObject({ id: newer.id, heldFrom: 1 });
  });

  it('returns of a closed intent only its names, id and version, unless something may still change it', async () => {
    const paid = [events.created(), events.pending(samples.FIRST), events.confirmed(samples.FIRST)];
    const final = [...paid, events.finalized(samples.FIRST)];
    const atRest = [
      await project(...final),
      await project(events.created(), events.expired()),
      await project(events.created(), events.cancelled()),
    ];
    const simulated = [events.simulated.confirmed(samples.FIRST), events.simulated.finalized(samples.FIRST)];
    const others = [
      await project(events.created()),
      await project(...paid),
      await project(...final, events.lost(samples.FIRST)),
      await project(events.created(), events.prepared(samples.FIRST), events.expired(true)),
      await project(events.created(), ...simulated),
    ];
    const later = 1_795_453_843_123 + 60_000;
    const { whole, resting } = await loadResting(later);
    const found = new Map(resting.map((intent) => [intent.id, intent]));
    for (const { id, accountId, version, chain, requestor, reference, closedAt } of atRest)
      expect(found.get(id)).toEqual({ id, accountId, version, chain, requestor, reference, closedAt });
    for (const { id } of others) expect([whole.has(id), found.has(id)]).toEqual([true, false]);
    const early = await loadResting(1_795_453_843_123);
    for (const { id } of [...atRest, ...others]) expect(early.whole.has(id)).toBe(true);
  });

  it('returns each of thousands once', async () => {
    const { id } = await project(events.created());
    await own.database.sql.query(
      `INSERT INTO ledger.intents
       SELECT (jsonb_populate_record(one, jsonb_build_object('id', 'pi_' || place))).*
         FROM ledger.intents AS one, generate_series(1, 2_500) AS place WHERE one.id = $1`,
      [id],
    );
    let count = 0;
    await createStore(own.database).watchedIntents.load([CHAIN], 0, () => (count += 1), UNSPLIT);
    const { rows } = await own.database.sql.query<{ count: string }>('SELECT count(*) FROM ledger.intents');
    expect(count).toBe(Number(rows[0]?.count));
    expect((await load()).size).toBe(count);
  });
});
