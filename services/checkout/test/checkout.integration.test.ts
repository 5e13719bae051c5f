import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { newIntentId, OPERATIONS } from '@pf/contracts';
import { changeSettings } from '@pf/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  gatewayDouble,
  type GatewayDouble,
  type Instance,
  json,
  openStream,
  refusalOf,
  startCluster,
  until,
} from '@pf/testing';
import { addIntent, addLink, BY, openShop, type Shop } from './shops.ts';

/** One pixel. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAA' +
  'BJRU5ErkJggg==';
/** Texts that would run a script where a page took them for markup, a URL or a template. */
const CORPUS = [
  '<script>window.injected = 1</script>',
  '<img src=x onerror="window.injected = 1">',
  '"><svg onload="window.injected = 1">',
  "' autofocus onfocus='window.injected = 1",
  '</title><script>window.injected = 1</script>',
  '\u202e<b>reversed</b>',
];
const SECRET = '3mJr7AoUXx2Wqd1mKJr7AoUXx2Wqd1mKJr7AoUXx2Wq';
const secretOf = (intentId: string): string => `Bearer ${intentId}_secret_${SECRET}`;
/** The paths of all that a client secret allows. */
const PATHS = ['', '/events', '/detected', '/build', '/submit'] as const;

let cluster: Cluster;
let gateway: GatewayDouble;
let checkout: Instance;
let shop: Shop;

beforeAll(async () => {
  [cluster, gateway] = await Promise.all([startCluster(), gatewayDouble()]);
  checkout = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url, TRUSTED_PROXIES: '1' } });
  shop = await openShop(cluster.database, 'Shop & Söhne', {
    branding: { logo: PNG, accentColor: '#1d4ed8', supportUrl: 'https://shop.example/help' },
    returnOrigins: ['https://shop.example', 'http://localhost:3000'],
  });
});
afterAll(async () => {
  await cluster.close();
  await gateway.close();
});

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${checkout.url}${path}`, { redirect: 'manual', ...init });
/** The directives of a response's policy. */
const policyOf = ({ headers }: Response): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (headers.get('content-security-policy') ?? '').split('; ').map((directive) => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')];
    }),
  );

describe('the page of a payment link', () => {
  it('is the same page, with whom the link pays, and forwards what its secret allows', async () => {
    const linkId = await addLink(cluster.database, shop.accountId);
    const [page, ofIntent] = await Promise.all([get(`/link/${linkId}`), get(`/pay/${shop.intentId}`)]);
    expect([page.status, await page.text()]).toEqual([200, await ofIntent.text()]);
    expect(policyOf(page)).toEqual(policyOf(ofIntent));
    expect(await (await get(`/link/${linkId}/merchant`)).json()).toMatchObject({ name: 'Shop & Söhne' });
    for (const path of [`/link/${shop.intentId}`, `/pay/${linkId}`, `/link/${linkId}1`, '/link/pl_0'])
      expect((await get(path)).status).toBe(404);
    gateway.answerWith(json(200, {}));
    const authorization = `Bearer ${linkId}_secret_${SECRET}`;
    await get(`/v1/payment-links/${linkId}`, { headers: { authorization } });
    await get(`/v1/payment-links/${linkId}/choose`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"offer":0}',
    });
    expect(gateway.received.map(({ request: { method, url } }) => `${method} ${url}`)).toEqual([
      `GET /v1/payment-links/${linkId}`,
      `POST /v1/payment-links/${linkId}/choose`,
    ]);
    for (const [path, secret] of [
      [`/v1/payment-links/${linkId}`, secretOf(shop.intentId)],
      [`/v1/intents/${shop.intentId}`, authorization],
      [`/v1/payment-links/${linkId}`, `Bearer pk_test_${'x'.repeat(32)}`],
    ] as const)
      expect((await get(path, { headers: { authorization: secret } })).status).toBe(401);
    expect(gateway.received).toHaveLength(2);
  });
});

describe('the page on which a person pays', () => {
  it('is the same for every intent, and has nothing of the payment or the account in it', async () => {
    const other = await openShop(cluster.database, CORPUS[0] ?? '');
    const [one, two] = await Promise.all([shop, other].map(({ intentId }) => get(`/pay/${intentId}?lang=de`)));
    expect([one?.status, two?.status]).toEqual([200, 200]);
    expect(one?.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const [html, sameHtml] = [await one?.text(), await two?.text()];
    expect(html).toContain('<!doctype html>');
    expect(sameHtml).toBe(html);
  });

  it('lets only its own scripts and styles run, and is kept nowhere', async () => {
    const response = await get(`/pay/${shop.intentId}`);
    expect(policyOf(response)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'font-src': "'self'",
      'worker-src': "'self'",
      'frame-src': 'https://wallet.tempo.xyz',
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': 'https://shop.example http://localhost:3000',
      'require-trusted-types-for': "'script'",
      'trusted-types': 'pf-sound',
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'permissions-policy': 'microphone=(self), camera=(), geolocation=()',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    // Over http, browsers ignore it; on a laptop it would break every other server of localhost.
    expect(response.headers.get('strict-transport-security')).toBeNull();
  });

  it('may be framed by the sites of its own account only, and by none without any', async () => {
    const [foreign, none] = await Promise.all([
      openShop(cluster.database, 'Foreign', { returnOrigins: ['https://foreign.example'] }),
      openShop(cluster.database, 'None'),
    ]);
    const ancestors = await Promise.all(
      [shop.intentId, foreign.intentId, none.intentId, newIntentId(0), 'pi_nonsense'].map(
        async (id) => policyOf(await get(`/pay/${id}`))['frame-ancestors'],
      ),
    );
    expect(ancestors).toEqual([
      'https://shop.example http://localhost:3000',
      'https://foreign.example',
      "'none'",
      "'none'",
      "'none'",
    ]);
  });

  it('lets no stored origin add to its policy', async () => {
    const { accountId, intentId } = await openShop(cluster.database, 'Stored', {
      returnOrigins: ["https://a.example; script-src 'unsafe-inline'", '*', 'https://ok.example', "'unsafe-inline'"],
      branding: { logo: 'https://cdn.example/a.png?;script-src *' },
    });
    expect(accountId).toMatch(/^acct_/);
    const policy = policyOf(await get(`/pay/${intentId}`));
    expect([policy['frame-ancestors'], policy['script-src'], policy['img-src']]).toEqual([
      'https://ok.example',
      "'self'",
      "'self' data: https://cdn.example",
    ]);
  });

  it('lets only one file compile functions, the script for sounds', async () => {
    const html = await (await get(`/pay/${shop.intentId}`)).text();
    const [entry = ''] = /\/assets\/[\w-]+\.js/.exec(html) ?? [];
    const [script, sound] = await Promise.all([get(entry), get('/pf-sound.js')]);
    expect([script.status, sound.status]).toEqual([200, 200]);
    expect(policyOf(script)).toEqual({ 'default-src': "'none'" });
    expect(policyOf(sound)).toEqual({ 'default-src': "'none'", 'script-src': "'self' 'unsafe-eval'" });
    expect(await sound.text()).toContain('ggwave');
  });

  it('responds with 404 and the page for an id that no intent has, so that it can say so', async () => {
    for (const id of [newIntentId(0), 'pi_nonsense', '%3Cscript%3E']) {
      const response = await get(`/pay/${id}`);
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('<!doctype html>')]);
    }
  });

  it.each(['/', '/pay', '/pay/pi_1/2/3', '/index.html', '/.vite/manifest.json', '/assets/../package.json', '/%'])(
    'is not at %s',
    async (path) => {
      const response = await get(path);
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'route.not_found' } }]);
    },
  );

  it('takes no other method', async () => {
    const response = await get(`/pay/${shop.intentId}`, { method: 'POST', body: 'a=b' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the merchant of a page', () => {
  const merchantOf = async (id: string): Promise<unknown> => (await get(`/pay/${id}/merchant`)).json();

  it('comes from the settings of the account, without the account itself', async () => {
    expect(await merchantOf(shop.intentId)).toEqual({
      name: 'Shop & Söhne',
      logo: PNG,
      accentColor: '#1d4ed8',
      supportUrl: 'https://shop.example/help',
      returnOrigins: ['https://shop.example', 'http://localhost:3000'],
    });
    const named = await openShop(cluster.database, 'Ltd', { branding: { name: 'Brand' } });
    expect(await merchantOf(named.intentId)).toEqual({
      name: 'Brand',
      logo: null,
      accentColor: null,
      supportUrl: null,
      returnOrigins: [],
    });
  });

  it('appears only as JSON text, never in errors or headers', async () => {
    for (const name of CORPUS) {
      const { intentId } = await openShop(cluster.database, name);
      const response = await get(`/pay/${intentId}/merchant`);
      expect([response.headers.get('content-type'), await response.json()]).toEqual([
        'application/json; charset=utf-8',
        expect.objectContaining({ name }),
      ]);
      expect(JSON.stringify([...response.headers])).not.toContain('injected');
      const unknown = await get(`/pay/${encodeURIComponent(name)}/merchant`);
      expect([unknown.status, await unknown.text()]).toEqual([404, expect.not.stringContaining('injected')]);
    }
  });

  it('changes within half a minute with the settings, and is read once for many pages', async () => {
    const { accountId, intentId } = await openShop(cluster.database, 'Before');
    expect(await merchantOf(intentId)).toMatchObject({ name: 'Before' });
    const change = { accountId, branding: { name: 'After' }, at: new Date() };
    await changeSettings(cluster.database, change, BY);
    expect(await merchantOf(await addIntent(cluster.database, accountId))).toMatchObject({ name: 'Before' });
    await until('the change', async () => JSON.stringify(await merchantOf(intentId)).includes('After'), 40_000);
  });

  it('is unknown for an id that no intent has', async () => {
    for (const id of [newIntentId(0), 'pi_nonsense', 'acct_1']) {
      const response = await get(`/pay/${id}/merchant`);
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'intent.not_found' } }]);
    }
  });
});

describe('the logo of a page', () => {
  it('is an image of its own, or where the account has it', async () => {
    const image = await get(`/logo/${shop.intentId}`);
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'",
      'access-control-allow-origin': '*',
    });
    expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(PNG.split(',')[1]);
    const elsewhere = await openShop(cluster.database, 'Elsewhere', {
      branding: { logo: 'https://cdn.example/logo.svg' },
    });
    const moved = await get(`/logo/${elsewhere.intentId}`);
    expect([moved.status, moved.headers.get('location')]).toEqual([302, 'https://cdn.example/logo.svg']);
    expect(moved.headers.get('vary')).toMatch(/sec-fetch-dest/i);
    expect((await get(`/logo/${(await openShop(cluster.database, 'Plain')).intentId}`)).status).toBe(404);
  });

  it('leads no page to where the account has it', async () => {
    const { intentId } = await openShop(cluster.database, 'Forged', {
      branding: { logo: 'https://forged.example/pay' },
    });
    const asked = async (to: string) => {
      const { status, headers } = await get(`/logo/${intentId}`, { headers: { 'sec-fetch-dest': to } });
      return [to, status, headers.get('location')];
    };
    expect(await asked('image')).toEqual(['image', 302, 'https://forged.example/pay']);
    for (const to of ['document', 'iframe', 'frame', 'object', 'embed', 'empty', ''])
      expect(await asked(to)).toEqual([to, 404, null]);
  });
});

describe('what the page asks of the payment API', () => {
  const asked = (path: string, init: RequestInit = {}): Promise<Response> =>
    get(`/v1/intents/${shop.intentId}${path}`, {
      ...init,
      headers: { authorization: secretOf(shop.intentId), ...init.headers },
    });

  it('reaches the gateway with the client secret and the address of the payer, and no cookie', async () => {
    gateway.answerWith(json(200, { intent: {} }, { 'set-cookie': 'a=b', 'access-control-allow-origin': '*' }));
    const response = await asked('', {
      headers: { cookie: 'a=b', 'x-forwarded-for': '192.0.2.9', 'x-request-id': 'a-request', te: 'trailers' },
    });
    expect([response.status, await response.json()]).toEqual([200, { intent: {} }]);
    expect([response.headers.get('set-cookie'), response.headers.get('access-control-allow-origin')]).toEqual([
      null,
      null,
    ]);
    const [{ request } = { request: undefined }] = gateway.received;
    const { host, traceparent, ...rest } = request?.headers ?? {};
    expect([request?.method, request?.url, typeof host, typeof traceparent]).toEqual([
      'GET',
      `/v1/intents/${shop.intentId}`,
      'string',
      'string',
    ]);
    expect(rest).toEqual({
      accept: '*/*',
      authorization: secretOf(shop.intentId),
      connection: 'keep-alive',
      'user-agent': 'PaymentIntents/1.0',
      'x-forwarded-for': '192.0.2.9',
      'x-request-id': 'a-request',
    });
  });

  it('is each request that a client secret allows, byte by byte', async () => {
    gateway.answerWith(json(200, {}));
    const body = '{"fulfiller":  "ü"}';
    for (const path of PATHS) await asked(path, ['', '/events'].includes(path) ? {} : { method: 'POST', body });
    expect(gateway.received.map(({ request, body: sent }) => [request.method, request.url, sent])).toEqual(
      PATHS.map((path) => {
        const reads = ['', '/events'].includes(path);
        return [reads ? 'GET' : 'POST', `/v1/intents/${shop.intentId}${path}`, reads ? '' : body];
      }),
    );
  });

  it('is nothing else: no other operation of the API is here', async () => {
    gateway.answerWith(json(200, {}));
    for (const { id, method, path } of Object.values(OPERATIONS)) {
      const target = `/v1${path.replaceAll(/\{\w+\}/g, shop.intentId)}`;
      const here = PATHS.some((one) => target === `/v1/intents/${shop.intentId}${one}`);
      const isForPayers =
        here && (method === 'get') === ['', '/events'].some((one) => target.endsWith(`${shop.intentId}${one}`));
      const { status } = await get(target, {
        method: method.toUpperCase(),
        headers: { authorization: secretOf(shop.intentId) },
      });
      // What the secret of a payment link opens, that of an intent does not.
      const isForLinks = id === 'getPaymentLink' || id === 'chooseOffer';
      const otherwise = isForLinks ? 401 : here ? 405 : 404;
      expect([method, path, status]).toEqual([method, path, isForPayers ? 200 : otherwise]);
    }
    expect(gateway.received).toHaveLength(PATHS.length);
  });

  it('needs the client secret of its own intent: nothing else is passed on', async () => {
    gateway.answerWith(json(200, {}));
    const other = newIntentId(0);
    for (const [authorization, code] of [
      [undefined, 'api_key.missing'],
      ['Bearer pk_test_4d8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b', 'api_key.invalid'],
      [secretOf(other), 'api_key.invalid'],
      [`Bearer ${shop.intentId}_spl_${SECRET}`, 'api_key.invalid'],
      [`${secretOf(shop.intentId)} x`, 'api_key.invalid'],
      [`Basic ${shop.intentId}_secret_${SECRET}`, 'api_key.invalid'],
    ] as const) {
      for (const path of PATHS) {
        const response = await get(`/v1/intents/${shop.intentId}${path}`, {
          method: ['', '/events'].includes(path) ? 'GET' : 'POST',
          headers: authorization === undefined ? {} : { authorization },
        });
        expect([authorization, path, response.status, await response.json()]).toMatchObject([
          authorization,
          path,
          401,
          { error: { code } },
        ]);
      }
    }
    expect(gateway.received).toEqual([]);
  });

  it('has a body of 64 KiB at most', async () => {
    gateway.answerWith(json(200, {}));
    const response = await asked('/submit', { method: 'POST', body: 'x'.repeat(64 * 1024 + 1) });
    expect([response.status, gateway.received.length]).toEqual([413, 0]);
  });

  it('gets 503 and a time to wait when the gateway does not respond as the payment API does', async () => {
    for (const broken of [
      (_request: IncomingMessage, response: ServerResponse) =>
        response.writeHead(502, { 'content-type': 'text/html' }).end('<script>alert(1)</script>'),
      (request: IncomingMessage) => request.socket.destroy(),
    ]) {
      gateway.answerWith(broken);
      const response = await asked('');
      expect([response.status, response.headers.get('retry-after'), await response.json()]).toMatchObject([
        503,
        '2',
        { error: { code: 'service.unavailable', details: { retry_after: 2 } } },
      ]);
    }
    gateway.answerWith(json(429, refusalOf('rate_limit.exceeded'), { 'retry-after': '7' }));
    const limited = await asked('');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  });

  it('is a stream as long as both sides want it', async () => {
    gateway.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      response.write('id: 1\nevent: snapshot\ndata: {}\n\n');
    });
    const headers = { authorization: secretOf(shop.intentId), 'last-event-id': '7' };
    const stream = await openStream(`${checkout.url}/v1/intents/${shop.intentId}/events`, headers);
    await until('the first event', () => stream.messages.length === 1);
    expect([stream.headers.get('content-type'), stream.headers.get('x-accel-buffering')]).toEqual([
      'text/event-stream',
      'no',
    ]);
    const [{ request, response } = { request: undefined, response: undefined }] = gateway.received;
    expect(request?.headers['last-event-id']).toBe('7');
    response?.write('id: 2\nevent: intent.confirmed\ndata: {}\n\n');
    await until('the second event', () => stream.messages.length === 2);
    if (!response) throw new Error('nothing was received');
    const ended = once(response, 'close');
    stream.close();
    await ended;
  });

  it('continues at the gateway when its client disconnects, if it changes something', async () => {
    let finish: () => void = () => undefined;
    gateway.answerWith((_request, response) => {
      finish = () => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    const aborting = new AbortController();
    const gone = asked('/submit', { method: 'POST', body: '{}', signal: aborting.signal }).catch(() => 'gone');
    await until('the request', () => gateway.received.length === 1);
    aborting.abort();
    expect(await gone).toBe('gone');
    const [{ response } = { response: undefined }] = gateway.received;
    expect(response?.destroyed).toBe(false);
    finish();
    await until('its end', () => response?.writableFinished === true);
  });
});

describe('limits of an address', () => {
  let limited: Instance;
  const from = (address: string, path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${limited.url}${path}`, {
      ...init,
      headers: { authorization: secretOf(shop.intentId), 'x-forwarded-for': address, ...init.headers },
    });

  beforeAll(async () => {
    limited = await cluster.start('checkout', {
      env: { GATEWAY_URL: gateway.url, TRUSTED_PROXIES: '1', RATE_LIMIT_FACTOR: '0.05' },
    });
  });

  it('bound its requests, and no other address’s', async () => {
    const statuses: number[] = [];
    for (let sent = 0; sent < 40; sent++) statuses.push((await from('192.0.2.1', '/pay/pi_1')).status);
    expect([statuses[0], statuses.includes(429)]).toEqual([404, true]);
    // One more is allowed every 2 s.
    const refused = await until('a refusal of another path', async () => {
      const response = await from('192.0.2.1', `/pay/${shop.intentId}/merchant`);
      return response.status === 429 && response;
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await from('192.0.2.2', `/pay/${shop.intentId}/merchant`)).status).toBe(200);
  });

  it('bound its streams, of which none is opened at the gateway for it then', async () => {
    gateway.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': \n\n');
    });
    const events = `${limited.url}/v1/intents/${shop.intentId}/events`;
    const of = (address: string) =>
      openStream(events, { authorization: secretOf(shop.intentId), 'x-forwarded-for': address });
    // 100 × 0.05.
    const open = await Promise.all(Array.from({ length: 5 }, () => of('192.0.2.3')));
    const refused = await of('192.0.2.3');
    expect([refused.status, gateway.received.length]).toEqual([429, 5]);
    const other = await of('192.0.2.4');
    expect(other.status).toBe(200);
    for (const stream of [...open, other]) stream.close();
  });
});

describe('limits of a merchant', () => {
  const post = (intentId: string, address: string, what: 'build' | 'detected' | 'submit') =>
    get(`/v1/intents/${intentId}/${what}`, {
      method: 'POST',
      headers: {
        authorization: secretOf(intentId),
        'content-type': 'application/json',
        'x-forwarded-for': address,
      },
      body: '{}',
    });
  const answerAll = (): void => {
    for (const { response } of gateway.received)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  /** These are forwarded beside those that hang, and none of them is refused. @param all so many are forwarded then */
  async function responded(served: readonly Promise<Response>[], all: number): Promise<void> {
    let refused = 0;
    for (const one of served) void one.then(({ ok }) => (refused += ok ? 0 : 1));
    await until('the requests beside them', () => gateway.received.length + refused === all);
    answerAll();
    for (const response of await Promise.all(served)) expect(response.status).toBe(200);
  }

  it('bound its submits under way, which take no place of other requests', async () => {
    const other = await openShop(cluster.database, 'Another');
    gateway.answerWith(() => undefined);
    // Hashes that no node shows: the gateway looks for each of them for seconds.
    const hanging = [0, 1].flatMap((index) =>
      Array.from({ length: 16 }, () => post(shop.intentId, `192.0.2.${index}`, 'submit')),
    );
    await until('the share of the merchant', () => gateway.received.length === 32);
    expect((await post(shop.intentId, '192.0.2.0', 'submit')).status).toBe(429);
    expect((await post(shop.intentId, '192.0.2.9', 'submit')).status).toBe(429);
    const served = [
      ...Array.from({ length: 32 }, () => post(shop.intentId, '192.0.2.0', 'detected')),
      post(other.intentId, '192.0.2.9', 'submit'),
    ];
    await responded(served, 65);
    await Promise.all(hanging);
  });

  it('bound its builds under way, which take no place of other requests, nor of another merchant’s', async () => {
    const other = await openShop(cluster.database, 'A third');
    gateway.answerWith(() => undefined);
    // Its sponsor hangs: each way to ask for a transaction waits for it.
    const hanging = Array.from({ length: 8 }, () => post(shop.intentId, '192.0.2.0', 'build'));
    await until('the share of the merchant', () => gateway.received.length === 8);
    for (const [path, body] of [
      [`/v1/intents/${shop.intentId}/build`, {}],
      [`/s/${shop.intentId}_spl_${SECRET.slice(0, 20)}`, { account: '7bNpZ1qKfQv6rJ8Yx3wHcT5eUoLsGdMa2RkVnXhWiJBy' }],
      [
        `/p/${shop.intentId}_pm_${SECRET.slice(0, 20)}`,
        { jsonrpc: '2.0', id: 1, method: 'pm_getPaymasterData', params: [] },
      ],
    ] as const) {
      const headers = { authorization: secretOf(shop.intentId), 'content-type': 'application/json' };
      const refused = await get(path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect([path, refused.status]).toEqual([path, 429]);
    }
    const served = [
      ...Array.from({ length: 32 }, () => post(shop.intentId, '192.0.2.0', 'detected')),
      post(shop.intentId, '192.0.2.0', 'submit'),
      post(other.intentId, '192.0.2.0', 'build'),
    ];
    await responded(served, 42);
    await Promise.all(hanging);
  });

  it('bound its requests under way, which take no place of its submits, nor of another merchant’s', async () => {
    const other = await openShop(cluster.database, 'Other');
    const second = await addIntent(cluster.database, shop.accountId);
    gateway.answerWith(() => undefined);
    const look = (intentId: string, address: string) => post(intentId, address, 'detected');
    // The chains hang, and customers at several addresses pay.
    const hanging = [shop.intentId, second].flatMap((intentId, index) =>
      Array.from({ length: 32 }, () => look(intentId, `192.0.2.${index}`)),
    );
    await until('the share of the merchant', () => gateway.received.length === 64);
    const refused = await look(shop.intentId, '192.0.2.9');
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: { code: 'rate_limit.exceeded', message: expect.stringContaining('this merchant') as unknown } },
    ]);
    const served = [look(other.intentId, '192.0.2.9'), post(shop.intentId, '192.0.2.0', 'submit')];
    await responded(served, 66);
    await Promise.all(hanging);
  });
});

describe('the process', () => {
  it('ends its streams when it stops, and exits', async () => {
    const own = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url } });
    gateway.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('id: 1\nevent: snapshot\ndata: {}\n\n');
    });
    const stream = await openStream(`${own.url}/v1/intents/${shop.intentId}/events`, {
      authorization: secretOf(shop.intentId),
    });
    await until('the first event', () => stream.messages.length === 1);
    own.kill('SIGTERM');
    expect(await stream.ended).toBe(true);
    expect(await own.exited).toEqual({ code: 0, signal: null });
  });
});
