import { newIntentId } from '@pf/contracts';
import { createReplay, inTransaction, managedEndpoints, updateManagedEndpoint } from '@pf/database';
import { recordTo } from '@pf/runtime';
import { until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookService } from '../src/index.ts';
import { Harness, type Respond, status } from './harness.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Longer than a test lasts, whatever the test's clock says. */
const NEVER_MS = 600_000;

describe('The delay of a first attempt', () => {
  let harness: Harness;
  let delays: number[];
  beforeEach(async () => {
    delays = [];
    recordTo({
      add: () => undefined,
      record: (name, value) => void (name === 'payments.delivery.first_attempt.delay' && delays.push(value)),
    });
    harness = await Harness.open();
  });
  afterEach(async () => {
    await harness.close();
    recordTo(null);
  });
  const late = () => delays.filter((seconds) => seconds > 5);
  const recorded = (accountId: string, count: number) =>
    until('the deliveries to be due', async () => (await harness.deliveries(accountId)).length === count);
  const change = async (accountId: string, paused: boolean) => {
    const owner = { accountId: accountId as never, livemode: false };
    const [{ id } = { id: '' }] = await managedEndpoints(harness.cluster.database, owner);
    return updateManagedEndpoint(harness.cluster.database, owner, id, { paused }, new Date(harness.clock));
  };

  it('does not contain for how long the account had paused its URL', async () => {
    const { account, receiver } = await harness.account(status(200));
    const service = await harness.start();
    await harness.emit(account.id);
    await until('the URL to be known', () => receiver.received.length === 1);
    await change(account.id, true);
    await harness.emitMany(account.id, 20);
    await recorded(account.id, 21);
    harness.clock += HOUR_MS;
    await change(account.id, false);
    await service.sweep();
    await until('all to arrive', () => receiver.received.length === 21);
    expect([delays.length, late()]).toEqual([21, []]);
  });

  it('does not contain for how long the URL failed, nor how long its backlog takes', async () => {
    let code = 500;
    const { account, receiver } = await harness.account((...asked) => {
      if (code === 200) harness.clock += 100;
      status(code)(...asked);
    });
    const service = await harness.start();
    await harness.emitMany(account.id, 3);
    await until('three failures', () => receiver.received.length === 3);
    await harness.emitMany(account.id, 100);
    await recorded(account.id, 103);
    code = 200;
    harness.clock += HOUR_MS;
    await service.sweep();
    await until('all to be delivered', async () =>
      (await harness.deliveries(account.id)).every((delivery) => delivery.status === 'delivered'),
    );
    expect([delays.length, late()]).toEqual([103, []]);
  });

  it('does not contain for how long the receiver took for the deliveries before', async () => {
    const held: (() => void)[] = [];
    const { account, receiver } = await harness.account((...asked) => held.push(() => status(200)(...asked)));
    await harness.start({ sendTimeoutMs: NEVER_MS });
    await harness.emitMany(account.id, 12);
    await recorded(account.id, 12);
    for (let count = 0; count < 12; count = receiver.received.length) {
      await until('an attempt', () => held.length > 0);
      // What was not read by now has waited for us once. Who waits for the receiver does so several times.
      harness.clock += 4_000;
      for (const respond of held.splice(0)) respond();
      await until('the next attempt, or the end', async () => held.length > 0 || receiver.received.length === 12);
    }
    expect([delays.length, late()]).toEqual([12, []]);
  });

  it('contains for how long no process ran, but not for how long the receiver took before', async () => {
    const held: (() => void)[] = [];
    const { account } = await harness.account((...asked) => held.push(() => status(200)(...asked)));
    const start = async () => {
      const service = await harness.start({ sendTimeoutMs: NEVER_MS });
      await until('an attempt', () => held.length > 0);
      return service;
    };
    const stop = async (service: WebhookService): Promise<void> => {
      let stopped = false;
      const stopping = service.stop().then(() => (stopped = true));
      await until('the process to stop', () => {
        for (const respond of held.splice(0)) respond();
        return stopped;
      });
      await stopping;
    };
    // More than are sent while the process stops.
    await harness.emitMany(account.id, 600);
    const first = await start();
    await recorded(account.id, 600);
    harness.clock += 10_000;
    await stop(first);
    const second = await start();
    expect(late()).toEqual([]);
    await stop(second);
    harness.clock += MINUTE_MS;
    const third = await start();
    expect(late()).toEqual([60]);
    await stop(third);
  });

  it('does not contain for how long the account had its most under way when the process was restarted', async () => {
    let held: (() => void)[] | null = null;
    const respond: Respond = (...asked) => {
      if (held) held.push(() => status(200)(...asked));
      else status(200)(...asked);
    };
    const { account, receiver } = await harness.account(respond);
    const receivers = [receiver];
    while (receivers.length < 4) receivers.push(await harness.receiver(account.id, respond));
    const service = await harness.start({ sendTimeoutMs: NEVER_MS });
    const arrived = () => receivers.reduce((sum, { received }) => sum + received.length, 0);
    // Then each URL has its most slots.
    await harness.emitMany(account.id, 8);
    await until('all to arrive', () => arrived() === 32);
    const begun: (() => void)[] = (held = []);
    await harness.emitMany(account.id, 8);
    await until('the account to have its most under way', () => begun.length === 32);
    const waiting = await harness.receiver(account.id, status(200));
    await harness.emit(account.id);
    await recorded(account.id, 69);
    // Once another account's delivery has arrived, the one before it was read.
    const other = await harness.account(status(200));
    await harness.emit(other.account.id);
    await until('the delivery of another account', () => other.receiver.received.length === 1);
    harness.clock += 10_000;
    held = null;
    const stopping = service.stop();
    const next = await harness.start();
    await until('the other process to go on', async () => {
      await next.sweep();
      return waiting.received.length === 1;
    });
    for (const end of begun) end();
    await stopping;
    await until('the last to arrive', () => arrived() === 68);
    expect([delays.length, late()]).toEqual([70, []]);
  });

  it('does not contain for how long the receiver took for the event of the intent before', async () => {
    let held: (() => void)[] | null = null;
    const { account, receiver } = await harness.account((...asked) => {
      if (held) held.push(() => status(200)(...asked));
      else status(200)(...asked);
    });
    await harness.start({ sendTimeoutMs: NEVER_MS });
    for (let count = 1; count <= 3; count += 1) {
      await harness.emit(account.id);
      await until('the URL to have several slots', () => receiver.received.length === count);
    }
    held = [];
    const intentId = newIntentId(0);
    for (const version of [1, 2]) await harness.emit(account.id, { intentId, version });
    await recorded(account.id, 5);
    // The second is behind the first: another intent's event is attempted, though it came later.
    await harness.emit(account.id);
    await until('both intents', () => held?.length === 2);
    harness.clock += MINUTE_MS;
    for (const respond of held.splice(0)) respond();
    await until('the second event', () => receiver.received.length === 6);
    for (const respond of held) respond();
    expect([delays.length, late()]).toEqual([6, []]);
  });

  it('is none for what a replay sends to another URL', async () => {
    const { account, receiver } = await harness.account(status(200));
    const since = new Date(harness.clock - 1_000);
    const service = await harness.start();
    await harness.emitMany(account.id, 5);
    await until('all to arrive', () => receiver.received.length === 5);
    await service.stop();
    harness.clock += HOUR_MS;
    const other = await harness.receiver(account.id, status(200));
    const owner = { accountId: account.id, livemode: false };
    const [from, to] = await managedEndpoints(harness.cluster.database, owner);
    const now = new Date(harness.clock);
    const replay = { since, until: now, endpointId: from?.id ?? '', toEndpointId: to?.id ?? '', eventTypes: null };
    await inTransaction(harness.cluster.database, (client) =>
      createReplay(client, owner, { ...replay, status: 'all' }, now),
    );
    await harness.start();
    await until('the other URL to get all', async () => {
      harness.clock += 100;
      return other.received.length === 5;
    });
    expect([delays.length, late()]).toEqual([5, []]);
  });

  it('contains for how long the service did not read the event', async () => {
    const { account, receiver } = await harness.account(status(200));
    await harness.emit(account.id);
    harness.clock += MINUTE_MS;
    await harness.start();
    await until('it to arrive', () => receiver.received.length === 1);
    expect(delays).toEqual([60]);
  });

  it('contains for how long the event was not projected, also right after the URL was resumed', async () => {
    const { account, receiver } = await harness.account(status(200));
    await harness.start();
    for (const paused of [true, false]) await change(account.id, paused);
    const emitted = await harness.emit(account.id, { projected: false });
    await recorded(account.id, 1);
    harness.clock += MINUTE_MS;
    await harness.project(emitted);
    await until('it to arrive', () => receiver.received.length === 1);
    expect(delays).toEqual([60]);
  });
});
