import { until } from '@pf/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Harness, type Receiver, type Respond, status } from './harness.ts';

/** Longer than a test lasts, so that an attempt that hangs is the only one. */
const NEVER_MS = 600_000;
/** More than a lane reads at once. */
const WAITING = 150;
const ROUNDS = 4;
/** Accounts that would take all places of a process, and more, if each had all that it may. */
const OWNERS = 14;
/** Of test mode, for quick and for slow URLs. */
const SLOTS = 300;

describe('An endpoint', () => {
  let harness: Harness;
  afterEach(() => harness.close());

  it('does not wait for another endpoint that hangs with 200 deliveries outstanding', async () => {
    harness = await Harness.open();
    await harness.start({ sendTimeoutMs: NEVER_MS });
    const hanging = await harness.account(() => undefined);
    const quick = await harness.account(status(200));
    await harness.emitMany(hanging.account.id, 200);
    await until('the endpoint to hang', () => hanging.receiver.received.length === 1);
    // Behind an endpoint that hangs it would wait longer than this test does.
    for (let count = 1; count <= 20; count += 1) {
      await harness.emit(quick.account.id);
      await until('the quick endpoint to receive it', () => quick.receiver.received.length === count);
    }
    expect(hanging.receiver.received).toHaveLength(1);
  });

  it('gets live events, and quick URLs test events, while slow ones hold all that they may in test mode', async () => {
    harness = await Harness.open();
    await harness.start({ sendTimeoutMs: NEVER_MS });
    let hangs = false;
    const hanging: Respond = (received, response) => {
      if (!hangs) status(200)(received, response);
    };
    const { account, receiver } = await harness.account(hanging);
    const receivers = [receiver];
    for (let more = 0; more < 5; more += 1) receivers.push(await harness.receiver(account.id, hanging));
    const live = await harness.receiver(account.id, status(200), true);
    await harness.emitMany(account.id, 20);
    await until('all to accept', () => receivers.every(({ received }) => received.length === 20));
    hangs = true;
    await harness.emitMany(account.id, 20);
    // What an account has under way at most.
    await until('them to hang', () => receivers.reduce((sum, { received }) => sum + received.length - 20, 0) >= 32);
    await harness.emit(account.id, { livemode: true });
    await until('the live event', () => live.received.length === 1);
    // Those that are held for so long that they are late leave slots to a URL of the same mode, too.
    const quick = await harness.receiver(account.id, status(200));
    await harness.emit(account.id);
    await until('the event of the quick URL', () => quick.received.length === 1);
  });

  it('gets all its events, four at a time, where it is slow', async () => {
    harness = await Harness.open();
    // Whatever it holds until the test looks again is late.
    await harness.start({ sendTimeoutMs: NEVER_MS, lateAfterMs: 1 });
    let held: (() => void)[] = [];
    let seen: (() => void)[] = [];
    let most = 0;
    const { account, receiver } = await harness.account((received, response) => {
      held.push(() => status(200)(received, response));
    });
    await harness.emitMany(account.id, 40);
    await until('all to be delivered', async () => {
      most = Math.max(most, held.length + seen.length);
      for (const respond of seen) respond();
      [seen, held] = [held, []];
      return (await harness.deliveries(account.id)).filter((delivery) => delivery.status === 'delivered').length === 40;
    });
    expect(most).toBe(4);
    expect(receiver.received).toHaveLength(40);
  });

  it('gets its first event while 14 other accounts hold all that they may after they were quick', async () => {
    harness = await Harness.open();
    await harness.start({ sendTimeoutMs: NEVER_MS });
    let holds = false;
    const owners: { account: { id: string }; receivers: Receiver[]; held: () => number }[] = [];
    for (let owner = 0; owner < OWNERS; owner += 1) {
      let held = 0;
      const respond: Respond = (received, response) => {
        if (holds) held += 1;
        else status(200)(received, response);
      };
      const { account, receiver } = await harness.account(respond);
      const receivers = [receiver];
      for (let more = 0; more < 3; more += 1) receivers.push(await harness.receiver(account.id, respond));
      owners.push({ account, receivers, held: () => held });
    }
    for (const { account } of owners) await harness.emitMany(account.id, 8);
    await until('all to accept', () =>
      owners.every(({ receivers }) => receivers.every(({ received }) => received.length === 8)),
    );
    holds = true;
    for (const { account, held } of owners) {
      await harness.emitMany(account.id, 10);
      await until('its first event to be attempted', () => held() > 0);
    }
    const other = await harness.account(status(200));
    await harness.emit(other.account.id);
    await until('the event of another account', () => other.receiver.received.length === 1);
    // What they hold is late after 2 s, and takes no slot from then on: so they come to hold more than there are, and
    // another account gets more than one of those that are kept.
    await until(
      'more to be held than there are slots',
      () => owners.reduce((sum, { held }) => sum + held(), 0) > SLOTS,
    );
    const hanging = await harness.account(() => undefined);
    const second = await harness.receiver(hanging.account.id, status(200));
    await harness.emit(hanging.account.id);
    await until('the event at both URLs of a third', () =>
      [hanging.receiver, second].every(({ received }) => received.length === 1),
    );
  });

  it('receives what waited while it was slow as soon as it responds, without a sweep', async () => {
    harness = await Harness.open();
    await harness.start({ sendTimeoutMs: NEVER_MS });
    let held: (() => void)[] = [];
    let responding = false;
    const { account, receiver } = await harness.account((received, response) => {
      if (responding) status(200)(received, response);
      else held.push(() => status(200)(received, response));
    });
    let began: number | null = null;
    for (let round = 1; round <= ROUNDS; round += 1) {
      [held, responding] = [[], false];
      await harness.emitMany(account.id, WAITING);
      await until(
        'all deliveries to wait for those that are held',
        async () => held.length > 0 && (await harness.deliveries(account.id)).length === round * WAITING,
      );
      responding = true;
      began ??= performance.now();
      for (const respond of held) respond();
      await until('all to be delivered', async () =>
        (await harness.deliveries(account.id)).every((delivery) => delivery.status === 'delivered'),
      );
    }
    // Sweeps come every 10 s: had each round to wait for one, they would take longer, however fast all else is.
    expect(performance.now() - (began ?? 0)).toBeLessThan((ROUNDS - 1) * 10_000);
    expect(receiver.received).toHaveLength(ROUNDS * WAITING);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-pf-delivery-id'])).size).toBe(ROUNDS * WAITING);
  });

  it('receives each event once from two processes, also while one of them stops', async () => {
    harness = await Harness.open();
    const [, second] = [await harness.start(), await harness.start()];
    const { account, receiver } = await harness.account(status(200));
    for (let count = 0; count < 50; count += 1) await harness.emit(account.id);
    const stopping = second.stop();
    for (let count = 0; count < 50; count += 1) await harness.emit(account.id);
    await stopping;
    await until('all to arrive', () => receiver.received.length >= 100);
    await until('all to be recorded', async () =>
      (await harness.deliveries(account.id)).every((delivery) => delivery.status === 'delivered'),
    );
    expect(receiver.received).toHaveLength(100);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-pf-event-id'])).size).toBe(100);
  });

  it('has its response to an attempt under way recorded before the process ends', async () => {
    harness = await Harness.open();
    const service = await harness.start();
    let respond: () => void = () => undefined;
    const { account, receiver } = await harness.account(
      (received, response) => (respond = () => status(200)(received, response)),
    );
    await harness.emit(account.id);
    await until('the attempt to be under way', () => receiver.received.length === 1);
    const stopped = service.stop();
    respond();
    await stopped;
    expect(await harness.deliveries(account.id)).toMatchObject([{ status: 'delivered', attemptCount: 1 }]);
  });
});
