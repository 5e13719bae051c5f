import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type Cluster, freePorts, readBackingStack, startCluster, until } from '@pf/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { create, PARTITIONS } from './messages.ts';
import { CommandClient, REPLY_SECRET } from './running-writer.ts';

// The machine may be busy with the other processes of the stack.
let cluster: Cluster;
let client: CommandClient;
const started: Service[] = [];

/** It starts from its sources, within seconds; on a busy machine it takes much longer. */
const START_MS = 90_000;

interface Service {
  readonly process: ChildProcess;
  readonly url: string;
  /** Its output, and its exit code when all of it is there. */
  output(): string;
  readonly exited: Promise<number | null>;
}

beforeAll(async () => {
  cluster = await startCluster();
  client = await CommandClient.open(cluster.log, cluster.database);
});

afterEach(async () => {
  for (const { process, exited } of started.splice(0)) {
    process.kill('SIGKILL');
    await exited;
  }
});

afterAll(async () => {
  await client.close();
  await cluster.close();
});

/** The service in its own process, run from its sources. */
async function start(change: Record<string, string> = {}): Promise<Service> {
  const stack = readBackingStack();
  const [port = 0] = await freePorts(1);
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', path.join(import.meta.dirname, '../src/main.ts')],
    {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: cluster.databaseUrl,
        REDIS_URL: stack.redis,
        REPLY_SECRET,
        OBSERVATION_SECRET: 'a secret of tests and their watchers',
        KAFKA_BROKERS: stack.kafka,
        KAFKA_PARTITIONS: String(PARTITIONS),
        KAFKA_PREFIX: cluster.prefix,
        KAFKA_SESSION_TIMEOUT_MS: '1000',
        HEALTH_PORT: String(port),
        ...change,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const service = {
    process: child,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    exited: once(child, 'close').then(([code]) => code as number | null),
  };
  started.push(service);
  return service;
}
const isReady = (service: Service) =>
  until(`readiness: ${service.output()}`, async () => (await fetch(`${service.url}/readyz`)).ok, START_MS);

describe('The intent service', () => {
  it('becomes ready, decides commands, expires due intents, and stops within moments after SIGTERM', async () => {
    const service = await start();
    await isReady(service);
    // It may lose its group for a moment when the machine is busy.
    const health = await until('it to be ready still', async () => {
      const response = await fetch(`${service.url}/readyz`);
      return response.ok && (await response.json());
    });
    expect(health).toEqual({
      status: 'ok',
      checks: { kafka: 'ok', database: 'ok', clock: 'ok' },
      clock: { standing: 'right', offsets: { kafka: expect.any(Number), postgres: expect.any(Number) } },
    });
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    const { intent } = await client.execute(create({ ttlSeconds: 1 }));
    await until(
      'its expiry',
      async () =>
        (
          await cluster.database.sql.query("SELECT FROM ledger.intents WHERE id = $1 AND status = 'expired'", [
            intent?.id,
          ])
        ).rows.length === 1,
    );

    service.process.kill('SIGTERM');
    const stoppedAt = performance.now();
    expect(await service.exited).toBe(0);
    // Otherwise it is ended by force, after 25 s.
    expect(performance.now() - stoppedAt).toBeLessThan(20_000);
    expect(service.output()).toContain('"outcome":"closed"');
  });

  it('loses no command when one instance stops while another starts', async () => {
    const first = await start();
    await isReady(first);
    const commands = Array.from({ length: 300 }, () => create());
    let next = 0;
    const sendCreates = async (): Promise<void> => {
      for (let command = commands[next++]; command !== undefined; command = commands[next++])
        await client.execute(command);
    };
    const sending = Promise.all(Array.from({ length: 8 }, sendCreates));
    const second = await start();
    await isReady(second);
    first.process.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    await sending;
    for (const { commandId } of commands) expect(client.repliesTo(commandId)[0]?.outcome.kind).toBe('accepted');
  });

  it('does not serve while the topics have another number of partitions than configured, and says so', async () => {
    const service = await start({ KAFKA_PARTITIONS: '4', LOG_LEVEL: 'warn' });
    await until('it to wait for the topics', async () => {
      expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ status: 'starting', waits_for: ['kafka'] });
      return true;
    });
    expect(service.output()).toMatch(/has partitions \d+, not 4/);
    // Nothing need be waited for.
    service.process.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });

  it('refuses to start without a required variable and names it', async () => {
    const service = await start({ REDIS_URL: '' });
    expect(await service.exited).toBe(78);
    expect(service.output()).toMatch(/REDIS_URL: is not set/);
  });
});
