import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReplicatedRedis, startRedisCluster, startSentinels } from '@pf/local/replicated-redis';
import { ChannelPublisher, ChannelSubscriber, RedisClient } from '@pf/redis';
import { WakeQueue, WakeWorker } from '@pf/redis/wakes';
import { createLogger } from '@pf/runtime';
import { until } from '@pf/testing';

const log = createLogger('gateway', 'silent');
const withoutRedis = 'the test fails';
/** Enough for some on each node of a cluster. */
const KEYS = Array.from({ length: 50 }, (_, index) => `pf:test:${index}`);

describe.each([
  ['Redis behind sentinels', startSentinels],
  ['A Redis cluster', startRedisCluster],
])('%s', (_, start) => {
  let folder: string;
  let redis: ReplicatedRedis;
  let client: RedisClient;
  let publisher: ChannelPublisher;
  let subscriber: ChannelSubscriber;
  let queue: WakeQueue;
  let worker: WakeWorker;
  const received = new Set<string>();
  const woken = new Set<string>();

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'pf-redis-'));
    redis = await start(folder);
    const { url } = redis;
    client = new RedisClient(url, { log, withoutRedis });
    client.open();
    publisher = new ChannelPublisher(url, { log, withoutRedis });
    const listener = { message: (_channel: string, text: string) => void received.add(text) };
    subscriber = new ChannelSubscriber(url, listener, { log, withoutRedis });
    subscriber.open();
    queue = new WakeQueue({ redisUrl: url, prefix: 'test.', log });
    worker = new WakeWorker({ redisUrl: url, prefix: 'test.', log }, (endpointId) => void woken.add(endpointId));
  });
  afterAll(async () => {
    client.close();
    subscriber.close();
    await Promise.all([publisher.close(), queue.close(), worker.close()]);
    await redis.close();
    await rm(folder, { recursive: true, force: true });
  });

  const count = (key: string): Promise<unknown> => client.run('count', "return redis.call('INCR', KEYS[1])", [key], []);
  /** Each of them is tried until it works: what is sent during a failover may be lost. */
  const everythingWorks = async (): Promise<void> => {
    const channel = `pf:test:${randomUUID()}`;
    await subscriber.subscribe(channel);
    await until('a message to arrive', () => {
      const text = randomUUID();
      publisher.publish([{ channel, text }]);
      return until('it to arrive', () => received.has(text), 1_000);
    });
    for (const key of KEYS) await until(`the script to run on ${key}`, async () => (await count(key)) !== null);
    await until('a wake to arrive', async () => {
      const endpointId = randomUUID();
      await queue.wake([endpointId]);
      return until('it to arrive', () => woken.has(endpointId), 5_000);
    });
    await until('a later wake to arrive', async () => {
      const [endpointId, now] = [randomUUID(), Date.now()];
      await queue.wakeAt([{ endpointId, at: new Date(now + 50) }], now);
      return until('it to arrive', () => woken.has(endpointId), 5_000);
    });
    expect(await queue.ready(10_000)).toBe(true);
  };

  it('runs scripts on every key, delivers messages and wakes', everythingWorks);

  it('runs scripts, delivers messages and wakes after a failover under load', async () => {
    let running = true;
    const load = (async () => {
      for (let sent = 0; running; sent++) {
        publisher.publish([{ channel: 'pf:test:load', text: String(sent) }]);
        // It waits a quarter of a second at most, and returns null then.
        await count(KEYS[sent % KEYS.length] ?? '');
        await new Promise(setImmediate);
      }
    })();
    try {
      await redis.failOver();
      await everythingWorks();
    } finally {
      running = false;
      await load;
    }
  });
});
