import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BareApp, startBareApp } from './bare-app.ts';

describe('the HTTP API before any endpoint is called', () => {
  let app: BareApp;
  let url: string;
  beforeAll(async () => {
    app = await startBareApp();
    ({ url } = app);
  });
  afterAll(() => app.close());

  const cases: readonly [
    name: string,
    method: string,
    path: string,
    headers: Record<string, string>,
    status: number,
    code: string,
  ][] = [
    ['an unknown path', 'GET', '/v1/nowhere', {}, 404, 'route.not_found'],
    ['a path outside the version', 'POST', '/intents', {}, 404, 'route.not_found'],
    ['a path that cannot be decoded', 'GET', '/v1/intents/%zz', {}, 404, 'route.not_found'],
    ['a method that the path lacks', 'DELETE', '/v1/intents/pi_x', {}, 405, 'request.method_not_allowed'],
    ['a request without a key', 'POST', '/v1/intents', {}, 401, 'api_key.missing'],
    ['another authentication scheme', 'POST', '/v1/intents', { authorization: 'Basic abc' }, 401, 'api_key.missing'],
    [
      'text that is not a key',
      'GET',
      '/v1/intents/pi_x',
      { authorization: 'Bearer sk_test_x' },
      401,
      'api_key.invalid',
    ],
    [
      'a truncated key',
      'GET',
      '/v1/intents/pi_x',
      { authorization: `Bearer pk_test_${'a'.repeat(31)}` },
      401,
      'api_key.invalid',
    ],
  ];
  it.each(cases)('responds with an error body to %s', async (_name, method, path, headers, status, code) => {
    const response = await fetch(`${url}${path}`, { method, headers });
    const body = (await response.json()) as { error: Record<string, unknown> };
    expect([response.status, body.error['code']]).toEqual([status, code]);
    expect(Object.keys(body)).toEqual(['error']);
    expect(Object.keys(body.error).sort()).toEqual(['code', 'details', 'message', 'param']);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  });

  it.each([
    ['/v1/intents', 'POST, GET, HEAD'],
    ['/v1/intents/pi_x', 'GET, HEAD, PATCH'],
    ['/v1/intents/pi_x/events', 'GET, HEAD'],
    ['/v1/webhooks', 'GET, HEAD'],
    ['/v1/webhooks/whd_x/retry', 'POST'],
    ['/v1/intents/pi_x/build', 'POST'],
  ])('lists the methods of %s in the Allow header', async (path, allow) => {
    const response = await fetch(`${url}${path}`, { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  });

  it.each([
    ['/v1/intents/pi_x', 'GET, HEAD'],
    ['/v1/intents/pi_x/events', 'GET, HEAD'],
    ['/v1/intents/pi_x/detected', 'POST'],
    ['/v1/intents/pi_x/build', 'POST'],
    ['/v1/intents/pi_x/submit', 'POST'],
  ])('allows cross-origin requests to %s without a key in the preflight', async (path, methods) => {
    const { status, headers } = await fetch(`${url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://wallet.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization, last-event-id',
      },
    });
    expect([status, headers.get('access-control-allow-origin'), headers.get('access-control-allow-methods')]).toEqual([
      204,
      '*',
      methods,
    ]);
    expect(headers.get('access-control-allow-headers')).toMatch(
      /Authorization, Content-Type, Idempotency-Key, Last-Event-ID/,
    );
    const [method = ''] = methods.split(',').slice(0, 1);
    const refused = await fetch(`${url}${path}`, { method, headers: { origin: 'https://wallet.example' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    expect(refused.headers.get('access-control-expose-headers')).toMatch(
      /X-Request-Id, RateLimit, .*Retry-After, Idempotent-Replayed/,
    );
  });

  it.each([
    ['/v1/intents', 'POST'],
    ['/v1/intents/pi_x', 'PATCH'],
    ['/v1/intents/pi_x/cancel', 'POST'],
    ['/v1/intents/pi_x/refund', 'POST'],
    ['/v1/webhooks', 'GET'],
    ['/v1/webhooks/whd_x/retry', 'POST'],
  ])('does not allow cross-origin requests to %s with %s', async (path, method) => {
    const { headers } = await fetch(`${url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': method },
    });
    expect(headers.get('access-control-allow-methods') ?? '').not.toContain(method);
    expect((await fetch(`${url}${path}`, { method })).headers.get('access-control-allow-origin')).toBeNull();
  });

  it('keeps a safe request id and replaces any other', async () => {
    const idOf = async (headers: Record<string, string>): Promise<string | null> =>
      (await fetch(`${url}/v1/nowhere`, { headers })).headers.get('x-request-id');
    expect(await idOf({ 'x-request-id': 'checkout-7f3a' })).toBe('checkout-7f3a');
    for (const unsafe of ['a'.repeat(65), 'two words', 'quo"te'])
      expect(await idOf({ 'x-request-id': unsafe })).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(await idOf({})).not.toBe(await idOf({}));
  });
});

describe('a credential of MPP that answers no challenge', () => {
  it('counts for its address before it is parsed', async () => {
    // Six requests a minute.
    const app = await startBareApp({ strangersFactor: 0.01 });
    try {
      const codes: unknown[] = [];
      for (let n = 0; n < 8; n += 1) {
        const authorization = `Payment ${Buffer.from('{"challenge":[').toString('base64url')}`;
        const response = await fetch(`${app.url}/v1/webhooks`, { headers: { authorization } });
        const { error } = (await response.json()) as { error: { code: string } };
        codes.push(error.code);
      }
      expect(codes).toEqual([
        ...Array<string>(6).fill('api_key.invalid'),
        ...Array<string>(2).fill('rate_limit.exceeded'),
      ]);
    } finally {
      await app.close();
    }
  });
});
