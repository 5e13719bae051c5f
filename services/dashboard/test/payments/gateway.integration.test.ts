import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccountId, newIntentId } from '@pf/contracts';
import { readPass } from '@pf/http';
import { type Cluster, type Instance, openStream, startCluster, until } from '@pf/testing';
import { memberOf, type Person } from '../person.ts';

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string;
}

describe('a request that the dashboard forwards', () => {
  let cluster: Cluster;
  let dashboard: Instance;
  let accountId: string;
  let owner: Person;
  /** What the gateway received, newest last. */
  let received: Received[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ request, response, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  const json =
    (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    (_request: IncomingMessage, response: ServerResponse): void => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
      response.end(JSON.stringify(body));
    };
  /** Requests that hang at the gateway, one after the other: sent at once they may wait too long for a look-up. */
  async function hanging<Answer>(times: number, ask: (n: number) => Promise<Answer>): Promise<Promise<Answer>[]> {
    const asked: Promise<Answer>[] = [];
    const before = received.length;
    for (let n = 0; n < times; n++) {
      asked.push(ask(n));
      await until('the next of them', () => received.length === before + n + 1);
    }
    return asked;
  }
  const refusal = (code: string) => ({ error: { code, message: 'No.', param: null, details: null } });

  beforeAll(async () => {
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
    cluster = await startCluster();
    dashboard = await cluster.start('dashboard', { env: { GATEWAY_URL: url, TRUSTED_PROXIES: '1' } });
    accountId = (
      await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Shop', plan: 'growth' } })
    ).id;
    owner = await memberOf(cluster.database, dashboard.url, { name: 'owner', role: 'owner', accountId });
  });
  beforeEach(() => {
    received = [];
  });
  afterAll(async () => {
    await cluster.close();
    gateway.closeAllConnections();
    gateway.close();
    await once(gateway, 'close');
  });

  it('carries a pass and the named headers, and no cookie', async () => {
    answer = json(200, { events: [], hasMore: false, nextCursor: null });
    await owner.pay('intentEvents', {
      accountId,
      mode: 'live',
      params: { id: 'pi_1' },
      query: { limit: '1', cursor: 'a/b' },
      headers: {
        authorization: 'Basic eDp5',
        'x-forwarded-for': '192.0.2.9',
        'x-forwarded-host': 'evil.example',
        'last-event-id': '7',
        'x-request-id': 'a-request',
        te: 'trailers',
        'proxy-authorization': 'Basic eDp5',
        'x-custom': '1',
      },
    });
    const [{ request } = { request: undefined }] = received;
    expect(request?.url).toBe('/v1/intents/pi_1/events?limit=1&cursor=a%2Fb');
    const { authorization = '', host, traceparent, ...rest } = request?.headers ?? {};
    expect(rest).toEqual({
      accept: '*/*',
      connection: 'keep-alive',
      'user-agent': 'PaymentIntents/1.0',
      'last-event-id': '7',
      'x-forwarded-for': '192.0.2.9',
      'x-request-id': 'a-request',
    });
    expect([host, typeof traceparent]).toEqual([expect.stringMatching(/^127\.0\.0\.1:/), 'string']);
    const { body } = await owner.ask('getSession');
    expect(await readPass(authorization.replace('Bearer ', ''), [cluster.passSecret], Date.now())).toEqual({
      accountId,
      livemode: true,
      plan: 'growth',
      userId: body.user.id,
      secrets: true,
    });
  });

  it('carries its body byte by byte', async () => {
    answer = json(400, refusal('request.validation_failed'));
    const body = '{"amount": "1.00",  "note":"ü"}';
    expect((await owner.pay('createIntent', { accountId, body })).code).toBe('request.validation_failed');
    expect(received[0]?.body).toBe(body);
    expect(received[0]?.request.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
  });

  it('returns the named headers of the response only', async () => {
    answer = json(429, refusal('rate_limit.exceeded'), {
      'retry-after': '3',
      'ratelimit-policy': '"person";q=1;w=60',
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'keep-alive': 'timeout=77',
      'x-powered-by': 'a gateway',
      'content-security-policy': 'none',
    });
    const { status, headers } = await owner.pay('listIntents', { accountId });
    expect(status).toBe(429);
    expect([headers.get('retry-after'), headers.get('ratelimit-policy')]).toEqual(['3', '"person";q=1;w=60']);
    for (const name of ['set-cookie', 'access-control-allow-origin', 'x-powered-by', 'content-security-policy'])
      expect(headers.get(name)).toBeNull();
    expect(headers.get('keep-alive')).not.toBe('timeout=77');
  });

  it('ends when its client disconnects', async () => {
    answer = () => undefined;
    const aborting = new AbortController();
    const asked = fetch(`${owner.paymentsUrl(accountId)}/intents`, {
      headers: owner.headers,
      signal: aborting.signal,
    }).catch(() => 'aborted');
    const [waiting] = await until('the request', () => (received.length === 1 ? received : null));
    const closed = once(waiting?.response ?? gateway, 'close');
    aborting.abort();
    expect(await asked).toBe('aborted');
    await closed;

    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 1\nevent: snapshot\ndata: {}\n\n');
    };
    const stream = await openStream(`${owner.paymentsUrl(accountId)}/intents/pi_1/events`, owner.headers);
    await until('the first event', () => stream.messages.length === 1);
    const ended = once(received.at(-1)?.response ?? gateway, 'close');
    stream.close();
    await ended;
  });

  it('returns 503 for anything but a response of the payment API', async () => {
    for (const broken of [
      (_request: IncomingMessage, response: ServerResponse) =>
        response.writeHead(502, { 'content-type': 'text/html' }).end('<script>alert(1)</script>'),
      (request: IncomingMessage) => request.socket.destroy(),
      json(401, refusal('api_key.invalid')),
    ]) {
      answer = broken;
      const { status, code, body, headers } = await owner.pay('listIntents', { accountId });
      expect([status, code, body['error']]).toEqual([
        503,
        'service.unavailable',
        expect.objectContaining({ details: { retry_after: 2 } }),
      ]);
      expect(headers.get('retry-after')).toBe('2');
    }
    await until('the remedy in the log', async () =>
      (await readFile(dashboard.log, 'utf8')).includes('compare DASHBOARD_PASS_SECRET'),
    );
    answer = json(401, refusal('api_key.test_mode_required'));
    expect((await owner.pay('simulateIntent', { accountId, body: {} })).code).toBe('api_key.test_mode_required');
  });

  it('breaks off when the response of the gateway does', async () => {
    const answers: ServerResponse[] = [];
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"intents":');
      answers.push(response);
    };
    const response = await fetch(`${owner.paymentsUrl(accountId)}/intents`, { headers: owner.headers });
    answers[0]?.destroy();
    await expect(response.text()).rejects.toThrow();
  });

  it('returns 429 while sixteen others of its account are under way, and is served when one ends', async () => {
    answer = () => undefined;
    const slow = await hanging(16, () => owner.pay('listIntents', { accountId }));
    const refused = await owner.pay('listIntents', { accountId });
    expect([refused.status, refused.code]).toEqual([429, 'rate_limit.exceeded']);
    const other = (await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Other' } })).id;
    const stranger = await memberOf(cluster.database, dashboard.url, {
      name: 'stranger',
      role: 'owner',
      accountId: other,
    });
    answer = json(200, { intents: [], hasMore: false, nextCursor: null });
    expect((await stranger.pay('listIntents', { accountId: other })).status).toBe(200);
    for (const { request, response } of received.slice(0, 16)) answer(request, response);
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 200));
    expect((await owner.pay('listIntents', { accountId })).status).toBe(200);
  });

  it('returns 429 while 32 others of a person are under way, whatever the account, and serves others', async () => {
    answer = () => undefined;
    const { prisma } = cluster.database;
    const accounts = await Promise.all(
      [1, 2, 3].map((number) => prisma.account.create({ data: { id: newAccountId(), name: `Shop ${number}` } })),
    );
    const [first, second, third] = accounts.map(({ id }) => id) as [string, string, string];
    const names = { role: 'owner', accountId: first } as const;
    const busy = await memberOf(cluster.database, dashboard.url, { ...names, name: 'busy' });
    const { id: userId } = await prisma.user.findUniqueOrThrow({ where: { email: 'busy@shop.example' } });
    for (const account of [second, third])
      await prisma.member.create({ data: { accountId: account, userId, role: 'owner' } });
    const slow = await hanging(32, (n) => busy.pay('listIntents', { accountId: n < 16 ? first : second }));
    expect((await busy.pay('listIntents', { accountId: third })).code).toBe('rate_limit.exceeded');
    const other = await memberOf(cluster.database, dashboard.url, { name: 'other', role: 'owner', accountId: third });
    answer = json(200, { intents: [], hasMore: false, nextCursor: null });
    expect((await other.pay('listIntents', { accountId: third })).status).toBe(200);
    for (const { request, response } of received.slice(0, 32)) answer(request, response);
    expect((await Promise.all(slow)).every(({ status }) => status === 200)).toBe(true);
  });

  it('is served beside four persons who have as much under way as they may, with sponsors that hang', async () => {
    answer = () => undefined;
    const { prisma } = cluster.database;
    const newAccount = (name: string) => prisma.account.create({ data: { id: newAccountId(), name } });
    const busy = await Promise.all(
      [1, 2, 3, 4].map(async (number) => {
        const [{ id: first }, { id: second }] = [
          await newAccount(`One of ${number}`),
          await newAccount(`Two of ${number}`),
        ];
        const names = { name: `hanging-${number}`, role: 'owner', accountId: first } as const;
        const person = await memberOf(cluster.database, dashboard.url, names);
        const { id: userId } = await prisma.user.findUniqueOrThrow({ where: { email: `${names.name}@shop.example` } });
        await prisma.member.create({ data: { accountId: second, userId, role: 'owner' } });
        return { person, accounts: [first, second], headers: { 'x-forwarded-for': `192.0.2.${number}` } };
      }),
    );
    const params = { id: newIntentId(0) };
    const slow: Promise<unknown>[] = [];
    for (const { person, accounts, headers } of busy) {
      const build = (n: number) =>
        person.pay('buildIntent', { accountId: accounts[n % 2] ?? '', params, headers, body: { sponsored: true } });
      slow.push(...(await hanging(8, build)));
      expect((await build(8)).code).toBe('rate_limit.exceeded');
    }
    answer = json(200, { intents: [], hasMore: false, nextCursor: null });
    expect((await owner.pay('listIntents', { accountId })).status).toBe(200);
    for (const { person, accounts, headers } of busy)
      expect((await person.pay('listIntents', { accountId: accounts[0] ?? '', headers })).status).toBe(200);
    const builds = received.slice(0, slow.length);
    answer = json(404, refusal('intent.not_found'));
    expect((await owner.pay('buildIntent', { accountId, params, body: {} })).code).toBe('intent.not_found');
    for (const { request, response } of builds) answer(request, response);
    await Promise.all(slow);
  });
});

describe('the dashboard without a gateway', () => {
  it('signs people in, and responds with 503 where payments are', async () => {
    const cluster = await startCluster();
    try {
      const { url } = await cluster.start('dashboard');
      const { id: accountId } = await cluster.database.prisma.account.create({
        data: { id: newAccountId(), name: 'Shop' },
      });
      const viewer = await memberOf(cluster.database, url, { name: 'viewer', role: 'viewer', accountId });
      expect((await viewer.ask('getSession')).status).toBe(200);
      const { status, code, headers } = await viewer.pay('listIntents', { accountId });
      expect([status, code, headers.get('retry-after')]).toEqual([503, 'service.unavailable', '2']);
    } finally {
      await cluster.close();
    }
  });
});
