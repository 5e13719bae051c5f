import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import { type ReplicatedPostgres, startReplicatedPostgres } from '@pf/local/replicated-postgres';
import { openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  type ReceivedWebhook,
  startCluster,
  startPf,
  until,
  webhookReceiver,
  type WebhookReceiver,
} from '@pf/testing';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';

/** A database of Redis that no other test uses: it is emptied as a whole. */
const REDIS_DATABASE = 12;
const PACE_MS = 75;
const ARRIVED_MS = 120_000;

describe('webhooks under load', () => {
  const env = { REDIS_URL: new URL(`/${REDIS_DATABASE}`, readBackingStack().redis).href };
  let folder: string;
  let postgres: ReplicatedPostgres;
  let cluster: Cluster;
  let client: ApiClient;
  let redis: RedisConnection;
  let receivers: readonly WebhookReceiver[];
  /** Deliveries that the secret of the account has not signed. */
  const unverified: ReceivedWebhook[] = [];
  /** A gateway and two webhook services. */
  let services: Instance[];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-webhooks-'));
    // Postgres may run as another user; its own folder is closed to others.
    await chmod(folder, 0o711);
    postgres = await startReplicatedPostgres(path.join(folder, 'postgres'));
    cluster = await startCluster({ ...readBackingStack(), database: postgres.url });
    redis = openConnection(env.REDIS_URL, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });
    const verify = (webhook: ReceivedWebhook): void => {
      if (verifiedBy(webhook, [cluster.webhookSecrets.test]).length === 0) unverified.push(webhook);
    };
    receivers = await Promise.all([webhookReceiver(verify), webhookReceiver(verify)]);
    for (const { url } of receivers)
      await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url });
    const [gateway, ...webhooks] = await Promise.all([
      cluster.start('gateway', { env }),
      cluster.start('webhook', { env }),
      cluster.start('webhook', { env }),
      cluster.start('intent', { env }),
    ]);
    services = [gateway, ...webhooks.slice(0, 2)];
    client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  });
  afterAll(async () => {
    await cluster.close();
    redis.disconnect();
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await postgres.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Creates intents until it is stopped. */
  const startLoad = () => {
    const acknowledged = new Set<string>();
    const stopping = new AbortController();
    const running = (async () => {
      while (!stopping.signal.aborted) {
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
    return {
      acknowledged,
      more: (count: number): Promise<unknown> => {
        const enough = acknowledged.size + count;
        return until('the load to go on', () => acknowledged.size >= enough, 60_000);
      },
      stop: () => {
        stopping.abort();
        return running;
      },
    };
  };
  const allArrive = async (of: readonly WebhookReceiver[], acknowledged: ReadonlySet<string>): Promise<void> => {
    for (const { received } of of)
      await until(
        'all to arrive',
        () => {
          const arrived = new Set<string>(received.map(({ body }) => body.data.intent.id));
          return [...acknowledged].every((id) => arrived.has(id));
        },
        ARRIVED_MS,
      );
    await until('all to be recorded', async () => (await outstanding()) === 0, ARRIVED_MS);
    expect(await cluster.database.prisma.delivery.count({ where: { status: { not: 'delivered' } } })).toBe(0);
  };
  const outstanding = (): Promise<number> =>
    cluster.database.prisma.delivery.count({ where: { nextAttemptAt: { not: null } } });

  const killOne = async (): Promise<void> => {
    const [killed] = services.splice(1, 1);
    killed?.kill('SIGKILL');
    await killed?.exited;
    services.push(await cluster.start('webhook', { env }));
  };
  /** The receivers answer when it is down: how the attempts ended cannot be recorded before it is back. */
  const restartPostgres = async (): Promise<void> => {
    const answering = Promise.withResolvers<number>();
    for (const receiver of receivers) receiver.respond = () => answering.promise;
    await until('webhooks to be outstanding', async () => (await outstanding()) >= 10);
    await postgres.primary.kill('SIGQUIT');
    answering.resolve(200);
    await postgres.primary.start();
  };

  it('all arrive though Redis is emptied, Postgres stops at once and processes are killed', async () => {
    const load = startLoad();
    await load.more(20);
    for (const harm of [() => redis.flushdb(), killOne, restartPostgres, () => redis.flushdb(), killOne]) {
      await harm();
      await load.more(20);
    }
    await load.stop();
    await allArrive(receivers, load.acknowledged);
    expect(load.acknowledged.size).toBeGreaterThanOrEqual(120);
  });

  it('all arrive and verify while their secrets and the key that encrypts these are replaced', async () => {
    const secrets: string[] = [];
    const verified = new Map<string, readonly string[]>();
    const receiver = await webhookReceiver((webhook) => {
      verified.set(webhook.body.data.intent.id, verifiedBy(webhook, secrets));
    });
    receivers = [...receivers, receiver];
    const { body } = await client.request<Created>('POST', '/webhook-endpoints', { url: receiver.url });
    secrets.push(body.secret);
    const rotateSecret = async (): Promise<void> => {
      const path = `/webhook-endpoints/${body.endpoint.id}/rotate-secret`;
      const { body: rotated } = await client.request<Created>('POST', path, {});
      secrets.push(rotated.secret);
    };
    const logs = new Set<string>();
    /** A rolling update of everything that has the key. */
    const update = async (...keys: readonly Buffer[]): Promise<void> => {
      const former = services;
      const SECRETS_KEY = keys.map((key) => key.toString('base64')).join(',');
      services = await Promise.all(
        former.map(({ service }) => cluster.start(service, { env: { ...env, SECRETS_KEY } })),
      );
      client = apiClient(`${String(services[0]?.url)}/v1`, cluster.apiKeys.test);
      for (const instance of former) {
        instance.kill('SIGTERM');
        logs.add(instance.log);
      }
      await Promise.all(former.map(({ exited }) => exited));
    };
    const [old, next] = [cluster.secretsKey, randomBytes(32)];
    const load = startLoad();
    await load.more(20);
    await update(old, next);
    await rotateSecret();
    await load.more(10);
    await update(next, old);
    await rotateSecret();
    await load.more(10);
    await writeFile(path.join(folder, 'stack.json'), JSON.stringify({ database: cluster.databaseUrl }));
    await writeFile(path.join(folder, 'secrets-key'), [next, old].map((key) => key.toString('base64')).join(','));
    const { code, output } = await startPf(folder, 'secrets', 'rotate').ended;
    // Two of the account, and those of the endpoint that are older than the key.
    expect([code, JSON.parse(output)]).toEqual([0, { rotated: 4 }]);
    await update(next);
    const before = new Set(load.acknowledged);
    await load.more(20);
    await load.stop();
    await allArrive(receivers, load.acknowledged);

    expect(unverified).toEqual([]);
    const [first = ''] = secrets;
    expect([...load.acknowledged].filter((id) => verified.get(id)?.includes(first) !== true)).toEqual([]);
    const last = [...load.acknowledged].filter((id) => !before.has(id));
    expect(last.filter((id) => verified.get(id)?.length !== secrets.length)).toEqual([]);
    for (const { log } of services) logs.add(log);
    for (const log of logs) expect(await readFile(log, 'utf8')).not.toContain('unreadable_secret');
  });
});

interface Created {
  readonly endpoint: { readonly id: string };
  readonly secret: string;
}

/** The secrets with which both libraries accept a webhook. */
function verifiedBy({ raw, headers }: ReceivedWebhook, secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => {
    try {
      for (const Library of [SvixWebhook, StandardWebhook])
        new Library(secret).verify(raw, headers as Record<string, string>);
      return true;
    } catch {
      // Not signed with this one.
      return false;
    }
  });
}
