import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Cluster,
  type Instance,
  readBackingStack,
  type ServiceName,
  startCluster,
  startTcpProxy,
  type TcpProxy,
  until,
} from '@pf/testing';

/** What each service needs before it can serve, in the order in which it waits for them. */
const NEEDS: Readonly<Record<ServiceName, readonly string[]>> = {
  // Reads need no Kafka.
  gateway: ['database'],
  intent: ['database', 'kafka'],
  watcher: ['database', 'kafka'],
  webhook: ['database', 'kafka'],
  dashboard: ['database'],
  checkout: ['database'],
  archive: ['kafka'],
};
const SERVICES = Object.keys(NEEDS) as ServiceName[];

describe('services that start while everything they need is unavailable', () => {
  const stack = readBackingStack();
  let cluster: Cluster;
  let proxies: Record<'database' | 'kafka' | 'redis', TcpProxy>;
  let instances: ReadonlyMap<ServiceName, Instance>;

  beforeAll(async () => {
    cluster = await startCluster();
    proxies = {
      database: await startTcpProxy(new URL(stack.database).host),
      // The first connection; then clients connect to what the broker advertises.
      kafka: await startTcpProxy(stack.kafka.split(',')[0] ?? ''),
      redis: await startTcpProxy(new URL(stack.redis).host),
    };
    for (const proxy of Object.values(proxies)) await proxy.cut();
    const detours = {
      database: proxies.database.address,
      kafka: proxies.kafka.address,
      redis: proxies.redis.address,
    };
    instances = new Map(
      await Promise.all(
        SERVICES.map(async (service) => [service, await cluster.start(service, { detours, wait: false })] as const),
      ),
    );
  });
  afterAll(async () => {
    await cluster.close();
    for (const proxy of Object.values(proxies)) await proxy.close();
  });

  const readiness = async (service: ServiceName): Promise<unknown> =>
    (await fetch(`${instances.get(service)?.health}/readyz`)).json();
  /** Resolves when each of these services says that it waits for `dependency`, and is live. */
  const waiting = (services: readonly ServiceName[], dependency: string): Promise<unknown> =>
    Promise.all(
      services.map((service) =>
        until(`${service} to wait for ${dependency} (its log: ${instances.get(service)?.log})`, async () => {
          expect(await readiness(service)).toEqual({ status: 'starting', waits_for: [dependency] });
          return (await fetch(`${instances.get(service)?.health}/healthz`)).ok;
        }),
      ),
    );
  const needing = (dependency: string) => SERVICES.filter((service) => NEEDS[service].includes(dependency));

  it('wait for the database, the migrations and the log, and then serve; none of them ends', async () => {
    const ended: string[] = [];
    for (const [service, { exited }] of instances) void exited.then(() => ended.push(service));
    await waiting(needing('database'), 'database');
    await waiting(['archive'], 'kafka');

    // As between the start of a rollout and the end of `migrate`.
    const { sql } = cluster.database;
    const unfinished = 'migration_name = (SELECT max(migration_name) FROM _prisma_migrations)';
    await sql.query(`UPDATE _prisma_migrations SET finished_at = NULL WHERE ${unfinished}`);
    await proxies.database.restore();
    await waiting(needing('database'), 'database');
    await sql.query(`UPDATE _prisma_migrations SET finished_at = now() WHERE ${unfinished}`);
    await waiting(needing('kafka'), 'kafka');

    await proxies.kafka.restore();
    // Only webhooks wait for Redis before they are ready; the others are slower without it.
    const early = SERVICES.filter((service) => service !== 'webhook');
    const ready = (service: ServiceName) =>
      until(`${service} to be ready`, async () => (await fetch(`${instances.get(service)?.health}/readyz`)).ok);
    await Promise.all(early.map(ready));
    await proxies.redis.restore();
    await ready('webhook');
    expect(ended).toEqual([]);
  });
});
