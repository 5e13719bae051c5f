import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { connect, type Socket } from 'node:net';
import { type ApiClient, apiClient, type Cluster, type OpenStream, startCluster, until } from '@pf/testing';

jest.setTimeout(120_000);

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const INTENTS = 5;
const STREAMS = 500;
const STORM = { clients: 32, creates: 800 } as const;
/** The longest acceptable response time, on a machine that may be busy. */
const PATIENCE_MS = 10_000;

describe('a gateway under load', () => {
  let cluster: Cluster;
  let url: string;
  let client: ApiClient;
  const idle: Socket[] = [];
  const streams: OpenStream[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    url = gateway.url;
    client = apiClient(`${url}/v1`, cluster.apiKeys.test);
  });
  afterAll(async () => {
    for (const socket of idle) socket.destroy();
    for (const stream of streams) stream.close();
    await cluster.close();
  });

  it('stays responsive with 500 open streams, never-ending headers and a burst of creates', async () => {
    const ids: string[] = [];
    for (let n = 0; n < INTENTS; n++) ids.push((await client.create(good)).body.intent.id);
    for (let n = 0; n < STREAMS; n += 50)
      streams.push(
        ...(await Promise.all(Array.from({ length: 50 }, (_, m) => client.follow(ids[(n + m) % INTENTS] ?? '')))),
      );
    await until('every stream to have begun', () => streams.every(({ messages }) => messages.length === 1), 60_000);
    for (let n = 0; n < 100; n++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
        .on('error', () => undefined)
        .resume();
      socket.write('GET /v1/intents HTTP/1.1\r\nX-Slow: ');
      idle.push(socket);
    }

    let made = 0;
    const statuses = new Map<number, number>();
    const storm = Promise.all(
      Array.from({ length: STORM.clients }, async () => {
        while (made++ < STORM.creates) {
          const { status } = await client.create(good);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
    const others: { readonly status: number; readonly ms: number }[] = [];
    const ask = async (): Promise<void> => {
      const began = performance.now();
      const { status } = await client.get(ids[others.length % INTENTS] ?? '');
      others.push({ status, ms: performance.now() - began });
    };
    const moved = client.simulate(ids[0] ?? '', 'finalized');
    while (made < STORM.creates) await ask();
    await storm;
    expect((await moved).status).toBe(200);
    // A create may time out, but nothing else may fail.
    expect([...statuses.keys()].filter((status) => status !== 201 && status !== 503)).toEqual([]);
    expect(statuses.get(201)).toBeGreaterThan(STORM.creates / 2);
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter(({ status, ms }) => status !== 200 || ms > PATIENCE_MS)).toEqual([]);
    const following = streams.filter((_, n) => n % INTENTS === 0);
    expect(await Promise.all(following.map(({ ended }) => ended))).toEqual(following.map(() => true));
    for (const { messages } of following) expect(messages.at(-1)?.event).toBe('intent.finalized');
    // Connections with never-ending headers are closed meanwhile, others are not.
    await until('the slow heads to be cut off', () => idle.every(({ destroyed }) => destroyed), 40_000);
    expect(streams.filter((_, n) => n % INTENTS !== 0).every(({ messages }) => messages.length === 1)).toBe(true);
  });
});
