import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PaymentApiError,
  PaymentClient,
  PlanError,
  RateLimitError,
  ReusedKeyError,
  UnavailableError,
  UnprocessableError,
} from '../src/index.ts';
import { failure, json, type Respond, type Service, startService, stream } from './service.ts';

const intent = (state: string, more: object = {}): object => ({ id: 'pi_1', state, pendingAtExpiry: false, ...more });
const created = { chain: 'eip155:84532', token: 'USDC', amount: '1', requestor: '0x1' };

describe('PaymentClient', () => {
  let service: Service;
  const respondingWith = async (...responses: readonly Respond[]): Promise<PaymentClient> =>
    (service = await startService(...responses)).client;
  afterEach(() => service.close());

  it('retries a create after the time in Retry-After, with the same idempotency key', async () => {
    const client = await respondingWith(
      failure(503, 'service.unavailable', { retry_after: 1 }, { 'retry-after': '1' }),
      failure(429, 'rate_limit.exceeded', null, { 'retry-after': '0' }),
      json(201, { intent: intent('created') }),
    );
    const began = performance.now();
    expect(await client.intents.create(created)).toMatchObject({ id: 'pi_1' });
    expect(performance.now() - began).toBeGreaterThan(950);
    const keys = service.requests.map(({ body }) => (JSON.parse(body) as { idempotencyKey: string }).idempotencyKey);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(service.requests[0]).toMatchObject({
      method: 'POST',
      url: '/v1/intents',
      headers: { authorization: 'Bearer pk_test_x' },
    });
  });

  it('lists deposits page by page, and gets one', async () => {
    const client = await respondingWith(
      json(200, { deposits: [{ id: 'dp_2' }], hasMore: true, nextCursor: 'next' }),
      json(200, { deposits: [{ id: 'dp_1' }], hasMore: false, nextCursor: null }),
      json(200, { deposit: { id: 'dp_1' } }),
    );
    const ids: string[] = [];
    for await (const { id } of client.deposits.list({ state: ['open'] })) ids.push(id);
    expect(ids).toEqual(['dp_2', 'dp_1']);
    expect(await client.deposits.get('dp_1')).toEqual({ id: 'dp_1' });
    expect(service.requests.map(({ url }) => url)).toEqual([
      '/v1/deposits?state=open',
      '/v1/deposits?state=open&cursor=next',
      '/v1/deposits/dp_1',
    ]);
  });

  it('ignores a deposit and reopens it', async () => {
    const [ignored, open] = [
      { id: 'dp_1', state: 'ignored' },
      { id: 'dp_1', state: 'open' },
    ];
    const client = await respondingWith(json(200, { deposit: ignored }), json(200, { deposit: open }));
    expect([await client.deposits.ignore('dp_1'), await client.deposits.reopen('dp_1')]).toEqual([ignored, open]);
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/deposits/dp_1/ignore',
      'POST /v1/deposits/dp_1/reopen',
    ]);
  });

  it('assigns a deposit to an intent, and undoes it', async () => {
    const [assigned, open] = [
      { id: 'dp_1', state: 'assigned', intentId: 'pi_1' },
      { id: 'dp_1', state: 'open', intentId: null },
    ];
    const client = await respondingWith(json(200, { deposit: assigned }), json(200, { deposit: open }));
    const made = [await client.deposits.assign('dp_1', 'pi_1'), await client.deposits.unassign('dp_1')];
    expect(made).toEqual([assigned, open]);
    expect(service.requests.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'POST /v1/deposits/dp_1/assign {"intentId":"pi_1"}',
      'POST /v1/deposits/dp_1/unassign {}',
    ]);
  });

  it("keeps the caller's idempotency key", async () => {
    const client = await respondingWith(json(200, { intent: intent('created') }));
    await client.intents.create({ ...created, idempotencyKey: 'order-7' });
    expect(JSON.parse(service.requests[0]?.body ?? '')).toMatchObject({ idempotencyKey: 'order-7' });
  });

  it('throws what an earlier request with the key made, where it asked for something else', async () => {
    const existing = { intent: intent('created', { amount: '10' }), clientSecret: 's', paymentUrl: null };
    const differs = { amount: { existing: '10', requested: '1' } };
    const link = { paymentLink: { id: 'pl_1' }, clientSecret: 's', url: null };
    const client = await respondingWith(
      json(200, { ...existing, replayed: true }),
      json(200, { ...existing, replayed: true, differs }),
      json(200, { ...existing, replayed: true, differs }),
      json(200, { ...link, replayed: true, differs }),
      json(200, { ...link, replayed: true, differs }),
    );
    const request = { ...created, idempotencyKey: 'order-7' };
    expect(await client.intents.create(request)).toEqual(existing.intent);
    const error: unknown = await client.intents.create(request).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ReusedKeyError);
    expect(error).toMatchObject({ existing, differs, message: expect.stringMatching(/another amount/) });
    expect(await client.intents.createPayable(request, { takeExisting: true })).toMatchObject({ ...existing, differs });
    const order = { amount: '1', offers: [] };
    await expect(client.paymentLinks.create(order)).rejects.toMatchObject({ existing: link });
    expect(await client.paymentLinks.create(order, { takeExisting: true })).toMatchObject(link);
  });

  it('retries a request that got no response', async () => {
    const client = await respondingWith(
      (response) => void response.destroy(),
      json(200, { intent: intent('created') }),
    );
    expect(await client.intents.get('pi_1')).toMatchObject({ state: 'created' });
  });

  it('throws a ConnectionError if no retry gets a response', async () => {
    await respondingWith(json(200, {}));
    const client = new PaymentClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', maxRetries: 0 });
    await expect(client.intents.get('pi_1')).rejects.toBeInstanceOf(ConnectionError);
  });

  it.each([
    [400, InvalidRequestError],
    [401, AuthenticationError],
    [402, PlanError],
    [404, NotFoundError],
    [409, ConflictError],
    [422, UnprocessableError],
    [500, PaymentApiError],
  ])('throws an error class of its own for status %i without a retry', async (status, expected) => {
    const client = await respondingWith(failure(status, 'some.code', { why: 1 }));
    const error: unknown = await client.intents.get('pi_1').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(expected);
    expect(error).toMatchObject({
      status,
      code: 'some.code',
      message: 'The code is some.code.',
      details: { why: 1 },
      requestId: 'req-1',
    });
    expect(service.requests).toHaveLength(1);
  });

  it.each([
    [429, RateLimitError],
    [503, UnavailableError],
  ])('throws an error class of its own for status %i after all retries', async (status, expected) => {
    await respondingWith(failure(status, 'some.code', null, { 'retry-after': '0' }));
    await expect(service.client.intents.get('pi_1')).rejects.toBeInstanceOf(expected);
    expect(service.requests).toHaveLength(5);
  });

  it('throws an error with the code unknown for the response of a proxy', async () => {
    const client = await respondingWith(
      (response) => void response.writeHead(403, { 'content-type': 'text/html' }).end('<h1>no</h1>'),
    );
    await expect(client.intents.get('pi_1')).rejects.toMatchObject({ status: 403, code: 'unknown' });
  });

  it('succeeds if a retried cancel finds the intent cancelled', async () => {
    const client = await respondingWith(
      failure(409, 'intent.invalid_state', { current_state: 'cancelled' }),
      json(200, { intent: intent('cancelled') }),
    );
    expect(await client.intents.cancel('pi_1')).toMatchObject({ state: 'cancelled' });
  });

  const lost: Respond = (response) => void response.destroy();

  it('returns the refund that an attempt made whose response was lost', async () => {
    const refunded = failure(409, 'intent.already_refunded', { refund_intent_id: 'pi_2' });
    const client = await respondingWith(lost, refunded, json(200, { intent: { id: 'pi_2' } }), refunded);
    expect(await client.intents.refund('pi_1')).toEqual({ id: 'pi_2' });
    await expect(client.intents.refund('pi_1')).rejects.toMatchObject({ code: 'intent.already_refunded' });
    expect(service.requests).toHaveLength(4);
  });

  it('returns the update that an attempt made whose response was lost', async () => {
    const stale = failure(409, 'intent.stale_update');
    const changed = intent('created', { amount: '2', ttlSeconds: 60, metadata: { order: '7' } });
    const client = await respondingWith(
      lost,
      stale,
      json(200, { intent: changed }),
      lost,
      stale,
      json(200, { intent: changed }),
      stale,
    );
    const change = { updatedAt: 'then', amount: '2', metadata: { order: '7', note: null } };
    expect(await client.intents.update('pi_1', change)).toEqual(changed);
    // The change that is there is another one.
    await expect(client.intents.update('pi_1', { ...change, amount: '3' })).rejects.toBeInstanceOf(ConflictError);
    await expect(client.intents.update('pi_1', change)).rejects.toMatchObject({ code: 'intent.stale_update' });
    expect(service.requests).toHaveLength(7);
  });

  it('repeats a removal, and succeeds if it is removed already', async () => {
    const none = failure(404, 'webhook_endpoint.not_found');
    const client = await respondingWith(lost, none, none);
    await client.webhooks.endpoints.remove('whe_1');
    expect(service.requests.map(({ method }) => method)).toEqual(['DELETE', 'DELETE']);
    await expect(client.webhooks.endpoints.remove('whe_1')).rejects.toBeInstanceOf(NotFoundError);
  });

  it('says so where the response is not JSON', async () => {
    const page: Respond = (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>');
    const client = await respondingWith(page);
    await expect(client.intents.get('pi_1')).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringMatching(/not JSON.*base URL/),
    });
  });

  it('polls where a page is returned in place of the stream', async () => {
    const page: Respond = (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hi</h1>');
    const client = await respondingWith(
      page,
      json(200, { intent: intent('confirmed', { updatedAt: '2026-11-27T12:00:00.000Z' }) }),
    );
    const seen: string[] = [];
    for await (const { type, intent: now } of client.intents.follow('pi_1')) seen.push(`${type} ${now.state}`);
    expect(seen).toEqual(['snapshot confirmed']);
    expect(service.requests.map(({ url }) => url)).toEqual(['/v1/intents/pi_1/events', '/v1/intents/pi_1']);
  });

  it('polls where a stream brings nothing, and tells each change once', async () => {
    await respondingWith(json(200, {}));
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const states = ['created', 'created', 'pending', 'confirmed'];
    const asked: string[] = [];
    const client = new PaymentClient({
      baseUrl: 'http://127.0.0.1:1/v1',
      apiKey: 'k',
      fetch: (input) => {
        const { url, signal } = input as Request;
        asked.push(new URL(url).pathname);
        if (!url.endsWith('/events')) {
          const state = states.shift() ?? '';
          return Promise.resolve(Response.json({ intent: intent(state, { updatedAt: state }) }));
        }
        // A proxy that keeps the stream back.
        const silent = new ReadableStream({
          start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
        });
        return Promise.resolve(new Response(silent, { headers: { 'content-type': 'text/event-stream' } }));
      },
    });
    const seen: string[] = [];
    const following = (async () => {
      for await (const { type, intent: now } of client.intents.follow('pi_1')) seen.push(`${type} ${now.state}`);
    })();
    for (let second = 0; second < 20; second += 1) await jest.advanceTimersByTimeAsync(1_000);
    jest.useRealTimers();
    await following;
    expect(seen).toEqual(['snapshot created', 'snapshot pending', 'snapshot confirmed']);
    expect(asked).toEqual(['/v1/intents/pi_1/events', ...Array<string>(4).fill('/v1/intents/pi_1')]);
  });

  it('iterates over all pages of a list and encodes its filters', async () => {
    const client = await respondingWith(
      json(200, { intents: [intent('created')], hasMore: true, nextCursor: 'c2' }),
      json(200, { intents: [intent('pending')], hasMore: false, nextCursor: null }),
    );
    const states: string[] = [];
    for await (const { state } of client.intents.list({
      state: ['created', 'pending'],
      limit: 1,
      metadata: { order: 'a b' },
    }))
      states.push(state);
    expect(states).toEqual(['created', 'pending']);
    const [first, second] = service.requests.map(({ url }) => new URL(url, 'http://x').searchParams);
    expect([...(first ?? [])]).toEqual([
      ['state', 'created'],
      ['state', 'pending'],
      ['limit', '1'],
      ['metadata[order]', 'a b'],
    ]);
    expect(second?.get('cursor')).toBe('c2');
  });

  it('says on the last page of a list up to when intents were created that it lacks', async () => {
    const endsAt = '2026-01-05T10:00:00.000Z';
    const client = await respondingWith(
      json(200, { intents: [intent('created')], hasMore: true, nextCursor: 'c2' }),
      json(200, { intents: [intent('created')], hasMore: false, nextCursor: null, endsAt }),
    );
    const first = await client.intents.list().page();
    expect(first).not.toHaveProperty('endsAt');
    const last = await client.intents.list({ cursor: String(first.nextCursor) }).page();
    expect([last.nextCursor, last.endsAt]).toEqual([null, endsAt]);
  });

  it('follows an intent over broken connections until it is confirmed', async () => {
    const client = await respondingWith(
      stream(
        { event: 'snapshot', id: '1', data: { intent: intent('created') } },
        { event: 'intent.pending', id: '2', data: { type: 'intent.pending', data: { intent: intent('pending') } } },
      ),
      failure(503, 'service.unavailable'),
      stream({
        event: 'intent.confirmed',
        id: '3',
        data: { type: 'intent.confirmed', data: { intent: intent('confirmed') } },
      }),
    );
    const seen: string[] = [];
    for await (const { type, intent: now } of client.intents.follow('pi_1')) seen.push(`${type} ${now.state}`);
    expect(seen).toEqual(['snapshot created', 'intent.pending pending', 'intent.confirmed confirmed']);
    expect(service.requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2']);
  });

  it('keeps following an intent that expired with a pending payment', async () => {
    const client = await respondingWith(
      stream(
        { event: 'snapshot', data: { intent: intent('pending') } },
        {
          event: 'intent.expired',
          id: '4',
          data: { type: 'intent.expired', data: { intent: intent('expired', { pendingAtExpiry: true }) } },
        },
        {
          event: 'intent.confirmed',
          id: '5',
          data: { type: 'intent.confirmed', data: { intent: intent('confirmed') } },
        },
      ),
    );
    const states: string[] = [];
    for await (const followed of client.intents.follow('pi_1')) states.push(followed.intent.state);
    expect(states).toEqual(['pending', 'expired', 'confirmed']);
  });

  it('throws a NotFoundError when it follows an intent of another account', async () => {
    const client = await respondingWith(failure(404, 'intent.not_found'));
    await expect(client.intents.follow('pi_1').next()).rejects.toBeInstanceOf(NotFoundError);
  });

  it('stops following when the signal aborts', async () => {
    const client = await respondingWith(
      (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n'),
    );
    const stop = new AbortController();
    const following = client.intents.follow('pi_1', { signal: stop.signal }).next();
    stop.abort(new Error('enough'));
    await expect(following).rejects.toThrow('enough');
  });
});
