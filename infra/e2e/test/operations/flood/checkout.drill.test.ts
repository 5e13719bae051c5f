import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, apiClient, type Cluster, startCluster } from '@pf/testing';
import { createApp } from '../../../../../services/checkout/src/app.ts';
import { type Flood, Flooding, type Other } from './flooding.ts';
import { floodOf, newStranger, PAYMENT, type PaymentOperation, shownToPayer, type Stranger } from './payments.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** Each may make 600 requests a minute. */
const ADDRESSES = 250;
const WALLET = '7bNpZ1qKfQv6rJ8Yx3wHcT5eUoLsGdMa2RkVnXhWiJBy';

/** Of each route of the app, as Express has it: a method and its path. */
function routesOf(app: ReturnType<typeof createApp>): readonly string[] {
  interface Layer {
    readonly route?: { readonly path: string | RegExp; readonly methods: Readonly<Record<string, boolean>> };
    readonly handle?: { readonly stack?: readonly Layer[] };
  }
  const read = (layers: readonly Layer[]): readonly string[] =>
    layers.flatMap(({ route, handle }) =>
      route
        ? Object.keys(route.methods).flatMap((method) =>
            ['get', 'post'].includes(method) ? [`${method.toUpperCase()} ${String(route.path)}`] : [],
          )
        : read(handle?.stack ?? []),
    );
  return read(app.router.stack as unknown as readonly Layer[]);
}

/** The worst that each route of the checkout takes. */
function floodsOf(stranger: Stranger, solana: string, url: string, asset: string): Readonly<Record<string, Flood>> {
  const { intent, link, paymasterToken } = stranger;
  const get =
    (path: string): Flood =>
    () => ({ method: 'GET', path });
  const forwarded = (operation: PaymentOperation): Flood => floodOf(operation, stranger);
  return {
    'GET /pay/:id': get(`/pay/${intent.id}`),
    'GET /pay/:id/merchant': get(`/pay/${intent.id}/merchant`),
    'GET /link/:id': get(`/link/${link.id}`),
    'GET /link/:id/merchant': get(`/link/${link.id}/merchant`),
    'GET /logo/:id': get(`/logo/${intent.id}`),
    'GET /icon.svg': get('/icon.svg'),
    'GET /^\\/(?:assets\\/|pf-sound\\.js$)/': get(asset),
    'GET /plain': get('/plain'),
    'POST /plain': () => ({
      method: 'POST',
      path: '/plain',
      headers: FORM,
      body: `link=${encodeURIComponent(`${url}/pay/${intent.id}#${intent.clientSecret}`)}&of=${'x'.repeat(60_000)}`,
    }),
    'GET /plain.css': get('/plain.css'),
    'GET /s/:token': get(`/s/${solana}`),
    'POST /s/:token': () => ({ method: 'POST', path: `/s/${solana}`, body: { account: WALLET } }),
    'POST /p/:token': (n) => ({
      ...forwarded('askPaymaster')(n),
      path: `/p/${paymasterToken}`,
      headers: {},
    }),
    'GET /v1/intents/:id': forwarded('getIntent'),
    'GET /v1/intents/:id/events': forwarded('intentEvents'),
    'POST /v1/intents/:id/detected': forwarded('detectIntent'),
    'POST /v1/intents/:id/build': forwarded('buildIntent'),
    'POST /v1/intents/:id/submit': forwarded('submitIntent'),
    'GET /v1/payment-links/:id': forwarded('getPaymentLink'),
    'POST /v1/payment-links/:id/choose': forwarded('chooseOffer'),
  };
}

/** Payers of another merchant, each at an address of their own: of the page, and of what it asks. */
async function payersOf(client: ApiClient, url: string): Promise<readonly Other[]> {
  const bought = await Promise.all(Array.from({ length: 20 }, () => client.create(PAYMENT)));
  let asked = 0;
  const next = (method: string, path: string): Promise<Response> => {
    asked += 1;
    const body = bought[asked % bought.length]?.body;
    return fetch(`${url}${path.replace(':id', body?.intent.id ?? '')}`, {
      method,
      headers: {
        authorization: `Bearer ${body?.clientSecret ?? ''}`,
        'x-forwarded-for': `198.51.100.${asked % ADDRESSES}`,
      },
    });
  };
  return [
    () => next('POST', '/v1/intents/:id/detected'),
    () => next('GET', asked % 2 === 0 ? '/pay/:id' : '/v1/intents/:id'),
  ];
}

describe('a flood of the checkout from one address', () => {
  let cluster: Cluster;
  let flooding: Flooding;
  let floods: readonly (readonly [route: string, flood: Flood])[];
  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway, intent] = await Promise.all([
      cluster.start('gateway', {
        env: { TRUSTED_PROXIES: '1', RATE_LIMIT_FACTOR: '1', CHECKOUT_URL: 'https://pay.shop.example' },
      }),
      cluster.start('intent'),
    ]);
    const env = { TRUSTED_PROXIES: '1', GATEWAY_URL: gateway.url };
    const [service, strict] = await Promise.all([
      cluster.start('checkout', { env: { ...env, RATE_LIMIT_FACTOR: '1' } }),
      // Of an address 10 requests a minute.
      cluster.start('checkout', { env: { ...env, RATE_LIMIT_FACTOR: '0.0167' } }),
    ]);
    const client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    flooding = new Flooding({
      service,
      strict,
      beside: [gateway, intent],
      others: await payersOf(client, service.url),
    });
    const html = await (await fetch(`${service.url}/pay/none`)).text();
    const [asset = '/pf-sound.js'] = /\/assets\/[^"]+\.js/.exec(html) ?? [];
    const stranger = await newStranger(cluster, gateway.url, 'http://127.0.0.1:9/');
    const { body } = await stranger.api.create({
      ...PAYMENT,
      chain: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      requestor: WALLET,
    });
    const { solanaPayToken } = await shownToPayer(gateway.url, body);
    floods = Object.entries(floodsOf(stranger, solanaPayToken ?? '', service.url, asset));
  });
  afterAll(() => cluster.close());

  it('has an entry for every route', () => {
    const nothing = (): never => {
      throw new Error('nothing is served');
    };
    const dependencies = {
      forwarding: { serve: () => nothing },
      url: new URL('https://pay.example'),
      trustedProxies: 0,
    };
    const app = createApp({ ...dependencies, log: {} } as unknown as Parameters<typeof createApp>[0]);
    expect(floods.map(([route]) => route).toSorted()).toEqual([...new Set(routesOf(app))].toSorted());
  });

  it('is refused on every route, and says when to try again', async () => {
    for (const [route, flood] of floods) expect([route, await flooding.isRefused(flood)]).toEqual([route, true]);
  });

  it('leaves the payers of another merchant as quick as they are, whatever it asks', async () => {
    await flooding.warmUp();
    for (const [route, flood] of floods) await flooding.hold(route, flood);
    await flooding.expectUnhurt();
  });
});
