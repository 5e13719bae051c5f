import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@pf/testing';
import {
  addWebhookEndpoint,
  type DeliveryPlace,
  EndedDeliveries,
  type EndedDelivery,
  type NewDelivery,
  openAccount,
  recordDeliveries,
  removeWebhookEndpoint,
  retryDelivery,
  type Settled,
  settleAttempts,
  webhookPositions,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { deliverableEvent } from './deliverable-event.ts';

const PARTITION = 1;
const URL = 'https://shop.example/hooks';

describe('Ended deliveries', () => {
  let own: OwnDatabase;
  let accountId: string;
  let position = 0n;
  const now = new Date('2026-11-21T12:00:00.000Z');
  beforeEach(async () => {
    own = await createOwnDatabase();
    ({ id: accountId } = await openAccount(own.database, randomBytes(32), { name: 'ended' }));
    await addWebhookEndpoint(own.database, { accountId, livemode: false, url: URL });
    await webhookPositions(own.database, [PARTITION]);
    position = 0n;
  });
  afterEach(() => own.close());

  const owner = () => ({ accountId, livemode: false });
  async function made(count: number): Promise<readonly NewDelivery[]> {
    const events = Array.from({ length: count }, () => deliverableEvent(owner(), { partition: PARTITION }));
    const [from, next] = [position, (position += 1n)];
    return (await recordDeliveries(own.database, [{ partition: PARTITION, from, next, events }], now)).due;
  }
  const settled = (deliveryId: string, change: Partial<Settled> = {}): Settled => ({
    deliveryId,
    number: 1,
    dueAt: now,
    at: now,
    durationMs: 7,
    responseStatus: 200,
    responseStart: '',
    reason: null,
    next: null,
    ...change,
  });
  const FAILED = { responseStatus: 500, reason: 'The response status was 500.' };

  /** Everything that has ended by now. */
  async function read(
    ended: EndedDeliveries,
    after: DeliveryPlace | null = null,
    limit = 1_000,
  ): Promise<{ readonly deliveries: readonly EndedDelivery[]; readonly last: DeliveryPlace | null }> {
    const deliveries: EndedDelivery[] = [];
    for (let last = after; ;) {
      const page = await ended.page(last, limit);
      deliveries.push(...page.deliveries);
      last = page.last ?? last;
      if (page.deliveries.length < limit) return { deliveries, last };
    }
  }
  /** What has ended by now can be read: also transactions of other databases of the server have ended. */
  async function looked(ended = new EndedDeliveries(own.database)): Promise<EndedDeliveries> {
    const { rows } = await own.database.sql.query<{ now: Date }>('SELECT now()');
    const now = rows[0]?.now ?? new Date();
    await until('everything until now to be readable', async () => ((await ended.look()) ?? new Date(0)) > now);
    return ended;
  }

  it('are read once each, in pages, with their outcomes', async () => {
    const [first, second, third, fourth] = await made(4);
    if (!first || !second || !third || !fourth) throw new Error('deliveries are missing');
    await settleAttempts(own.database, [settled(first.id)]);
    await settleAttempts(own.database, [settled(second.id, FAILED)]);
    await settleAttempts(own.database, [settled(third.id, { ...FAILED, next: new Date(now.getTime() + 60_000) })]);
    const pending = await read(await looked());
    expect(pending.deliveries.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());

    await removeWebhookEndpoint(own.database, { ...owner(), url: URL, at: now });
    const ended = await looked();
    const { deliveries } = await read(ended, null, 1);
    const outcomes = deliveries.map(({ id, outcome, attempts, responseStatus }) => [
      id,
      [outcome, attempts, responseStatus],
    ]);
    expect(outcomes).toHaveLength(4);
    expect(Object.fromEntries(outcomes)).toEqual({
      [first.id]: ['delivered', 1, 200],
      [second.id]: ['failed', 1, 500],
      [third.id]: ['cancelled', 1, 500],
      [fourth.id]: ['cancelled', 0, null],
    });
    expect((await read(ended, pending.last)).deliveries.map(({ id }) => id).sort()).toEqual(
      [third.id, fourth.id].sort(),
    );
  });

  it('are read again when they end again', async () => {
    const [delivery] = await made(1);
    if (!delivery) throw new Error('no delivery');
    await settleAttempts(own.database, [settled(delivery.id, FAILED)]);
    const ended = await looked();
    const { deliveries, last } = await read(ended);
    expect(deliveries).toMatchObject([{ outcome: 'failed', attempts: 1 }]);
    const at = new Date(now.getTime() + 1_000);
    await retryDelivery(own.database, { ...owner(), deliveryId: delivery.id, at });
    expect((await read(await looked(ended), last)).deliveries).toEqual([]);
    await settleAttempts(own.database, [settled(delivery.id, { number: 2, dueAt: at })]);
    const again = await read(await looked(ended), last);
    expect(again.deliveries).toMatchObject([{ id: delivery.id, outcome: 'delivered', attempts: 2 }]);
    expect(again.deliveries[0]?.endedAt.getTime()).toBeGreaterThan(deliveries[0]?.endedAt.getTime() ?? Infinity);
  });

  it('are not passed over while an earlier one is not committed', async () => {
    const [slow, fast] = await made(2);
    if (!slow || !fast) throw new Error('deliveries are missing');
    const client = await own.database.sql.connect();
    const ended = new EndedDeliveries(own.database);
    try {
      await client.query('BEGIN');
      await client.query(`UPDATE service.deliveries SET status = 'failed', next_attempt_at = NULL WHERE id = $1`, [
        slow.id,
      ]);
      await settleAttempts(own.database, [settled(fast.id)]);
      for (let looks = 0; looks < 4; looks++) await ended.look();
      expect((await read(ended)).deliveries).toEqual([]);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    expect((await read(await looked(ended))).deliveries.map(({ id }) => id).sort()).toEqual([slow.id, fast.id].sort());
  });

  it('include those from before Postgres noted when, with the time that they have', async () => {
    const [old, next] = await made(2);
    if (!old || !next) throw new Error('deliveries are missing');
    await settleAttempts(own.database, [settled(old.id), settled(next.id)]);
    await own.database.sql.query('ALTER TABLE service.deliveries DISABLE TRIGGER stamp_delivery_end');
    await own.database.sql.query(`UPDATE service.deliveries SET ended_at = DEFAULT WHERE id = $1`, [old.id]);
    await own.database.sql.query('ALTER TABLE service.deliveries ENABLE TRIGGER stamp_delivery_end');
    const { deliveries } = await read(await looked(), null, 1);
    expect(deliveries.map(({ id }) => id)).toEqual([old.id, next.id]);
    expect(deliveries[0]?.endedAt).toEqual(now);
  });

  it('are found by their index, in its order', async () => {
    const client = await own.database.sql.connect();
    try {
      await client.query('SET enable_seqscan = off');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT id FROM service.deliveries
          WHERE next_attempt_at IS NULL AND (ended_at, id) > ('-infinity'::timestamptz, '') AND ended_at < now()
          ORDER BY ended_at, id LIMIT 10`,
      );
      const plan = rows.map((line) => line['QUERY PLAN']).join('\n');
      expect(plan).toContain('deliveries_by_end');
      expect(plan).not.toContain('Sort');
    } finally {
      client.release(true);
    }
  });
});
