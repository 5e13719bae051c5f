import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, apiClient, type Cluster, startCluster } from '@pf/testing';
import { floodsOf, WALLET } from './checkout-floods.ts';
import { type Flood, Flooding, type Other } from './flooding.ts';
import { newStranger, PAYMENT, shownToPayer } from './payments.ts';

/** Each may make 600 requests a minute. */
const ADDRESSES = 250;
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

  it('is refused on every route, and says when to try again', async () => {
    for (const [route, flood] of floods) expect([route, await flooding.isRefused(flood)]).toEqual([route, true]);
  });

  it('leaves the payers of another merchant as quick as they are, whatever it asks', async () => {
    await flooding.warmUp();
    for (const [route, flood] of floods) await flooding.hold(route, flood);
    await flooding.expectUnhurt();
  });
});
