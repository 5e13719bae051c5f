import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { networkNamed } from '@pf/chains/networks';
import { newAccountId } from '@pf/contracts';
import type { Summary, SummaryRange } from '@pf/contracts/dashboard';
import { type CreateData, formatAmount, type TokenAddress } from '@pf/domain';
import { events, samples } from '@pf/domain/testing';
import { type Cluster, startCluster, until } from '@pf/testing';
import { seedOwner } from '../../src/seed.ts';
import { Person } from '../person.ts';
import { addIntent } from './payments.ts';

const HOUR_MS = 3_600_000;
const USDC = { chain: samples.BASE_SEPOLIA, token: 'USDC', tokenAddress: samples.USDC };
const EURC = { chain: samples.BASE_SEPOLIA, token: 'EURC', tokenAddress: samples.EURC };
const NONE = { payments: 0, amount: '0' };
const of = (amountBaseUnits: bigint, tokenAddress: TokenAddress = samples.USDC): Partial<CreateData> => ({
  amountBaseUnits,
  amount: formatAmount(amountBaseUnits, 6),
  tokenAddress,
});

describe('GET /accounts/{accountId}/{mode}/summary', () => {
  let cluster: Cluster;
  let owner: Person;
  const now = Date.now();
  const minutesAgo = (minutes: number): number => now - minutes * 60_000;
  const hourOf = (at: number): string => new Date(Math.floor(at / HOUR_MS) * HOUR_MS).toISOString();

  beforeAll(async () => {
    cluster = await startCluster();
    const dashboard = await cluster.start('dashboard');
    const email = 'olivia@shop.example';
    const { accountId, database } = cluster;
    const password = await seedOwner(database, { accountId, name: 'Olivia', email });
    owner = await new Person(dashboard.url).signIn(email, password);
  });
  afterAll(() => cluster.close());

  async function summary(range?: SummaryRange, accountId = cluster.accountId, mode = 'test'): Promise<Summary> {
    const { body, status } = await owner.ask('getSummary', {
      params: { accountId, mode },
      ...(range && { query: { range } }),
    });
    expect(status).toBe(200);
    return body.summary;
  }
  /** An account of the same owner. */
  async function newAccount(): Promise<string> {
    const { body } = await owner.ask('createAccount', { body: { name: 'Another shop' } });
    return body.account.id;
  }

  it('says when it can be renewed, if it was not computed for this request', async () => {
    const ask = async () => {
      const { body } = await owner.ask('getSummary', { params: { accountId: cluster.accountId, mode: 'live' } });
      return body.renewableInMs;
    };
    const [one, other] = (await Promise.all([ask(), ask()])).sort((a, b) => Number(a) - Number(b));
    expect([one, other]).toEqual([null, expect.any(Number)]);
    await until('a new one to be made', async () => (await ask()) === null);
  });

  it('is empty for an account without intents, with a bucket for each hour or day', async () => {
    const accountId = await newAccount();
    expect(await summary(undefined, accountId)).toMatchObject({
      range: '7d',
      bucket: 'day',
      complete: true,
      payments: {
        created: 0,
        states: { created: 0, pending: 0, confirmed: 0, finalized: 0, failed: 0, expired: 0, cancelled: 0 },
        successRate: null,
      },
      volume: [],
      timeToConfirm: null,
      failures: { payments: 0, deliveries: 0 },
    });
    for (const [range, buckets, ms] of [
      ['24h', 24, HOUR_MS],
      ['7d', 7, 24 * HOUR_MS],
      ['30d', 30, 24 * HOUR_MS],
    ] as const) {
      const { buckets: shown, from, to } = await summary(range, accountId);
      expect(shown).toHaveLength(buckets);
      expect(shown[0]).toEqual({ at: from, created: 0, paid: 0, failed: 0, expired: 0, received: [] });
      const last = Date.parse(shown.at(-1)?.at ?? '');
      expect([Date.parse(from) % ms, last - Date.parse(from)]).toEqual([0, (buckets - 1) * ms]);
      expect(Date.parse(to) - last).toBeLessThan(ms);
    }
  });

  it('counts states, volume by token, and the time from submit to confirmation', async () => {
    const { accountId, database } = cluster;
    const paid = (minutes: number, change: Partial<CreateData>, confirmMs: number) => {
      const at = minutesAgo(minutes);
      return addIntent(database, {
        accountId,
        events: [
          [at, events.created(change)],
          [at + 60_000, events.prepared(samples.FIRST)],
          [at + 60_500, events.pending(samples.FIRST)],
          [at + 60_000 + confirmMs, events.confirmed(samples.FIRST)],
          [at + 90_000, events.finalized(samples.FIRST)],
        ],
      });
    };
    for (const [index, confirmMs] of [3_000, 1_000, 2_000, 9_000].entries())
      await paid(10 + index, of(12_500_000n), confirmMs);
    // Sums above 2^64 stay exact.
    const large = 2n ** 63n + 1n;
    for (const minutes of [20, 21, 22]) await paid(minutes, of(large, samples.EURC), 2_000);
    const at = minutesAgo(30);
    const ended = {
      sent: [events.created({ ...of(1n), direction: 'send' }), events.confirmed(samples.SECOND)],
      unsubmitted: [events.created(of(2n)), events.confirmed(samples.UNKNOWN)],
      failed: [events.created(), events.prepared(samples.FIRST), events.failed(samples.FIRST)],
      expired: [events.created(), events.expired()],
      cancelled: [events.created(), events.cancelled()],
      open: [events.created()],
      refund: [events.refundCreated(samples.REFUND), events.confirmed(samples.REFUNDING)],
      'open refund': [events.refundCreated(samples.SUCCESSOR)],
    };
    for (const history of Object.values(ended))
      await addIntent(database, { accountId, events: history.map((event, index) => [at + index * 1_000, event]) });
    // Of another mode, another account, and another time.
    const live = { chain: networkNamed('base').chain, tokenAddress: networkNamed('base').tokens[0]?.address };
    await addIntent(database, {
      accountId,
      livemode: true,
      events: [[at, events.created(live as Partial<CreateData>)]],
    });
    await addIntent(database, { accountId: newAccountId(), events: [[at, events.created()]] });
    await addIntent(database, { accountId, events: [[now - 20 * 24 * HOUR_MS, events.created()]] });

    const day = await summary('24h');
    expect(day.payments).toEqual({
      created: 13,
      states: { created: 1, pending: 0, confirmed: 2, finalized: 7, failed: 1, expired: 1, cancelled: 1 },
      successRate: 0.8182,
    });
    expect(day.volume).toEqual([
      {
        ...USDC,
        received: { payments: 5, amount: '50.000002' },
        sent: { payments: 1, amount: '0.000001' },
        refunded: { payments: 1, amount: '12.5' },
      },
      { ...EURC, received: { payments: 3, amount: formatAmount(3n * large, 6) }, sent: NONE, refunded: NONE },
    ]);
    expect(day.timeToConfirm).toEqual({ payments: 7, p50Ms: 2_000, p95Ms: 9_000 });
    expect(day.failures).toEqual({ payments: 1, deliveries: 0 });

    const created = day.buckets.reduce((sum, bucket) => sum + bucket.created, 0);
    expect(created).toBe(13);
    const fourAt = [10, 11, 12, 13].map((minutes) => hourOf(minutesAgo(minutes)));
    for (const bucket of day.buckets.filter(({ at: begins }) => fourAt.includes(begins)))
      expect(bucket.received.find(({ token }) => token === 'USDC')?.amount).toBeDefined();
    expect((await summary('7d')).payments.created).toBe(13);
    expect((await summary('30d')).payments.created).toBe(14);
    expect((await summary('30d', accountId, 'live')).payments.created).toBe(1);
  });

  it('counts what has arrived where more than the amount was paid', async () => {
    const accountId = await newAccount();
    const more = { amount: samples.AMOUNT + 500_000n };
    const paid = [
      events.created({ accept: 'at_least' }),
      events.confirmed(samples.FIRST, more),
      events.finalized(samples.FIRST, more),
      events.overpaid(samples.FIRST, 500_000n),
    ];
    const exact = [events.created(), events.confirmed(samples.SECOND), events.finalized(samples.SECOND)];
    for (const history of [paid, exact, paid])
      await addIntent(cluster.database, {
        accountId,
        events: history.map((event, index) => [minutesAgo(5) + index * 1_000, event]),
      });
    const { volume, buckets } = await summary('24h', accountId);
    expect(volume).toEqual([{ ...USDC, received: { payments: 3, amount: '38.5' }, sent: NONE, refunded: NONE }]);
    expect(buckets.flatMap(({ received }) => received)).toEqual([{ ...USDC, amount: '38.5' }]);
  });

  it('counts the failed deliveries of the range', async () => {
    const accountId = await newAccount();
    const { sql } = cluster.database;
    await sql.query(
      `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url) VALUES ('whe_1', $1, false, 'https://a')`,
      [accountId],
    );
    await sql.query(
      `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status,
                                       created_at)
       SELECT 'whd_' || n, 'whe_1', $1, false, 'evt_' || n, 'intent.created', 'https://a',
              CASE WHEN n % 2 = 0 THEN 'failed' ELSE 'delivered' END,
              now() - CASE WHEN n > 8 THEN interval '3 days' ELSE interval '0' END
         FROM generate_series(1, 10) AS n`,
      [accountId],
    );
    expect((await summary('24h', accountId)).failures.deliveries).toBe(4);
    expect((await summary('7d', accountId)).failures.deliveries).toBe(5);
  });

  it('refuses another range and another mode', async () => {
    const { accountId } = cluster;
    const params = { accountId, mode: 'test' };
    expect(await owner.ask('getSummary', { params, query: { range: '1y' } })).toMatchObject({
      status: 400,
      error: { param: 'range' },
    });
    expect(await owner.ask('getSummary', { params: { accountId, mode: 'prod' } })).toMatchObject({
      status: 404,
      code: 'route.not_found',
    });
  });
});
