import { describe, expect, it } from '@jest/globals';
import { type ApiResponse, apiClient, chainOf, type IntentBody, pf, readStack } from '@pf/testing';

const stack = readStack();
const chain = chainOf(stack, 'base');
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
const good = { chain: chain.caip2, token: 'USDC', amount: '1', requestor: chain.wallets[0]?.address ?? '' };
const json = { 'content-type': 'application/json' };
const post = (body: unknown, headers: Record<string, string> = json): Promise<ApiResponse<IntentBody>> =>
  api.request('POST', '/intents', body, headers);

/** The mistakes of a new client. */
const cases: readonly [
  name: string,
  request: () => Promise<ApiResponse<IntentBody>>,
  status: number,
  code: string,
  param: string | null,
][] = [
  ['bad JSON', () => post('{"chain":'), 400, 'request.malformed_json', null],
  ['an array as the body', () => post('[]'), 400, 'request.validation_failed', null],
  [
    'a request without a body',
    () => api.request('POST', '/intents', undefined, json),
    400,
    'request.validation_failed',
    null,
  ],
  ['an unknown field', () => post({ ...good, ammount: '1' }), 400, 'request.validation_failed', 'ammount'],
  ['a missing field', () => post({ ...good, amount: undefined }), 400, 'request.validation_failed', 'amount'],
  ['a number as the amount', () => post({ ...good, amount: 1.5 }), 400, 'request.validation_failed', 'amount'],
  ['a negative amount', () => post({ ...good, amount: '-1' }), 400, 'request.validation_failed', 'amount'],
  ['an amount of zero', () => post({ ...good, amount: '0.000000' }), 400, 'request.validation_failed', 'amount'],
  [
    'more decimals than the token has',
    () => post({ ...good, amount: '0.0000001' }),
    400,
    'request.validation_failed',
    'amount',
  ],
  ['an exponent', () => post({ ...good, amount: '1e3' }), 400, 'request.validation_failed', 'amount'],
  [
    'an amount beyond 64 bits',
    () => post({ ...good, amount: '18446744073709.551616' }),
    400,
    'request.validation_failed',
    'amount',
  ],
  [
    'an address with a wrong checksum',
    () => post({ ...good, requestor: '0x70997970c51812dc3A010C7d01b50e0d17dc79C8' }),
    400,
    'request.validation_failed',
    'requestor',
  ],
  [
    'the zero address as requestor',
    () => post({ ...good, requestor: `0x${'0'.repeat(40)}` }),
    400,
    'request.validation_failed',
    'requestor',
  ],
  [
    "the token's address as requestor",
    () => post({ ...good, requestor: chain.tokens['USDC'] }),
    400,
    'request.validation_failed',
    'requestor',
  ],
  [
    'a fulfiller that is also the requestor',
    () => post({ ...good, fulfiller: good.requestor }),
    400,
    'request.validation_failed',
    'fulfiller',
  ],
  [
    'direction send without a fulfiller',
    () => post({ ...good, direction: 'send' }),
    400,
    'request.validation_failed',
    'fulfiller',
  ],
  ['a lifetime of one second', () => post({ ...good, ttlSeconds: 1 }), 400, 'request.validation_failed', 'ttlSeconds'],
  [
    'metadata with 21 keys',
    () => post({ ...good, metadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`key${n}`, 'x'])) }),
    400,
    'request.validation_failed',
    'metadata',
  ],
  [
    'metadata that is not text',
    () => post({ ...good, metadata: { order: 1 } }),
    400,
    'request.validation_failed',
    'metadata.order',
  ],
  ['an unknown chain', () => post({ ...good, chain: 'eip155:1' }), 422, 'chain.not_available', 'chain'],
  [
    'a testnet with a live key',
    () => apiClient(stack.baseUrl, stack.apiKeys.live).create(good),
    422,
    'chain.not_available',
    'chain',
  ],
  ['an unknown token', () => post({ ...good, token: 'DOGE' }), 422, 'token.not_available', 'token'],
  [
    'another content type',
    () => post('chain=x', { 'content-type': 'application/x-www-form-urlencoded' }),
    415,
    'request.unsupported_media_type',
    null,
  ],
  [
    'a body beyond 64 KiB',
    () => post({ ...good, metadata: { blob: 'x'.repeat(70_000) } }),
    413,
    'request.too_large',
    null,
  ],
  ['a request without an API key', () => apiClient(stack.baseUrl, null).create(good), 401, 'api_key.missing', null],
  [
    'an unknown API key',
    () => apiClient(stack.baseUrl, `pk_test_${'x'.repeat(32)}`).create(good),
    401,
    'api_key.invalid',
    null,
  ],
  [
    'an API key with an invalid format',
    () => apiClient(stack.baseUrl, 'hello').create(good),
    401,
    'api_key.invalid',
    null,
  ],
  ['an unknown intent id', () => api.get('pi_1111111111111111111111'), 404, 'intent.not_found', null],
  ['an intent id with an invalid format', () => api.get('42'), 404, 'intent.not_found', null],
  ['an unknown path', () => api.request('GET', '/nowhere'), 404, 'route.not_found', null],
  [
    'a method that the path does not support',
    () => api.request('DELETE', '/intents'),
    405,
    'request.method_not_allowed',
    null,
  ],
];

describe('the API', () => {
  it.each(cases)('rejects %s', async (_name, request, status, code, param) => {
    const response = await request();
    expect([response.status, response.body.error?.code]).toEqual([status, code]);
    const { error } = response.body;
    expect(Object.keys(error ?? {}).sort()).toEqual(['code', 'details', 'message', 'param']);
    expect(error?.message.length).toBeGreaterThan(10);
    if (param !== null) expect(error?.param).toBe(param);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-request-id')).toMatch(/^[\w.-]{8,64}$/);
  });

  it('returns the x-request-id of the request', async () => {
    const response = await api.request('GET', '/intents/42', undefined, { 'x-request-id': 'checkout-7f3a' });
    expect(response.headers.get('x-request-id')).toBe('checkout-7f3a');
  });

  it('hides an intent from other accounts and from the other mode', async () => {
    const { body } = await api.create(good);
    const stranger = (await pf('accounts', 'create', 'stranger')) as { apiKeys: { test: string; live: string } };
    for (const key of [stranger.apiKeys.test, stack.apiKeys.live]) {
      const foreign = apiClient(stack.baseUrl, key);
      for (const response of [
        await foreign.get(body.intent.id),
        await foreign.cancel(body.intent.id),
        await foreign.build(body.intent.id, chain.wallets[1]?.address),
      ]) {
        expect([response.status, response.body.error?.code]).toEqual([404, 'intent.not_found']);
      }
    }
  });

  it('returns the current state with a 409 when the state does not allow the request', async () => {
    const { body } = await api.create(good);
    await api.cancel(body.intent.id);
    for (const response of [
      await api.cancel(body.intent.id),
      await api.detected(body.intent.id),
      await api.build(body.intent.id, chain.wallets[1]?.address),
    ]) {
      expect([response.status, response.body.error?.code]).toEqual([409, 'intent.invalid_state']);
      expect(response.body.error?.details).toMatchObject({ intent_id: body.intent.id, current_state: 'cancelled' });
    }
  });

  it('allows a payer’s key the payer’s endpoints and no others', async () => {
    const { key } = (await pf('keys', 'create', '--scope', 'payer')) as { key: string };
    const payer = apiClient(stack.baseUrl, key);
    const { body } = await api.create(good);
    expect((await payer.get(body.intent.id)).status).toBe(200);
    for (const refused of [await payer.create(good), await payer.cancel(body.intent.id)]) {
      expect([refused.status, refused.body.error?.code]).toEqual([401, 'api_key.insufficient_scope']);
    }
  });
});
