import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Brokers, startBrokers } from '@pf/local/brokers';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  readSettledLog,
  startCluster,
  startTcpProxy,
  type TcpProxy,
  until,
} from '@pf/testing';

const request = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '2',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

const LOG_LINES = 60;

describe('the service during an outage', () => {
  const stack = readBackingStack();
  const proxies: TcpProxy[] = [];
  let folder: string;
  /** A broker that no other test uses: it is stopped for a while. */
  let brokers: Brokers;
  let cluster: Cluster;
  let gateways: readonly [Instance, Instance];
  let clients: readonly [ApiClient, ApiClient];
  let writer: Instance;
  let writersDatabase: TcpProxy;
  let redis: TcpProxy;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-outages-'));
    brokers = await startBrokers({ count: 1, folder });
    cluster = await startCluster({ ...stack, kafka: brokers.addresses });
    writersDatabase = await startTcpProxy(new URL(stack.database).host);
    redis = await startTcpProxy(new URL(stack.redis).host);
    proxies.push(writersDatabase, redis);
    const detours = { redis: redis.address };
    [gateways, writer] = await Promise.all([
      Promise.all([cluster.start('gateway', { detours }), cluster.start('gateway', { detours })]),
      cluster.start('intent', { detours: { ...detours, database: writersDatabase.address } }),
    ]);
    clients = [
      apiClient(`${gateways[0].url}/v1`, cluster.apiKeys.test),
      apiClient(`${gateways[1].url}/v1`, cluster.apiKeys.test),
    ];
  });
  afterAll(async () => {
    await cluster.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await brokers.close();
    await rm(folder, { recursive: true });
  });

  /** Expects that every acknowledged intent exists exactly once, and the log is consistent. */
  async function expectOnce(keys: ReadonlyMap<string, string>): Promise<void> {
    const { intents, problems } = await readSettledLog(cluster, 30_000);
    expect(problems).toEqual([]);
    for (const [key, id] of keys)
      expect(
        [...intents.values()].filter(({ idempotencyKey }) => idempotencyKey === key).map((intent) => intent.id),
      ).toEqual([id]);
  }
  async function createdWith(client: ApiClient, idempotencyKey: string): Promise<string> {
    const responses: string[] = [];
    try {
      return await until(`a create with the key ${idempotencyKey}`, async () => {
        const { status, body } = await client.create({ ...request, idempotencyKey });
        responses.push(`${status} ${body.error?.code ?? body.intent.id}`);
        return [200, 201].includes(status) && body.intent.id;
      });
    } catch (error) {
      throw new Error(`responses: ${responses.join(', ')}; ${await describeWriter()}`, { cause: error });
    }
  }
  /** What a failure is explained by: the writer's readiness and the end of its log. */
  async function describeWriter(): Promise<string> {
    const state = await fetch(`${writer.url}/readyz`).then(
      (response) => response.text(),
      (error: Error) => error.message,
    );
    const lines = (await readFile(writer.log, 'utf8')).trimEnd().split('\n');
    return `the writer is ${state}, and its log ends with\n${lines.slice(-LOG_LINES).join('\n')}`;
  }

  it('creates one intent from 100 concurrent creates with one idempotency key at two gateways', async () => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        (n % 2 === 0 ? clients[0] : clients[1]).create({ ...request, idempotencyKey: 'once' }),
      ),
    );
    expect(new Set(responses.map(({ body }) => body.intent.id)).size).toBe(1);
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array<number>(99).fill(200), 201]);
    await expectOnce(new Map([['once', responses[0]?.body.intent.id ?? '']]));
  });

  it('acknowledges nothing unprojected without the writer’s Postgres, and decides each command once', async () => {
    await writersDatabase.cut();
    const doubtful = await clients[0].create({ ...request, idempotencyKey: 'no-postgres' });
    expect([doubtful.status, doubtful.body.error?.code]).toEqual([503, 'service.unavailable']);
    expect(doubtful.body.error?.details).toMatchObject({
      retry_after: expect.any(Number),
      intent_id: expect.stringMatching(/^pi_/),
    });
    expect(doubtful.headers.get('retry-after')).toMatch(/^\d+$/);
    await writersDatabase.restore();
    const id = await createdWith(clients[0], 'no-postgres');
    await expectOnce(new Map([['no-postgres', id]]));
  });

  it('responds to every request without Redis, more slowly', async () => {
    await redis.cut();
    const ids = new Map<string, string>();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) => clients[0].create({ ...request, idempotencyKey: `no-redis-${n}` })),
    );
    for (const [n, { status, body }] of responses.entries()) {
      expect([status, body.error]).toEqual([201, undefined]);
      ids.set(`no-redis-${n}`, body.intent.id);
    }
    await redis.restore();
    await expectOnce(ids);
  });

  it('returns 503 and no false 201 without Kafka, and recovers with it', async () => {
    const [broker] = brokers.nodes;
    broker?.suspend();
    let response;
    try {
      response = await clients[1].create({ ...request, idempotencyKey: 'no-kafka' });
    } finally {
      broker?.resume();
    }
    expect([response.status, response.body.error?.code]).toEqual([503, 'service.unavailable']);
    const id = await createdWith(clients[1], 'no-kafka');
    await expectOnce(new Map([['no-kafka', id]]));
  });

  it('loses no request during a rolling restart of the writer', async () => {
    const ids = new Map<string, string>();
    let over = false;
    const load = (async () => {
      for (let n = 0; !over; n++) {
        const { status, body } = await clients[0].create({ ...request, idempotencyKey: `rolling-${n}` });
        expect([status, body.error]).toEqual([201, undefined]);
        ids.set(`rolling-${n}`, body.intent.id);
      }
    })();
    const second = await cluster.start('intent');
    await until('some creates', () => ids.size > 20);
    second.kill('SIGTERM');
    expect(await second.exited).toEqual({ code: 0, signal: null });
    const before = ids.size;
    await until('creates after the restart', () => ids.size > before + 20);
    over = true;
    await load;
    await expectOnce(ids);
  });
});
