import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { publicIntent } from '@pf/contracts';
import { createAccount, createKey, setPlan } from '@pf/database';
import type { PublicIntent } from '@pf/domain';
import {
  type ApiResponse,
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readWholeLog,
  startCluster,
} from '@pf/testing';
import { RAW_BODIES } from '../raw-bodies.ts';

// Each request waits for a real pipeline, on a machine that may be busy.
const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const UNKNOWN_ID = 'pi_1111111111111111';

describe('changes of a payment intent', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let api: ApiClient;
  let live: ApiClient;
  let stranger: ApiClient;
  let payer: ApiClient;
  const client = (key: string | null): ApiClient => apiClient(`${gateway.url}/v1`, key);

  beforeAll(async () => {
    cluster = await startCluster();
    [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    const { id: accountId } = await createAccount(cluster.database, { name: 'stranger' });
    api = client(cluster.apiKeys.test);
    live = client(cluster.apiKeys.live);
    stranger = client((await createKey(cluster.database, { accountId, livemode: false })).key);
    payer = client(
      (await createKey(cluster.database, { accountId: cluster.accountId, livemode: false, scope: 'payer' })).key,
    );
  });
  afterAll(() => cluster.close());

  const created = async (more: Record<string, unknown> = {}): Promise<PublicIntent> =>
    intentOf(await api.create({ ...good, ...more }), 201);
  const confirmed = async (): Promise<PublicIntent> => intentOf(await api.simulate((await created()).id, 'confirmed'));
  const eventsOf = async (id: string): Promise<string[]> =>
    (await readWholeLog(cluster)).events.filter(({ intentId }) => intentId === id).map(({ type }) => type);

  /** The intent of a response with the documented shape. */
  function intentOf({ status, body }: ApiResponse<{ readonly intent: PublicIntent }>, expected = 200): PublicIntent {
    expect([status, body.error]).toEqual([expected, undefined]);
    return publicIntent.parse(body.intent);
  }
  const errorOf = ({ status, body }: ApiResponse<unknown>) => ({ status, ...body.error });

  describe.each([
    ['PATCH', '/intents/{id}'],
    ['POST', '/intents/{id}/refund'],
    ['POST', '/test/intents/{id}/simulate'],
  ] as const)('%s %s', (method, pattern) => {
    const path = (id: string): string => pattern.replace('{id}', id);
    const isSimulate = pattern.endsWith('simulate');

    it.each(RAW_BODIES)('refuses $name', async ({ body, type = 'application/json', refused }) => {
      const response = await fetch(`${gateway.url}/v1${path(UNKNOWN_ID)}`, {
        method,
        headers: { authorization: `Bearer ${cluster.apiKeys.test}`, 'content-type': type },
        body,
      });
      const { error } = (await response.json()) as {
        error: { code: string; details: { issues?: { param: string }[] } | null };
      };
      const [status, code, param] = refused;
      expect([response.status, error.code]).toEqual([status, code]);
      if (param !== null) expect(error.details?.issues?.map((issue) => issue.param)).toContain(param);
    });

    it('returns 401 without a valid key of the scope full', async () => {
      const { id } = await created();
      expect(errorOf(await client(null).request(method, path(id)))).toMatchObject({
        status: 401,
        code: 'api_key.missing',
      });
      expect(errorOf(await client(`pk_test_${'x'.repeat(32)}`).request(method, path(id)))).toMatchObject({
        status: 401,
        code: 'api_key.invalid',
      });
      expect(errorOf(await payer.request(method, path(id)))).toMatchObject({
        status: 401,
        code: 'api_key.insufficient_scope',
      });
    });

    it('returns 404 for an unknown id, another account and the other mode', async () => {
      const { id, updatedAt } = await created();
      const body = method === 'PATCH' ? { updatedAt } : isSimulate ? { targetState: 'confirmed' } : {};
      expect(errorOf(await stranger.request(method, path(id), body))).toMatchObject({
        status: 404,
        code: 'intent.not_found',
      });
      if (!isSimulate)
        expect(errorOf(await live.request(method, path(id), body))).toMatchObject({
          status: 404,
          code: 'intent.not_found',
        });
      for (const unknown of [UNKNOWN_ID, 'x', '%00', `pi_${'z'.repeat(22)}`])
        expect(errorOf(await api.request(method, path(unknown), body))).toMatchObject({
          status: 404,
          code: 'intent.not_found',
        });
      expect((await api.get(id)).body.intent.updatedAt).toBe(updatedAt);
    });
  });

  describe('PATCH /intents/{id}', () => {
    it('merges metadata key by key, removes null values, and changes updatedAt each time', async () => {
      const first = await created({ metadata: { order: '7', note: 'x' } });
      const second = intentOf(
        await api.update(first.id, { updatedAt: first.updatedAt, metadata: { note: null, table: '4' } }),
      );
      expect(second.metadata).toEqual({ order: '7', table: '4' });
      expect(Date.parse(second.updatedAt)).toBeGreaterThan(Date.parse(first.updatedAt));
      expect((await api.get(first.id)).body.intent).toEqual(second);
      const third = intentOf(await api.update(first.id, { updatedAt: second.updatedAt, metadata: null }));
      expect(third.metadata).toBeNull();
    });

    it('changes amount and time-to-live, which counts from createdAt', async () => {
      const before = await created();
      const after = intentOf(
        await api.update(before.id, { updatedAt: before.updatedAt, amount: '13', ttlSeconds: 120 }),
      );
      expect(after).toMatchObject({ amount: '13', amountBaseUnits: '13000000', ttlSeconds: 120 });
      expect(Date.parse(after.expiresAt)).toBe(Date.parse(before.createdAt) + 120_000);
      expect(await eventsOf(before.id)).toEqual(['intent.created', 'intent.updated']);
    });

    it('leaves the intent and its updatedAt unchanged if nothing differs', async () => {
      const before = await created({ metadata: { order: '7' } });
      for (const same of [
        {},
        { amount: '12.50' },
        { metadata: { order: '7' } },
        { metadata: { absent: null } },
        { ttlSeconds: 86_400 },
      ]) {
        expect(intentOf(await api.update(before.id, { updatedAt: before.updatedAt, ...same }))).toEqual(before);
      }
      expect(await eventsOf(before.id)).toEqual(['intent.created']);
    });

    it('accepts updatedAt with any offset', async () => {
      const { id, updatedAt } = await created();
      const elsewhere = new Date(Date.parse(updatedAt) + 3_600_000).toISOString().replace('Z', '+01:00');
      expect(intentOf(await api.update(id, { updatedAt: elsewhere, metadata: { a: 'b' } })).metadata).toEqual({
        a: 'b',
      });
    });

    it('returns 409 with the current updatedAt to the second of two concurrent updates', async () => {
      const { id, updatedAt } = await created();
      const responses = await Promise.all(['1', '2'].map((n) => api.update(id, { updatedAt, metadata: { n } })));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
      const now = (await api.get(id)).body.intent;
      const stale = responses.find(({ status }) => status === 409);
      expect(stale?.body.error).toMatchObject({
        code: 'intent.stale_update',
        details: { intent_id: id, current_state: 'created', current_updated_at: now.updatedAt },
      });
    });

    it('changes metadata, but not amount or ttlSeconds, of a pending intent', async () => {
      const { id, updatedAt } = intentOf(await api.simulate((await created()).id, 'pending'));
      expect(errorOf(await api.update(id, { updatedAt, amount: '1' }))).toMatchObject({
        status: 409,
        code: 'intent.invalid_state',
        details: { intent_id: id, current_state: 'pending' },
      });
      expect(errorOf(await api.update(id, { updatedAt, ttlSeconds: 60 }))).toMatchObject({
        status: 409,
        code: 'intent.invalid_state',
      });
      expect(intentOf(await api.update(id, { updatedAt, metadata: { late: 'yes' } })).metadata).toEqual({
        late: 'yes',
      });
    });

    const soon = '2026-11-21T12:00:00.000Z';
    const keys = (count: number): Record<string, string> =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`key${n}`, 'x']));
    const refused: readonly [name: string, body: Record<string, unknown>, param: string][] = [
      ['a missing updatedAt', {}, 'updatedAt'],
      ['a numeric updatedAt', { updatedAt: 1 }, 'updatedAt'],
      ['an updatedAt that is not a time', { updatedAt: 'yesterday' }, 'updatedAt'],
      ['an updatedAt without an offset', { updatedAt: '2026-11-21T12:00:00.000' }, 'updatedAt'],
      ['a field that cannot be changed', { updatedAt: soon, requestor: good.requestor }, 'requestor'],
      ['an amount that is a number', { updatedAt: soon, amount: 12.5 }, 'amount'],
      ['an amount that is null', { updatedAt: soon, amount: null }, 'amount'],
      ['a negative amount', { updatedAt: soon, amount: '-1' }, 'amount'],
      ['a huge amount', { updatedAt: soon, amount: '9'.repeat(101) }, 'amount'],
      ['an amount in other digits', { updatedAt: soon, amount: '１２' }, 'amount'],
      ['a ttl of a week and a second', { updatedAt: soon, ttlSeconds: 604_801 }, 'ttlSeconds'],
      ['a negative ttl', { updatedAt: soon, ttlSeconds: -60 }, 'ttlSeconds'],
      ['a huge ttl', { updatedAt: soon, ttlSeconds: 1e308 }, 'ttlSeconds'],
      ['metadata that is a list', { updatedAt: soon, metadata: ['a'] }, 'metadata'],
      ['metadata that is a number', { updatedAt: soon, metadata: { a: 1 } }, 'metadata.a'],
      ['metadata that is nested', { updatedAt: soon, metadata: { a: { b: 'c' } } }, 'metadata.a'],
      ['a metadata value of 501 characters', { updatedAt: soon, metadata: { a: 'x'.repeat(501) } }, 'metadata.a'],
      [
        'a metadata key of 41 characters',
        { updatedAt: soon, metadata: { ['k'.repeat(41)]: 'x' } },
        `metadata.${'k'.repeat(41)}`,
      ],
      ['metadata with a lone surrogate', { updatedAt: soon, metadata: { a: '\ud83e' } }, 'metadata.a'],
      ['metadata with U+0000', { updatedAt: soon, metadata: { a: '\0' } }, 'metadata.a'],
      ['metadata with a control character', { updatedAt: soon, metadata: { a: '\u0001' } }, 'metadata.a'],
      [
        'metadata with a __proto__ key',
        { updatedAt: soon, metadata: JSON.parse('{"__proto__":"x"}') as unknown },
        'metadata.__proto__',
      ],
    ];
    it.each(refused)('returns 400 for %s', async (_name, body, param) => {
      expect(errorOf(await api.update(UNKNOWN_ID, body))).toMatchObject({
        status: 400,
        code: 'request.validation_failed',
        param,
      });
    });

    it('returns 400 for too many decimals, an amount of 0, or more than 20 metadata keys after the merge', async () => {
      const { id, updatedAt } = await created({ metadata: keys(19) });
      expect(errorOf(await api.update(id, { updatedAt, amount: '0.0000001' }))).toMatchObject({
        status: 400,
        param: 'amount',
        message: expect.stringMatching(/at most 6 decimals, as USDC/),
      });
      expect(errorOf(await api.update(id, { updatedAt, amount: '0' }))).toMatchObject({ status: 400, param: 'amount' });
      expect(errorOf(await api.update(id, { updatedAt, metadata: { a: 'x', b: 'x' } }))).toMatchObject({
        status: 400,
        param: 'metadata',
      });
      expect(
        intentOf(await api.update(id, { updatedAt, metadata: { ...keys(1), key0: null, a: 'x', b: 'x' } })).metadata,
      ).toMatchObject({ a: 'x', b: 'x' });
    });
  });

  describe('POST /intents/{id}/refund', () => {
    it('creates an intent with the wallets swapped, linked in both directions', async () => {
      const original = await confirmed();
      const refund = intentOf(await api.refund(original.id), 201);
      expect(refund).toMatchObject({
        state: 'created',
        direction: 'send',
        requestor: original.fulfiller,
        fulfiller: original.requestor,
        chain: original.chain,
        token: 'USDC',
        amount: '12.50',
        amountBaseUnits: '12500000',
        refundOf: original.id,
        refundedBy: null,
        metadata: null,
        livemode: false,
      });
      expect(refund.reference).not.toBe(original.reference);
      expect((await api.get(original.id)).body.intent).toMatchObject({ state: 'confirmed', refundedBy: refund.id });
      expect((await api.get(refund.id)).body.intent).toEqual(refund);
    });

    it('creates one refund, and returns 409 with its id to every other request', async () => {
      const { id } = intentOf(await api.simulate((await confirmed()).id, 'finalized'));
      const responses = await Promise.all(Array.from({ length: 4 }, () => api.refund(id)));
      expect(responses.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
      const made = responses.find(({ status }) => status === 201)?.body.intent.id;
      for (const { body } of responses.filter(({ status }) => status === 409)) {
        expect(body.error).toMatchObject({
          code: 'intent.already_refunded',
          details: { intent_id: id, current_state: 'finalized', refund_intent_id: made },
        });
      }
    });

    it('asks for an address where a contract has paid, and takes also its own', async () => {
      // Every local Base chain has this one, which deploys others.
      const contract = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
      const { id } = await created({ fulfiller: contract });
      intentOf(await api.simulate(id, 'confirmed'));
      expect(errorOf(await api.refund(id))).toMatchObject({
        status: 409,
        code: 'intent.invalid_state',
        message: expect.stringContaining(`${contract}, is a contract, and no wallet that we know: it might keep`),
        details: { intent_id: id, current_state: 'confirmed' },
      });
      const refund = await api.request<{ intent: PublicIntent }>('POST', `/intents/${id}/refund`, { to: contract });
      expect(intentOf(refund, 201)).toMatchObject({ requestor: contract });
    });

    it('creates another refund when the first has ended unpaid', async () => {
      const { id } = await confirmed();
      const first = intentOf(await api.refund(id), 201);
      intentOf(await api.cancel(first.id));
      expect((await api.get(id)).body.intent.refundedBy).toBeNull();
      const second = intentOf(await api.refund(id), 201);
      expect((await api.get(id)).body.intent.refundedBy).toBe(second.id);
    });

    it('creates an intent with the same lifecycle, which can be refunded itself', async () => {
      const refund = intentOf(await api.refund((await confirmed()).id), 201);
      const paid = intentOf(await api.simulate(refund.id, 'confirmed'));
      expect(intentOf(await api.refund(paid.id), 201)).toMatchObject({
        refundOf: refund.id,
        requestor: paid.fulfiller,
        fulfiller: paid.requestor,
      });
    });

    it('returns 409 unless the intent is paid', async () => {
      for (const state of ['created', 'pending', 'failed', 'expired', 'cancelled']) {
        const { id } = await created();
        if (state !== 'created') intentOf(await api.simulate(id, state));
        expect(errorOf(await api.refund(id))).toMatchObject({
          status: 409,
          code: 'intent.invalid_state',
          details: { intent_id: id, current_state: state },
        });
      }
    });
  });

  describe('POST /test/intents/{id}/simulate', () => {
    const walks: readonly [from: string | null, target: string, events: readonly string[]][] = [
      [null, 'pending', ['pending']],
      [null, 'confirmed', ['pending', 'confirmed']],
      [null, 'finalized', ['pending', 'confirmed', 'finalized']],
      [null, 'failed', ['pending', 'failed']],
      [null, 'expired', ['expired']],
      [null, 'cancelled', ['cancelled']],
      ['pending', 'created', ['retry_required']],
      ['pending', 'confirmed', ['confirmed']],
      ['pending', 'finalized', ['confirmed', 'finalized']],
      ['pending', 'failed', ['failed']],
      ['pending', 'expired', ['expired']],
      ['confirmed', 'finalized', ['finalized']],
    ];
    it.each(walks)('moves from %p to %s with every event between', async (from, target, events) => {
      const { id } = await created();
      if (from !== null) intentOf(await api.simulate(id, from));
      const before = await eventsOf(id);
      const intent = intentOf(await api.simulate(id, target));
      expect(intent).toMatchObject({
        state: target,
        retryRequired: target === 'created',
        pendingAtExpiry: from === 'pending' && target === 'expired',
      });
      expect((await eventsOf(id)).slice(before.length)).toEqual(events.map((name) => `intent.${name}`));
      expect((await api.get(id)).body.intent).toEqual(intent);
    });

    it('makes up a well-formed transaction and payer if none is known', async () => {
      const paid = await confirmed();
      expect(paid).toMatchObject({
        txSignature: expect.stringMatching(/^0x[0-9a-f]{64}$/),
        fulfiller: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        confirmedAt: expect.any(String),
      });
      const named = intentOf(
        await api.simulate(
          (await created({ fulfiller: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })).id,
          'confirmed',
        ),
      );
      expect(named.fulfiller).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266');
    });

    it('returns the intent unchanged if it is in the target state already', async () => {
      const intent = await confirmed();
      expect(intentOf(await api.simulate(intent.id, 'confirmed'))).toEqual(intent);
    });

    it.each([
      ['confirmed', 'created'],
      ['confirmed', 'failed'],
      ['finalized', 'confirmed'],
      ['failed', 'confirmed'],
      ['expired', 'pending'],
      ['cancelled', 'created'],
    ])('returns 409 from %s to %s', async (from, target) => {
      const { id } = intentOf(await api.simulate((await created()).id, from));
      expect(errorOf(await api.simulate(id, target))).toMatchObject({
        status: 409,
        code: 'intent.invalid_state',
        details: { intent_id: id, current_state: from },
      });
    });

    it('returns 401 to a live key, whatever else is invalid', async () => {
      const { id } = await created();
      for (const body of [{ targetState: 'confirmed' }, { targetState: 'paid' }, {}]) {
        expect(errorOf(await live.request('POST', `/test/intents/${id}/simulate`, body))).toMatchObject({
          status: 401,
          code: 'api_key.test_mode_required',
        });
      }
    });

    it.each([
      [undefined],
      [null],
      [''],
      ['paid'],
      ['CONFIRMED'],
      [7],
      [['confirmed']],
      [{ state: 'confirmed' }],
      ['x'.repeat(1_000)],
      ['подтверждено'],
    ])('returns 400 for the target %p', async (targetState) => {
      expect(errorOf(await api.request('POST', `/test/intents/${UNKNOWN_ID}/simulate`, { targetState }))).toMatchObject(
        { status: 400, code: 'request.validation_failed', param: 'targetState' },
      );
    });
  });

  describe('plans', () => {
    const liveGood = { ...good, chain: 'eip155:8453' };

    it('restrict ttlSeconds of live intents, and nothing in test mode', async () => {
      expect(errorOf(await live.create({ ...liveGood, ttlSeconds: 60 }))).toMatchObject({
        status: 402,
        code: 'plan.upgrade_required',
        details: { feature: 'live_ttl_seconds', plan: 'growth' },
      });
      expect(intentOf(await live.create({ ...liveGood, ttlSeconds: 86_400 }), 201).livemode).toBe(true);
      expect((await created({ ttlSeconds: 60 })).ttlSeconds).toBe(60);
      const { id, updatedAt } = intentOf(await live.create(liveGood), 201);
      expect(errorOf(await live.update(id, { updatedAt, ttlSeconds: 60 }))).toMatchObject({
        status: 402,
        code: 'plan.upgrade_required',
      });
    });

    it('are checked after the body and the idempotency key', async () => {
      const idempotencyKey = 'before-the-plan';
      const first = await live.create({ ...liveGood, idempotencyKey });
      const replayed = await live.create({ ...liveGood, idempotencyKey, ttlSeconds: 60 });
      expect([replayed.status, replayed.body.intent]).toEqual([200, first.body.intent]);
      expect(errorOf(await live.create({ ...liveGood, amount: 'x', ttlSeconds: 60 }))).toMatchObject({
        status: 400,
        param: 'amount',
      });
    });

    it.each(['growth', 'scale'] as const)('include ttlSeconds of live intents with %s', async (plan) => {
      const { id: accountId } = await createAccount(cluster.database, { name: plan });
      await setPlan(cluster.database, accountId, plan);
      const rich = client((await createKey(cluster.database, { accountId, livemode: true })).key);
      expect(intentOf(await rich.create({ ...liveGood, ttlSeconds: 60 }), 201).ttlSeconds).toBe(60);
    });
  });
});
