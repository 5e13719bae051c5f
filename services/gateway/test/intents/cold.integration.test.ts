import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FolderStore } from '@pf/archive';
import { ColdBundles } from '@pf/archive/cold';
import { createAccount, createKey, findOldIntents, leave } from '@pf/database';
import type { ChainId, PublicIntent } from '@pf/domain';
import { type ApiClient, apiClient, type Cluster, type Instance, startCluster } from '@pf/testing';

const CHAIN = 'eip155:84532' as ChainId;
const good = { chain: CHAIN, token: 'USDC', amount: '1', requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
const DAY_MS = 86_400_000;

let cluster: Cluster;
let gateway: Instance;
let api: ApiClient;

beforeAll(async () => {
  cluster = await startCluster();
  const env = { ARCHIVE_URL: pathToFileURL(cluster.archive).href };
  [gateway] = await Promise.all([cluster.start('gateway', { env }), cluster.start('intent', { env })]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
});
afterAll(() => cluster.close());

/** Moves everything out that has ended. */
async function leaveAll(): Promise<void> {
  const { database, archive } = cluster;
  const partitions = Array.from({ length: cluster.log.partitions }, (_, partition) => partition);
  const old = await findOldIntents(database, CHAIN, partitions, Date.now() + DAY_MS, null, 100);
  const places = await new ColdBundles(new FolderStore(archive), null).write(
    new Map(old.map((one) => [one.id, one])),
    Date.now(),
  );
  for (const one of old) {
    const place = places.get(one.id);
    if (place) await leave(database, one.partition, [{ ...one, ...place }]);
  }
}
const ended = async (more: Record<string, unknown> = {}): Promise<PublicIntent> => {
  const { id } = (await api.create({ ...good, ...more })).body.intent;
  return (await api.simulate(id, 'finalized')).body.intent;
};
const isStored = async (id: string): Promise<boolean> =>
  ((await cluster.database.sql.query('SELECT FROM ledger.intents WHERE id = $1', [id])).rowCount ?? 0) > 0;

describe('An intent that has left Postgres', () => {
  it('is returned as before, with its history and its stream, to its account alone', async () => {
    const intent = await ended({ metadata: { order: '7' } });
    const { clientSecret } = (await api.get(intent.id)).body as unknown as { clientSecret: string };
    const before = {
      get: (await api.get(intent.id)).body,
      events: (await api.events(intent.id)).body,
      page: (await api.request('GET', `/intents/${intent.id}/events?limit=1`)).body,
    };
    await leaveAll();
    expect(await isStored(intent.id)).toBe(false);
    expect({
      get: (await api.get(intent.id)).body,
      events: (await api.events(intent.id)).body,
      page: (await api.request('GET', `/intents/${intent.id}/events?limit=1`)).body,
    }).toEqual(before);
    const { nextCursor } = before.page as unknown as { nextCursor: string };
    const rest = await api.request<{ events: readonly unknown[] }>(
      'GET',
      `/intents/${intent.id}/events?cursor=${nextCursor}`,
    );
    expect(rest.body.events).toEqual(before.events.events.slice(1));

    const stream = await api.follow(intent.id);
    expect(await stream.ended).toBe(true);
    expect(stream.messages.map(({ event, data }) => [event, JSON.parse(data) as unknown])).toEqual([
      ['snapshot', { intent }],
    ]);
    const resumed = await api.follow(intent.id, '1');
    expect(await resumed.ended).toBe(true);
    expect(resumed.messages.map(({ data }) => JSON.parse(data) as unknown)).toEqual(before.events.events.slice(1));

    // Its payer has a secret for it; another account has nothing.
    expect((await apiClient(`${gateway.url}/v1`, clientSecret).get(intent.id)).status).toBe(200);
    const { id: accountId } = await createAccount(cluster.database, { name: 'stranger' });
    const { key } = await createKey(cluster.database, { accountId, livemode: false });
    expect((await apiClient(`${gateway.url}/v1`, key).get(intent.id)).status).toBe(404);
    expect(await isStored(intent.id)).toBe(false);
  });

  it('is refunded as any other', async () => {
    const { id } = await ended();
    await leaveAll();
    const refund = await api.refund(id);
    expect([refund.status, refund.body.intent.refundOf]).toEqual([201, id]);
    expect((await api.get(id)).body.intent.refundedBy).toBe(refund.body.intent.id);
  });

  it('returns 503 and retry_after while it cannot be read', async () => {
    const { id } = await ended();
    await leaveAll();
    const without = await cluster.start('gateway');
    const response = await apiClient(`${without.url}/v1`, cluster.apiKeys.test).get(id);
    expect([response.status, response.body.error?.code]).toEqual([503, 'service.unavailable']);
    expect(response.body.error?.details).toMatchObject({ retry_after: expect.any(Number) as unknown });
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('GET /intents', () => {
  it('says on the last page up to when intents were created that it lacks', async () => {
    const { id: accountId } = await createAccount(cluster.database, { name: 'lists' });
    const { key } = await createKey(cluster.database, { accountId, livemode: false });
    api = apiClient(`${gateway.url}/v1`, key);
    const [old, newer] = [await ended(), await ended()];
    const open = [(await api.create(good)).body.intent, (await api.create(good)).body.intent];
    expect((await api.list()).body).not.toHaveProperty('endsAt');
    await leaveAll();
    const { body } = await api.list();
    expect(body.intents.map(({ id }) => id)).toEqual(open.map(({ id }) => id).reverse());
    expect(body).toMatchObject({ hasMore: false, endsAt: newer.createdAt });
    expect((await api.list('limit=1')).body).not.toHaveProperty('endsAt');
    expect((await api.list(`createdAfter=${old.createdAt}`)).body).toMatchObject({ endsAt: newer.createdAt });
    expect((await api.list(`createdAfter=${newer.createdAt}`)).body).not.toHaveProperty('endsAt');
  });
});
