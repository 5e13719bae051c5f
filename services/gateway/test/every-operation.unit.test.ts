import { deposits, samples } from '@pf/domain/testing';
import {
  depositIdOf,
  newAccountId,
  newApiKeyId,
  newDeliveryId,
  newIntentId,
  newPaymentLinkId,
  newWebhookEndpointId,
  newWebhookReplayId,
  type Operation,
  OPERATIONS,
} from '@pf/contracts';
import type { KeyHolder } from '@pf/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, type ApiResponse, type ApiClient } from '@pf/testing';
import { type BareApp, type BareAppOptions, startBareApp } from './bare-app.ts';

const operations: readonly Operation[] = Object.values(OPERATIONS);
const withBody = operations.filter(({ request }) => request.body !== undefined);
const withQuery = operations.filter(({ request }) => request.query !== undefined);
const KEY = `pk_test_${'x'.repeat(32)}`;
const holder: KeyHolder = {
  keyId: newApiKeyId(),
  accountId: newAccountId(),
  livemode: false,
  scope: 'full',
  plan: 'scale',
  expiresAt: null,
};

const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const AUTHORIZATION = {
  from: wallet,
  to: wallet,
  value: '1',
  validAfter: '0',
  validBefore: '1',
  nonce: `0x${'0'.repeat(64)}`,
};
/** A valid body for each operation. */
const bodies: Readonly<Record<string, object>> = {
  createIntent: { chain: 'eip155:84532', token: 'USDC', amount: '1', requestor: wallet },
  updateIntent: { updatedAt: '2026-11-21T12:00:00.000Z', metadata: {} },
  buildIntent: { fulfiller: wallet },
  submitIntent: { signedTransaction: `0x${'0'.repeat(64)}`, fulfiller: wallet },
  buildAuthorization: { fulfiller: wallet },
  submitAuthorization: { authorization: AUTHORIZATION, signature: '0x12' },
  askPaymaster: { jsonrpc: '2.0', id: 1, method: 'pm_getPaymasterData', params: [] },
  simulateIntent: { targetState: 'confirmed' },
  setSponsor: { url: 'https://kora.example/rpc', headers: { 'x-api-key': 'secret' } },
  createEndpoint: { url: 'https://shop.example/webhooks' },
  createReplay: { since: '2026-11-21T12:00:00.000Z' },
  createPaymentLink: { amount: '1', offers: [{ chain: 'eip155:84532', token: 'USDC', requestor: wallet }] },
  chooseOffer: { offer: 0 },
  assignDeposit: { intentId: 'pi_5mUj8xNgYq3vWJ2hTfKd7' },
};

const NO_TEXT = [undefined, null, 7, -1, true, [], {}, ''];
const MAYBE_TEXT = [7, -1, true, [], {}, ''];
const NO_SECONDS = [null, '600', 59, 604_801, -1, 60.5, 1e30, true, [], {}];
const NO_METADATA = [
  'x',
  7,
  [],
  { k: 7 },
  { '': 'x' },
  { k: 'x'.repeat(501) },
  { ['k'.repeat(41)]: 'x' },
  { k: { deep: { deeper: 'x' } } },
  { k: '\ud800' },
  { k: '\0' },
  '{"__proto__":"x"}',
];
const NO_AMOUNT = [...NO_TEXT, '-1', '+1', '1e3', '0x1', '1,5', '.5', '01', ' 1', 'ten', '１', '9'.repeat(101)];
const WALLET = ['x'.repeat(201), '\ud800', '\0'];
const NO_TYPES = ['all', 7, true, {}, [], ['intent.paid'], ['intent.created', 'intent.created'], [7]];
const NO_KEY = [null, ...MAYBE_TEXT, 'x'.repeat(256), '🪙'.repeat(256), '\ud800', '\0'];
const OFFER = { chain: 'eip155:84532', token: 'USDC', requestor: wallet };
const NO_URL = [
  ...NO_TEXT,
  'shop.example/hook',
  'ftp://shop.example',
  'https://',
  'https://user:pw@shop.example',
  'https://shop.example/#a',
  `https://shop.example/${'a'.repeat(2_048)}`,
  '\0',
];
const NO_VERSION = [null, 7, '2020-01-01', [], {}];
/**
 * Invalid values of each field: missing (undefined), of another type, too long, in another alphabet, negative, huge,
 * deeply nested.
 */
const invalid: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  createIntent: {
    chain: [...NO_TEXT, 'base', 'eip155', 'eip155:', ':1', 'ＥＩＰ:1', `eip155:${'1'.repeat(33)}`],
    token: [...NO_TEXT, 'x'.repeat(201), '\0'],
    amount: NO_AMOUNT,
    requestor: [...NO_TEXT, ...WALLET],
    direction: [null, 'push', 'REQUEST', 7, [], {}],
    attribution: [null, 'memo', 'AMOUNT', 7, [], {}],
    accept: [null, 'sum', 'EXACT', 7, [], {}],
    fulfiller: [...MAYBE_TEXT, ...WALLET],
    idempotencyKey: NO_KEY,
    ttlSeconds: NO_SECONDS,
    metadata: NO_METADATA,
  },
  updateIntent: {
    updatedAt: [...NO_TEXT, 'yesterday', '2026-11-21', '2026-13-01T00:00:00.000Z', '2026-11-21T12:00:00'],
    amount: [null, ...NO_AMOUNT.filter((value) => value !== undefined && value !== null)],
    ttlSeconds: NO_SECONDS,
    metadata: NO_METADATA,
  },
  buildIntent: {
    fulfiller: [...MAYBE_TEXT, ...WALLET],
    sponsored: [null, 'true', 1, [], {}],
    feePayer: [...MAYBE_TEXT, ...WALLET],
  },
  submitIntent: { signedTransaction: [...NO_TEXT, '\0', '\ud800'], fulfiller: [...MAYBE_TEXT, ...WALLET] },
  buildAuthorization: { fulfiller: [...MAYBE_TEXT, ...WALLET] },
  submitAuthorization: {
    authorization: [
      ...NO_TEXT,
      { ...AUTHORIZATION, from: '0x12' },
      { ...AUTHORIZATION, to: 'x'.repeat(201) },
      { ...AUTHORIZATION, value: 1 },
      { ...AUTHORIZATION, value: '-1' },
      { ...AUTHORIZATION, validAfter: '0x1' },
      { ...AUTHORIZATION, validBefore: `${2n ** 256n}` },
      { ...AUTHORIZATION, nonce: '0x12' },
      { ...AUTHORIZATION, surprise: 1 },
    ],
    signature: [...NO_TEXT, '0x', '0x1', '12', `0x${'12'.repeat(8_192)}`],
  },
  askPaymaster: {
    jsonrpc: [...NO_TEXT, '1.0', 2],
    id: [null, true, [], {}, 1.5],
    method: [...NO_TEXT, 'eth_sendRawTransaction'],
    params: [undefined, null, 'x', 7, {}, [1, 2, 3, 4, 5]],
  },
  simulateIntent: { targetState: [...NO_TEXT, 'paid', 'CONFIRMED', 'confirmed '] },
  setSponsor: {
    url: NO_URL,
    context: [null, 'policyId', 7, [], { policyId: 'x'.repeat(2_048) }],
    headers: [
      null,
      'x-api-key: secret',
      7,
      [],
      { '': 'x' },
      { 'x y': 'x' },
      { 'x-é': 'x' },
      { [`x${'x'.repeat(64)}`]: 'x' },
      { 'x-api-key': 7 },
      { 'x-api-key': '' },
      { 'x-api-key': ' x' },
      { 'x-api-key': 'a\r\nhost: internal' },
      { 'x-api-key': 'é' },
      { 'x-api-key': 'x'.repeat(1_025) },
      { 'x-api-key': 'x', 'X-API-KEY': 'y' },
      { Host: 'internal.example' },
      { 'transfer-encoding': 'chunked' },
      Object.fromEntries(Array.from({ length: 9 }, (_, place) => [`x-${place}`, 'x'])),
    ],
  },
  createEndpoint: {
    url: NO_URL,
    name: [7, true, [], {}, 'x'.repeat(101), '\0'],
    eventTypes: NO_TYPES,
    apiVersion: NO_VERSION,
    idempotencyKey: NO_KEY,
  },
  updateEndpoint: {
    name: [7, true, [], {}, 'x'.repeat(101), '\0'],
    eventTypes: NO_TYPES,
    apiVersion: NO_VERSION,
    paused: [null, 'true', 1, [], {}],
  },
  rotateEndpointSecret: {
    validFrom: [null, 7, 'tomorrow', '2020-01-01', '2020-13-01T00:00:00Z'],
    idempotencyKey: NO_KEY,
  },
  createReplay: {
    since: [...NO_TEXT, 'yesterday', '2026-11-21', '2026-13-01T00:00:00Z'],
    until: [null, ...MAYBE_TEXT, 'yesterday', '2026-11-21'],
    endpointId: [null, ...MAYBE_TEXT, 'x'.repeat(65), '\0'],
    toEndpointId: [null, ...MAYBE_TEXT, 'x'.repeat(65), '\0'],
    eventTypes: [null, ...NO_TYPES, ['webhook_endpoint.test']],
    status: [null, 'pending', 7, [], {}],
    idempotencyKey: NO_KEY,
  },
  createPaymentLink: {
    amount: NO_AMOUNT,
    offers: [
      ...NO_TEXT,
      [7],
      [{ chain: 'eip155:84532', token: 'USDC' }],
      [{ ...OFFER, amount: '1' }],
      [{ ...OFFER, requestor: 'x'.repeat(201) }],
      [{ ...OFFER, requestor: 'nobody' }],
      [OFFER, { ...OFFER, token: 'usdc' }],
      Array.from({ length: 21 }, () => OFFER),
    ],
    attribution: [null, 'memo', 'AMOUNT', 7, [], {}],
    accept: [null, 'sum', 'EXACT', 7, [], {}],
    idempotencyKey: NO_KEY,
    ttlSeconds: NO_SECONDS,
    metadata: NO_METADATA,
  },
  chooseOffer: { offer: [undefined, null, '0', -1, 0.5, 20, [], {}] },
  assignDeposit: { intentId: [...NO_TEXT, 'x'.repeat(201), '\0'] },
  enableEndpoint: { replay: [null, 'true', 1, [], {}] },
};

/** As a failure names it: `POST /intents`. */
const endpoints = operations.map((operation) => ({ ...operation, verb: operation.method.toUpperCase() }));

describe.each(endpoints)('$verb $path', ({ id, method, path, request, scope }) => {
  let apps: BareApp[] = [];
  async function start(options: BareAppOptions): Promise<ApiClient> {
    const app = await startBareApp(options);
    apps.push(app);
    return apiClient(`${app.url}/v1`, KEY);
  }
  let client: ApiClient;
  beforeAll(async () => {
    client = await start({ holder });
  });
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()));
    apps = [];
  });

  const idOf: Readonly<Record<string, () => string>> = {
    webhooks: newDeliveryId,
    'webhook-endpoints': newWebhookEndpointId,
    'webhook-replays': newWebhookReplayId,
    'payment-links': newPaymentLinkId,
    deposits: () => depositIdOf(newAccountId(), samples.BASE_SEPOLIA, deposits.arrival(), 6),
  };
  const target = path
    .replace('{id}', idOf[path.split('/')[1] ?? '']?.() ?? newIntentId(0))
    .replace('{chain}', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1');
  const good = request.body === undefined ? undefined : (bodies[id] ?? {});
  const call = (
    client: ApiClient,
    body: unknown = good,
    headers: Record<string, string> = {},
    query = '',
  ): Promise<ApiResponse<object>> => client.request(method.toUpperCase(), `${target}${query}`, body, headers);
  const statusAndCode = ({ status, body }: ApiResponse<object>): unknown[] => [status, body.error?.code];

  it('returns 401 without a key', async () => {
    const keyless = apiClient(`${apps[0]?.url}/v1`, null);
    expect(statusAndCode(await call(keyless))).toEqual([401, 'api_key.missing']);
  });

  if (scope === 'full') {
    it('returns 401 for a key with the scope payer', async () => {
      expect(statusAndCode(await call(await start({ holder: { ...holder, scope: 'payer' } })))).toEqual([
        401,
        'api_key.insufficient_scope',
      ]);
    });
  }

  it('returns 429 with Retry-After when the rate limit is exceeded', async () => {
    const slow = await start({ holder, rateFactor: 0 });
    await call(slow);
    const refused = await call(slow);
    expect(statusAndCode(refused)).toEqual([429, 'rate_limit.exceeded']);
    expect(Number(refused.headers.get('retry-after'))).toBe(refused.body.error?.details?.['retry_after']);
  });

  it('returns 500 without internal details after an unexpected error', async () => {
    const response = await call(client);
    expect(statusAndCode(response)).toEqual([500, 'internal.error']);
    expect(JSON.stringify(response.body)).not.toContain('must not be called');
  });

  it('returns 503 with Retry-After while a dependency is unavailable', async () => {
    const unavailable = await start({
      holder,
      failure: () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    });
    const response = await call(unavailable);
    expect(statusAndCode(response)).toEqual([503, 'service.unavailable']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  if (withBody.some((operation) => operation.id === id)) {
    it.each([
      ['a truncated body', '{"chain":', {}, 400, 'request.malformed_json'],
      ['a list', '[]', {}, 400, 'request.validation_failed'],
      ['a number', '7', {}, 400, 'request.validation_failed'],
      ['an unknown field', { ...good, surprise: 1 }, {}, 400, 'request.validation_failed'],
      ['a __proto__ key', '{"__proto__":{"a":1}}', {}, 400, 'request.validation_failed'],
      ['another content type', good, { 'content-type': 'text/plain' }, 415, 'request.unsupported_media_type'],
      [
        'another charset',
        good,
        { 'content-type': 'application/json; charset=latin1' },
        415,
        'request.unsupported_media_type',
      ],
      ['more than 64 KiB', { surprise: 'x'.repeat(70_000) }, {}, 413, 'request.too_large'],
      [
        'brackets nested a thousand deep',
        `{"surprise":${'['.repeat(1000)}${']'.repeat(1000)}}`,
        {},
        400,
        'request.validation_failed',
      ],
    ])('refuses %s', async (_what, body, headers, status, code) => {
      expect(statusAndCode(await call(client, body, headers))).toEqual([status, code]);
    });
  }

  const fields = Object.entries(invalid[id] ?? {}).flatMap(([field, values]) =>
    values.map((value) => [field, value] as const),
  );
  if (fields.length > 0) {
    it.each(fields)('names the invalid field in param: %s %p', async (field, value) => {
      // JSON.stringify cannot write this key from a JavaScript object, so the text is inserted.
      const body =
        value === '{"__proto__":"x"}'
          ? JSON.stringify({ ...good, [field]: 0 }).replace(`"${field}":0`, `"${field}":${value}`)
          : { ...good, [field]: value };
      const response = await call(client, body);
      expect(statusAndCode(response)).toEqual([400, 'request.validation_failed']);
      expect(response.body.error?.param).toMatch(new RegExp(`^${field}\\b`));
    });
  }

  if (withQuery.some((operation) => operation.id === id)) {
    it.each([
      // Before the history had pages, its endpoint ignored every parameter.
      ...(id === 'intentEvents' ? [] : ['?surprise=1', '?__proto__=1']),
      '?limit=0',
      '?limit=101',
      '?limit=1e1',
      '?limit=1&limit=2',
      '?cursor=made-up',
    ])('refuses the query %s', async (query) => {
      expect(statusAndCode(await call(client, undefined, {}, query))).toEqual([400, 'request.validation_failed']);
    });

    it('returns 414 for a query that is too long', async () => {
      const query = `?cursor=${'x'.repeat(16_384)}`;
      expect(statusAndCode(await call(client, undefined, {}, query))).toEqual([414, 'request.uri_too_long']);
    });
  }
});
