import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setPlan } from '@pf/database';
import { type Cluster, startCluster } from '@pf/testing';
import { type Flood, Flooding } from './flooding.ts';
import { floodOf, newStranger, PAYMENT, PAYMENT_OPERATIONS } from './payments.ts';
import { routesWithoutAKey } from './routes.ts';

/** What anyone can ask for without a key, beside the routes below. */
const WITHOUT_A_KEY: Readonly<Record<string, Flood>> = {
  'a key that is none': (n) => ({
    method: 'GET',
    path: '/v1/intents',
    headers: { authorization: `Bearer pk_test_${String(n).padStart(32, 'x')}` },
  }),
  'a method that is none': () => ({ method: 'PUT', path: '/v1/intents' }),
  'a path that is none': () => ({ method: 'GET', path: `/v1/${'x'.repeat(2_000)}` }),
};

const floodOfRoute = (route: string): Flood => {
  const [method = '', path = ''] = route.replaceAll(/:\w+/g, 'x').split(' ');
  return () => ({ method, path });
};

describe('a flood of the gateway from one address', () => {
  let cluster: Cluster;
  let receiver: Server;
  let flooding: Flooding;
  const floods: [route: string, flood: Flood][] = [];
  beforeAll(async () => {
    cluster = await startCluster();
    receiver = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const hanging = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const env = { TRUSTED_PROXIES: '1', CHECKOUT_URL: 'https://pay.shop.example' };
    const [service, strict, intent] = await Promise.all([
      cluster.start('gateway', { env: { ...env, RATE_LIMIT_FACTOR: '1' } }),
      // Of a free key 100 requests a minute, of an address 10.
      cluster.start('gateway', { env: { ...env, RATE_LIMIT_FACTOR: '0.0167' } }),
      cluster.start('intent'),
    ]);
    await setPlan(cluster.database, cluster.accountId, 'scale');
    const headers = { authorization: `Bearer ${cluster.apiKeys.test}`, 'x-forwarded-for': '198.51.100.1' };
    const create = () =>
      fetch(`${service.url}/v1/intents`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(PAYMENT),
      });
    const list = () => fetch(`${service.url}/v1/intents?limit=10`, { headers });
    flooding = new Flooding({ service, strict, beside: [intent], others: [create, list] });
    for (const operation of PAYMENT_OPERATIONS)
      floods.push([operation, floodOf(operation, await newStranger(cluster, service.url, hanging))]);
    floods.push(...Object.entries(WITHOUT_A_KEY));
    for (const route of routesWithoutAKey()) floods.push([route, floodOfRoute(route)]);
  });
  afterAll(async () => {
    await cluster.close();
    receiver.closeAllConnections();
    receiver.close();
  });

  it('is refused on every route, and says when to try again', async () => {
    for (const [route, flood] of floods) expect([route, await flooding.isRefused(flood)]).toEqual([route, true]);
  });

  it('leaves the requests of another account as quick as they are, whatever it asks', async () => {
    await flooding.warmUp();
    for (const [route, flood] of floods) await flooding.hold(route, flood);
    await flooding.expectUnhurt();
  });
});
