import { until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createReplay, findReplay, inTransaction, type Replay } from '@pf/database';
import { Harness, status } from './harness.ts';

const EVENTS = 12;

describe('Replays', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.open();
  });
  afterEach(() => harness.close());

  it('send what was delivered again, once each, by whatever process is there', async () => {
    const { account, receiver } = await harness.account(status(200));
    const clock = { now: Date.now };
    const first = await harness.start(clock);
    const since = new Date();
    for (let n = 0; n < EVENTS; n++) await harness.emit(account.id);
    await until('all events', () => receiver.received.length === EVENTS);
    await until('their results', async () =>
      (await harness.deliveries(account.id)).every(({ deliveredAt }) => deliveredAt !== null),
    );
    const owner = { accountId: account.id, livemode: false };
    const selection = { since, endpointId: null, toEndpointId: null, eventTypes: null, status: 'all' as const };
    const { id } = (await inTransaction(harness.cluster.database, (client) =>
      createReplay(client, owner, { ...selection, until: new Date() }, new Date()),
    )) as Replay;
    // The next process has a rate of its own, and goes on behind the last one's step.
    await first.stop();
    const second = await harness.start({ ...clock, replaysPerSecond: 1 });
    await until('a first step', () => receiver.received.length > EVENTS);
    await second.stop();
    expect((await findReplay(harness.cluster.database, owner, id))?.state).toBe('sending');
    await harness.start(clock);
    const replay = await until('its end', async () => {
      const found = await findReplay(harness.cluster.database, owner, id);
      return found?.state === 'completed' ? found : null;
    });
    expect(replay).toMatchObject({ total: EVENTS, sent: EVENTS, delivered: EVENTS, failed: 0, skipped: 0 });
    const times = Map.groupBy(receiver.received, ({ headers }) => headers['webhook-id']);
    expect([...times.values()].map(({ length }) => length)).toEqual(Array.from({ length: EVENTS }, () => 2));
  });
});
