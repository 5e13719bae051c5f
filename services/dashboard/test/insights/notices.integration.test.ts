import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { depositIdOf, newAccountId, partitionOf } from '@pf/contracts';
import { NOTICE_GAP_MS, ROLES } from '@pf/contracts/dashboard';
import type { AccountId } from '@pf/domain';
import { deposits } from '@pf/domain/testing';
import {
  type Cluster,
  type Instance,
  openStream,
  type OpenStream,
  readBackingStack,
  startCluster,
  startTcpProxy,
  until,
  webhookReceiver,
} from '@pf/testing';
import { memberOf, type Person } from '../person.ts';

const CREATE = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '1.00',
  requestor: '0x1111111111111111111111111111111111111111',
};
const GAPS_MS = 2 * NOTICE_GAP_MS;

describe('GET /accounts/{accountId}/{mode}/stream', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let dashboard: Instance;
  let accountId: string;
  let owner: Person;
  beforeAll(async () => {
    cluster = await startCluster();
    [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('webhook')]);
    dashboard = await cluster.start('dashboard', { env: { GATEWAY_URL: gateway.url } });
    accountId = cluster.accountId;
    owner = await memberOf(cluster.database, dashboard.url, { name: 'owner', accountId, role: 'owner' });
  });
  afterAll(() => cluster.close());

  const pathOf = (account: string, mode = 'test') => `/api/accounts/${account}/${mode}/stream`;
  const follow = (person: Person, mode = 'test', url = dashboard.url): Promise<OpenStream> =>
    openStream(`${url}${pathOf(accountId, mode)}`, person.headers);
  const create = async (): Promise<void> => {
    expect((await owner.pay('createIntent', { accountId, body: CREATE })).status).toBe(201);
  };
  const settled = () => new Promise((resolve) => setTimeout(resolve, GAPS_MS));

  it('notifies once when it begins, and then of payments of its account and mode only', async () => {
    const other = await cluster.database.prisma.account.create({ data: { id: newAccountId(), name: 'Other' } });
    const stranger = await memberOf(cluster.database, dashboard.url, {
      name: 'stranger',
      accountId: other.id,
      role: 'owner',
    });
    const [stream, live, foreign] = await Promise.all([
      follow(owner),
      follow(owner, 'live'),
      openStream(`${dashboard.url}${pathOf(other.id)}`, stranger.headers),
    ]);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await until('the first events', () => [stream, live, foreign].every(({ messages }) => messages.length === 1));
    expect(stream.messages[0]).toEqual({ id: '', event: 'changed', data: '{}' });
    expect(stream.retryMs()).toBeGreaterThanOrEqual(1_000);
    await settled();
    expect(stream.messages).toHaveLength(1);
    await create();
    await until('a notice', () => stream.messages.length === 2);
    await settled();
    expect([stream, live, foreign].map(({ messages }) => messages.length)).toEqual([2, 1, 1]);
    for (const one of [stream, live, foreign]) one.close();
  });

  it('merges many changes into one event', async () => {
    const stream = await follow(owner);
    await until('the first event', () => stream.messages.length === 1);
    await settled();
    const began = performance.now();
    await Promise.all(Array.from({ length: 12 }, create));
    await settled();
    const gaps = Math.ceil((performance.now() - began) / NOTICE_GAP_MS);
    expect(stream.messages.length).toBeGreaterThanOrEqual(2);
    expect(stream.messages.length).toBeLessThanOrEqual(1 + gaps);
    stream.close();
  });

  it('notifies of delivery attempts', async () => {
    const receiver = await webhookReceiver();
    try {
      const made = await owner.pay('createEndpoint', { accountId, body: { url: receiver.url } });
      expect(made.status).toBe(201);
      const { id } = (made.body as { endpoint: { id: string } }).endpoint;
      await settled();
      const stream = await follow(owner);
      await until('the first event', () => stream.messages.length === 1);
      await settled();
      const seen = stream.messages.length;
      expect((await owner.pay('testEndpoint', { accountId, params: { id } })).status).toBe(200);
      await until('a notice of the test event', () => stream.messages.length > seen);
      stream.close();
    } finally {
      await receiver.close();
    }
  });

  it('notifies of deposits', async () => {
    const publisher = await cluster.log.publisher();
    const stream = await follow(owner);
    await until('the first event', () => stream.messages.length === 1);
    await settled();
    const seen = stream.messages.length;
    const received = deposits.received({ accountId: accountId as AccountId });
    const id = depositIdOf(received.accountId, received.chain, received.arrival, cluster.log.partitions);
    await publisher.publish('chain.observations', {
      partition: partitionOf(id),
      key: id,
      value: cluster.asWatcher({
        ...deposits.depositLanded(received, id),
        trace: { traceparent: null, requestId: null },
      }),
    });
    await until('a notice of the deposit', () => stream.messages.length > seen);
    stream.close();
    await publisher.close();
  });

  it('is for every role, and for no one else', async () => {
    for (const role of ROLES) {
      const member = await memberOf(cluster.database, dashboard.url, { name: `a-${role}`, accountId, role });
      const stream = await follow(member);
      expect([role, stream.status]).toEqual([role, 200]);
      stream.close();
    }
    expect((await fetch(`${dashboard.url}${pathOf(accountId)}`)).status).toBe(401);
    expect((await fetch(`${dashboard.url}${pathOf(newAccountId())}`, { headers: owner.headers })).status).toBe(404);
    expect((await fetch(`${dashboard.url}${pathOf(accountId, 'prod')}`, { headers: owner.headers })).status).toBe(404);
    const head = await fetch(`${dashboard.url}${pathOf(accountId)}`, { method: 'HEAD', headers: owner.headers });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('is limited for each person, and ends with the session', async () => {
    const many = await memberOf(cluster.database, dashboard.url, { name: 'many', accountId, role: 'viewer' });
    const streams = await Promise.all(Array.from({ length: 10 }, () => follow(many)));
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    expect((await follow(many)).status).toBe(429);
    streams[0]?.close();
    await until('room for another', async () => {
      const another = await follow(many);
      another.close();
      return another.status === 200;
    });
    const headers = many.headers;
    expect((await many.ask('signOut')).status).toBe(200);
    expect(await Promise.all(streams.slice(1).map(({ ended }) => ended))).toEqual(
      Array.from({ length: 9 }, () => true),
    );
    expect((await fetch(`${dashboard.url}${pathOf(accountId)}`, { headers })).status).toBe(401);
  });

  it('continues without Redis, by polling', async () => {
    const proxy = await startTcpProxy(new URL(readBackingStack().redis).host);
    const cut = await cluster.start('dashboard', {
      detours: { redis: proxy.address },
      env: { GATEWAY_URL: gateway.url },
    });
    const member = await memberOf(cluster.database, cut.url, { name: 'cut', accountId, role: 'owner' });
    const stream = await follow(member, 'test', cut.url);
    await until('the first event', () => stream.messages.length === 1);
    await proxy.cut();
    await until('two more', () => stream.messages.length >= 3);
    await proxy.close();
    cut.kill('SIGTERM');
    expect(await stream.ended).toBe(true);
    expect(await cut.exited).toEqual({ code: 0, signal: null });
  });
});
