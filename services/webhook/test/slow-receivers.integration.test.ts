import { until } from '@pf/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Harness, status } from './harness.ts';

describe('one URL beside another', () => {
  let stage: Harness;
  afterEach(() => stage.close(), 30_000);

  it('does not wait for one that hangs with 200 deliveries outstanding', async () => {
    stage = await Harness.open();
    await stage.start();
    const hanging = await stage.account(() => undefined);
    const quick = await stage.account(status(200));
    for (let count = 0; count < 200; count += 1) await stage.emit(hanging.account.id);
    await until('the slow lane to be full', () => hanging.receiver.received.length === 8);
    const sentAt: number[] = [];
    const late: number[] = [];
    for (let count = 1; count <= 20; count += 1) {
      const began = performance.now();
      await stage.emit(quick.account.id);
      await until('the quick one to have it', () => quick.receiver.received.length === count);
      sentAt.push(began);
      late.push(performance.now() - began);
    }
    // Behind one that hangs until its time-out of 15 s it would have to wait at least that long.
    expect(Math.max(...late)).toBeLessThan(10_000);
    expect(hanging.receiver.received).toHaveLength(8);
  }, 60_000);

  it('is followed by those that were turned away, without a sweep, as soon as it answers', async () => {
    stage = await Harness.open();
    await stage.start();
    const held: (() => void)[] = [];
    let answering = false;
    const { account, receiver } = await stage.account((received, response) => {
      if (answering) status(200)(received, response);
      else held.push(() => status(200)(received, response));
    });
    await Promise.all(Array.from({ length: 200 }, () => stage.emit(account.id)));
    await until(
      'all to be turned away but 8',
      async () => held.length === 8 && (await stage.deliveries(account.id)).length === 200,
    );
    answering = true;
    const began = performance.now();
    for (const answer of held) answer();
    await until(
      'all to be delivered',
      async () => (await stage.deliveries(account.id)).every((delivery) => delivery.status === 'delivered'),
      12_000,
    );
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(receiver.received).toHaveLength(200);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-pf-delivery-id'])).size).toBe(200);
  }, 60_000);

  it('is sent each event once by two processes that share the work, also while one of them stops', async () => {
    stage = await Harness.open();
    const [, second] = [await stage.start(), await stage.start()];
    const { account, receiver } = await stage.account(status(200));
    for (let count = 0; count < 50; count += 1) await stage.emit(account.id);
    const stopping = second.stop();
    for (let count = 0; count < 50; count += 1) await stage.emit(account.id);
    await stopping;
    await until('all to arrive', () => receiver.received.length >= 100);
    await until('all to be written down', async () =>
      (await stage.deliveries(account.id)).every((delivery) => delivery.status === 'delivered'),
    );
    expect(receiver.received).toHaveLength(100);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-pf-event-id'])).size).toBe(100);
  }, 60_000);

  it('gets the answer to an attempt under way written down before the process ends', async () => {
    stage = await Harness.open();
    const service = await stage.start();
    let answer: () => void = () => undefined;
    const { account, receiver } = await stage.account(
      (received, response) => (answer = () => status(200)(received, response)),
    );
    await stage.emit(account.id);
    await until('the attempt to be under way', () => receiver.received.length === 1);
    const stopped = service.stop();
    answer();
    await stopped;
    expect(await stage.deliveries(account.id)).toMatchObject([{ status: 'delivered', attemptCount: 1 }]);
  }, 60_000);
});
