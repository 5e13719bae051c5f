import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import { openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  startCluster,
  until,
  webhookReceiver,
  type WebhookReceiver,
} from '@pf/testing';

/** A database of Redis that no other test uses: it is emptied as a whole. */
const REDIS_DATABASE = 12;
const PACE_MS = 25;

describe('webhooks under load', () => {
  const env = { REDIS_URL: new URL(`/${REDIS_DATABASE}`, readBackingStack().redis).href };
  let cluster: Cluster;
  let client: ApiClient;
  let redis: RedisConnection;
  let receivers: readonly WebhookReceiver[];
  let services: Instance[];
  beforeAll(async () => {
    cluster = await startCluster();
    redis = openConnection(env.REDIS_URL, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });
    receivers = await Promise.all([webhookReceiver(), webhookReceiver()]);
    for (const { url } of receivers)
      await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url });
    const [gateway, , ...webhooks] = await Promise.all([
      cluster.start('gateway', { env }),
      cluster.start('intent', { env }),
      cluster.start('webhook', { env }),
      cluster.start('webhook', { env }),
    ]);
    services = webhooks;
    client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  });
  afterAll(async () => {
    await cluster.close();
    redis.disconnect();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  const killOne = async (): Promise<void> => {
    const [killed] = services.splice(0, 1);
    killed?.kill('SIGKILL');
    await killed?.exited;
    services.push(await cluster.start('webhook', { env }));
  };
  /** What a restart of Postgres is for its clients. */
  const breakConnections = async (): Promise<void> => {
    await cluster.database.sql
      .query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()')
      .catch(() => undefined);
  };

  it('all arrive though Redis is emptied, Postgres breaks its connections and processes are killed', async () => {
    const acknowledged = new Set<string>();
    let loading = true;
    const load = (async () => {
      while (loading) {
        const { status, body } = await client.create({
          chain: 'eip155:84532',
          token: 'USDC',
          amount: '2',
          requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        });
        if (status === 201) acknowledged.add(body.intent.id);
        await new Promise((resolve) => setTimeout(resolve, PACE_MS));
      }
    })();
    const more = (count: number): Promise<unknown> => {
      const enough = acknowledged.size + count;
      return until('the load to go on', () => acknowledged.size >= enough, 60_000);
    };
    await more(20);
    for (const harm of [() => redis.flushdb(), killOne, breakConnections, () => redis.flushdb(), killOne]) {
      await harm();
      await more(20);
    }
    loading = false;
    await load;
    for (const { received } of receivers)
      await until(
        'all to arrive',
        () => {
          const arrived = new Set<string>(received.map(({ body }) => body.data.intent.id));
          return [...acknowledged].every((id) => arrived.has(id));
        },
        120_000,
      );
    await until(
      'all to be recorded',
      async () => (await cluster.database.prisma.delivery.count({ where: { status: { not: 'delivered' } } })) === 0,
      120_000,
    );
    expect(acknowledged.size).toBeGreaterThanOrEqual(120);
  });
});
