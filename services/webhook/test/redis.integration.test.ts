import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import { startTcpProxy, until, via } from '@pf/testing';
import { Harness, status } from './harness.ts';

/** A database of Redis that no other test uses: it is emptied as a whole. */
const REDIS_DATABASE = 13;
const SWEEP_MS = 10_000;

describe('The webhook service', () => {
  let harness: Harness;
  let redisUrl: string;
  beforeEach(async () => {
    harness = await Harness.open();
    redisUrl = new URL(`/${REDIS_DATABASE}`, harness.redisUrl).href;
  });
  afterEach(() => harness.close());

  it('schedules outstanding deliveries again within 60 seconds after Redis was emptied', async () => {
    const redis = openConnection(redisUrl, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });
    harness.onClose(() => redis.disconnect());
    const service = await harness.start({ redisUrl });
    let code = 500;
    const { account, receiver } = await harness.account((received, response) => status(code)(received, response));
    for (let count = 0; count < 2; count += 1) await harness.emit(account.id);
    await until('all to have failed once', async () => {
      const all = await harness.deliveries(account.id);
      return all.length === 2 && all.every(({ responseStatus }) => responseStatus === 500);
    });
    // The first retries come after 48 … 72 s: from here a sweep schedules all of them ahead, as delayed jobs.
    harness.clock += 45_000;
    code = 200;
    await service.sweep();
    const delayed = `${harness.cluster.prefix}{pf-webhook}:wakes:delayed`;
    await until('their URL to be in Redis', async () => (await redis.zcard(delayed)) > 0);
    // At once: the service goes on.
    expect((await redis.multi().flushdb().dbsize().exec())?.at(-1)).toEqual([null, 0]);

    const began = performance.now();
    harness.clock += 60_000;
    await until(
      'all to be delivered',
      async () => (await harness.deliveries(account.id)).every((delivery) => delivery.status === 'delivered'),
      60_000,
    );
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(receiver.received).toHaveLength(4);
  });

  it('sends while Redis is unavailable', async () => {
    const proxy = await startTcpProxy(new URL(redisUrl).host);
    harness.onClose(() => proxy.close());
    await proxy.cut();
    const service = await harness.start({ redisUrl: via(redisUrl, proxy.address) });
    const { account, receiver } = await harness.account(status(200));
    const began = performance.now();
    for (let count = 1; count <= 4; count += 1) {
      await harness.emit(account.id);
      await until('the delivery to arrive', () => receiver.received.length === count);
    }
    // Had each to wait for a sweep, they would take longer.
    expect(performance.now() - began).toBeLessThan(3 * SWEEP_MS);
    expect(await service.redisReady()).toBe(false);

    await proxy.restore();
    await until('Redis to be seen again', () => service.redisReady());
    await harness.emit(account.id);
    await until('another to arrive', () => receiver.received.length === 5);
    expect(service.live()).toBe(true);
  });
});
