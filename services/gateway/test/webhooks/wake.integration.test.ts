import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WakeWorker } from '@pf/redis/wakes';
import { createLogger } from '@pf/runtime';
import { readBackingStack, until } from '@pf/testing';
import { LateWakeQueue } from '../../src/webhooks/wake.ts';

const log = createLogger('test', 'silent');
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('the queue of wakes of a gateway', () => {
  it('hands its first wake to a webhook service, though it opens only then', async () => {
    const options = { redisUrl: readBackingStack().redis, prefix: `${randomUUID()}:`, log };
    const woken: string[] = [];
    const worker = new WakeWorker(options, (endpointId) => woken.push(endpointId));
    closing.push(() => worker.close());
    const queue = new LateWakeQueue(options);
    closing.push(() => queue.close());
    await queue.wake(['we_1']);
    await until('the wake', () => woken.length > 0);
    await queue.wake(['we_2']);
    await until('the next one', () => woken.length > 1);
    expect(woken).toEqual(['we_1', 'we_2']);
  });

  it('keeps few wakes of a URL while no webhook service takes them, however many it is asked for', async () => {
    const options = { redisUrl: readBackingStack().redis, prefix: `${randomUUID()}:`, log };
    const queue = new LateWakeQueue(options);
    closing.push(() => queue.close());
    await queue.wake(['we_1']);
    const began = Date.now();
    await Promise.all(Array.from({ length: 100 }, () => queue.wake(['we_1'])));
    const seconds = 2 + Math.floor((Date.now() - began) / 1_000);
    const woken: string[] = [];
    const worker = new WakeWorker(options, (endpointId) => woken.push(endpointId));
    closing.push(() => worker.close());
    await queue.wake(['we_2']);
    await until('the last wake', () => woken.includes('we_2'));
    expect(woken.length - 1).toBeLessThanOrEqual(seconds);
  });

  it('rejects a wake where Redis is unavailable, and closes', async () => {
    const queue = new LateWakeQueue({ redisUrl: 'redis://127.0.0.1:9', prefix: 'x:', log });
    closing.push(() => queue.close());
    await expect(queue.wake(['we_1'])).rejects.toThrow();
  });

  it('closes where it was never opened', async () => {
    await new LateWakeQueue({ redisUrl: 'redis://127.0.0.1:9', prefix: 'x:', log }).close();
  });
});
