import { COMMAND_DEADLINE_MS, newIntentId, type Outcome } from '@pf/contracts';
import { OUTCOME_RETENTION_MS } from '@pf/database';
import { CLOCK_TOLERANCE_MS } from '@pf/domain';
import { gateway, samples, watcher } from '@pf/domain/testing';
import { describe, expect, it } from '@jest/globals';
import { BatchDecider, REPLY_TO_HEADER } from '../src/batch-decider.ts';
import { readInput } from '../src/input.ts';
import { create, observed, of, PARTITIONS, TRACE } from './messages.ts';
import { recordAt, decideBatch, eventsOf, NOW, PartitionModel, raw, typesOf } from './batches.ts';

const GATEWAY = 'pf:replies:one';

describe('BatchDecider', () => {
  it('makes an event with its cause, a row, an outcome and a reply with the intent after it', () => {
    const command = create({ metadata: { order: '17' } }, { replyTo: GATEWAY });
    const batch = decideBatch([recordAt(command)]);

    const [event] = eventsOf(batch);
    expect(event).toMatchObject({
      type: 'intent.created',
      intentId: command.intentId,
      version: 1,
      commandId: command.commandId,
      trace: TRACE,
      at: new Date(NOW).toISOString(),
    });
    expect(batch.intents).toMatchObject([
      { before: 0, intent: { id: command.intentId, version: 1, status: 'created' } },
    ]);
    expect(JSON.parse(batch.events[0]?.body ?? '')).toMatchObject({
      eventId: event?.eventId,
      type: 'intent.created',
      data: { intent: { id: command.intentId, metadata: { order: '17' } } },
    });
    expect(batch.outcomes).toMatchObject([
      { outcome: { kind: 'accepted', commandId: command.commandId, intentId: command.intentId }, at: NOW },
    ]);
    expect(batch.replies.get(GATEWAY)).toMatchObject([
      { outcome: { kind: 'accepted' }, intent: { id: command.intentId, state: 'created' } },
    ]);
    expect(batch.records[0]?.headers).toEqual({ [REPLY_TO_HEADER]: GATEWAY });
  });

  it('gives the creation of an intent that more than its amount may pay a version of its own', () => {
    const [made, other] = [create({ accept: 'at_least' }), create()];
    const batch = decideBatch([made, of(made.intentId, gateway.detect()), other].map((message) => recordAt(message)));
    expect(eventsOf(batch).map(({ type, schemaVersion }) => [type, schemaVersion])).toEqual([
      ['intent.created', 3],
      ['intent.detected', 1],
      ['intent.created', 1],
    ]);
  });

  it('decides commands in order, each on the state that the one before left, and makes one row', () => {
    const made = create();
    const batch = decideBatch(
      [made, of(made.intentId, gateway.detect()), of(made.intentId, gateway.cancel())].map((message) =>
        recordAt(message),
      ),
    );
    expect(typesOf(batch)).toEqual(['intent.created', 'intent.detected', 'intent.cancelled']);
    expect(batch.intents).toMatchObject([{ before: 0, intent: { version: 3, status: 'cancelled' } }]);
    expect(batch.events.map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('lets the process do other work while one account changes many intents with much metadata', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key${n}`, '🪙'.repeat(500)]));
    const model = new PartitionModel();
    const made = Array.from({ length: 64 }, () => create({ metadata }, { partition: 0 }));
    const { intents } = model.process(made, NOW);
    const records = intents.map(({ intent: { id, updatedAt } }) =>
      recordAt(of(id, gateway.update({ updatedAt, metadata: { key0: 'changed' } }))),
    );
    const known = { intents: intents.map(({ intent }) => intent), deposits: [], outcomes: [] };
    const decider = new BatchDecider(0, { at: NOW + 1, clock: NOW + 1 }, known);
    let [turns, ended] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!ended) setImmediate(turn);
    };
    setImmediate(turn);
    await decider.processAll(records.map((record) => readInput(record, PARTITIONS)));
    ended = true;
    expect(decider.decided().outcomes.map(({ outcome }) => outcome.kind)).toEqual(made.map(() => 'accepted'));
    // They have 2.5 million characters.
    expect(turns).toBeGreaterThan(15);
  });

  it('gives an event that takes the place of a lost one another id, so that it is delivered, too', () => {
    const made = create();
    const idAfter = (command: typeof made, at: number): string | undefined => {
      const model = new PartitionModel();
      model.process([made], NOW);
      return eventsOf(model.process([command], at))[0]?.eventId;
    };
    const [lost, again] = [gateway.cancel(), gateway.detect()].map((input, n) =>
      idAfter(of(made.intentId, input), NOW + 1 + n),
    );
    expect(lost).toMatch(/^evt_/);
    expect(again).toMatch(/^evt_/);
    expect(again).not.toBe(lost);
  });

  it('decides a repeated command once and replies the same twice', () => {
    const command = create({}, { replyTo: GATEWAY });
    const batch = decideBatch([recordAt(command), recordAt(command)]);
    expect(batch.records).toHaveLength(1);
    expect(batch.outcomes).toHaveLength(1);
    const [first, second] = batch.replies.get(GATEWAY) ?? [];
    expect(second).toEqual(first);
  });

  it('repeats the outcome of a command of an earlier batch, with the intent as it is now', () => {
    const model = new PartitionModel();
    const command = create({}, { replyTo: GATEWAY });
    model.process([command], NOW);
    model.process([of(command.intentId, gateway.cancel())], NOW + 1);
    const again = model.process([command], NOW + COMMAND_DEADLINE_MS + CLOCK_TOLERANCE_MS + 2);
    expect(again).toMatchObject({ records: [], outcomes: [], late: [] });
    expect(again.replies.get(GATEWAY)).toMatchObject([
      { outcome: { kind: 'accepted', intentId: command.intentId }, intent: { state: 'cancelled' } },
    ]);
  });

  it('makes one intent of several creates with one idempotency key', () => {
    const [first, second] = [
      create({ idempotencyKey: 'once' }, { replyTo: GATEWAY }),
      create({ idempotencyKey: 'once' }, { replyTo: GATEWAY }),
    ];
    const batch = decideBatch([recordAt(first), recordAt(second)]);
    expect(batch.records).toHaveLength(1);
    expect(batch.replies.get(GATEWAY)).toMatchObject([
      { outcome: { intentId: first.intentId, replayed: false } },
      {
        outcome: { commandId: second.commandId, intentId: first.intentId, replayed: true },
        intent: { id: first.intentId },
      },
    ]);
  });

  it('leaves no trace of a refused command in the log, even when an expiry came first', () => {
    const model = new PartitionModel();
    const made = create({ ttlSeconds: 60 });
    model.process([made], NOW);
    const cancel = of(made.intentId, gateway.cancel(), GATEWAY);
    const batch = model.process([cancel], NOW + 60_000);
    expect(eventsOf(batch)).toMatchObject([{ type: 'intent.expired', commandId: null }]);
    expect(batch.records[0]?.headers).toBeUndefined();
    expect(batch.outcomes).toMatchObject([
      { outcome: { kind: 'refused', refusal: { code: 'intent.expired', currentState: 'expired' } } },
    ]);
    expect(batch.replies.get(GATEWAY)).toMatchObject([{ outcome: { kind: 'refused' }, intent: null }]);
  });

  it('leaves no trace of a refused command in the log, even when the expiry of a refund released its original', () => {
    const model = new PartitionModel();
    const made = create({}, { partition: 2 });
    const refundId = newIntentId(2);
    model.process([made, of(made.intentId, gateway.simulate('confirmed'))], NOW);
    model.process([of(made.intentId, gateway.refund(refundId))], NOW + 1);
    const cancel = of(refundId, gateway.cancel(), GATEWAY);
    const batch = model.process([cancel], NOW + 1 + 1_000 * samples.TTL_SECONDS);
    expect(eventsOf(batch)).toMatchObject([
      { type: 'intent.expired', intentId: refundId, commandId: null },
      { type: 'refund_released', intentId: made.intentId, commandId: null },
    ]);
    expect(batch.records.map(({ headers }) => headers)).toEqual([undefined, undefined]);
    expect(batch.outcomes).toMatchObject([{ outcome: { kind: 'refused' } }]);
  });

  it('notifies streams of public changes only, and not of intents that are new', () => {
    const model = new PartitionModel();
    const made = create();
    expect(model.process([made], NOW).notices).toEqual([]);
    const build = of(made.intentId, gateway.recordBuild());
    expect(model.process([build], NOW + 1).notices).toEqual([]);
    expect(model.process([of(made.intentId, gateway.detect())], NOW + 2).notices).toEqual([
      { intentId: made.intentId, version: 3, state: 'created' },
    ]);
  });

  it('changes an original and its refund together', () => {
    const model = new PartitionModel();
    const made = create({}, { partition: 2 });
    model.process([made, of(made.intentId, gateway.simulate('confirmed'))], NOW);
    const refund = of(made.intentId, gateway.refund(newIntentId(2)), GATEWAY);
    const batch = model.process([refund], NOW + 1);
    expect(typesOf(batch)).toEqual(['refund_linked', 'intent.created']);
    expect(batch.intents.map(({ before }) => before)).toEqual([3, 0]);
    const [reply] = batch.replies.get(GATEWAY) ?? [];
    expect(reply).toMatchObject({
      outcome: { kind: 'accepted' },
      intent: { refundOf: made.intentId, direction: 'send' },
    });
  });
});

describe('A command past its deadline', () => {
  // Its age is the difference of two clocks.
  const after = NOW + COMMAND_DEADLINE_MS + CLOCK_TOLERANCE_MS + 1;

  it('is dropped without an outcome', () => {
    const command = create({}, { replyTo: GATEWAY });
    const batch = decideBatch([recordAt(command, NOW)], { now: after });
    expect(batch).toMatchObject({ records: [], outcomes: [], late: [{ commandId: command.commandId }] });
    expect(batch.replies.size).toBe(0);
  });

  it('is decided while it may be the writer’s clock that is ahead, by as much as it may be', () => {
    const batch = decideBatch([recordAt(create(), NOW)], { now: NOW + COMMAND_DEADLINE_MS - 1 + CLOCK_TOLERANCE_MS });
    expect(batch.late).toEqual([]);
    expect(typesOf(batch)).toEqual(['intent.created']);
  });

  it('is dropped, whatever its type, when its outcome may have been forgotten', () => {
    const model = new PartitionModel();
    const made = create();
    model.process([made], NOW);
    const { intents } = model.process([of(made.intentId, gateway.prepare(samples.FIRST))], NOW);
    const release = of(made.intentId, gateway.release(samples.FIRST));
    const known = { intents: intents.map(({ intent }) => intent), outcomes: [] };
    const kept = decideBatch([recordAt(release, NOW)], { known, now: NOW + OUTCOME_RETENTION_MS });
    expect(kept.records).toHaveLength(1);
    const late = decideBatch([recordAt(release, NOW)], { known, now: NOW + OUTCOME_RETENTION_MS + 1 });
    expect(late).toMatchObject({ records: [], outcomes: [], late: [{ commandId: release.commandId }] });
  });

  it('is decided when it is of a type that the gateway repeats until it has the outcome', () => {
    const model = new PartitionModel();
    const made = create();
    model.process([made], NOW);
    const { intents } = model.process([of(made.intentId, gateway.prepare(samples.FIRST))], NOW);
    const broadcast = of(made.intentId, gateway.recordBroadcast(samples.FIRST));
    const batch = decideBatch([recordAt(broadcast, NOW)], {
      known: { intents: intents.map(({ intent }) => intent), outcomes: [] },
      now: after,
    });
    expect(typesOf(batch)).toEqual(['intent.pending']);
  });

  it('is recognized by the writer’s clock, not by the time of the batch', () => {
    const command = create();
    expect(decideBatch([recordAt(command, NOW)], { now: after, clock: NOW + 1 }).records).toHaveLength(1);
  });
});

describe('A message that cannot be processed', () => {
  it('becomes a dead letter with its reason and offset, gets a reply, and does not delay the next one', () => {
    const broken = create({}, { replyTo: GATEWAY, partition: 0 });
    const next = create({}, { partition: 0 });
    const value = JSON.stringify({ ...broken, data: { secret: 'hunter2' } });
    const batch = decideBatch([raw(value, { offset: 41n }), recordAt(next)]);
    expect(batch.dead).toHaveLength(1);
    const [{ letter } = { letter: null }] = batch.dead;
    expect(letter).toMatchObject({
      topic: 'intent.commands',
      partition: 0,
      offset: '41',
      intentId: broken.intentId,
      commandId: broken.commandId,
      trace: TRACE,
    });
    expect(letter?.reason).toMatch(/data\.chain/);
    expect(JSON.stringify(letter)).not.toContain('hunter2');
    const dead: Outcome = { kind: 'dead', commandId: broken.commandId, intentId: broken.intentId };
    expect(batch.replies.get(GATEWAY)).toEqual([{ outcome: dead, intent: null }]);
    expect(batch.outcomes[0]?.outcome).toEqual(dead);
    expect(typesOf(batch)).toEqual(['intent.created']);
  });

  it('becomes a dead letter when the domain throws, as for an observation of an unknown intent', () => {
    const id = newIntentId(0);
    const batch = decideBatch([recordAt(observed({ ...watcher.dropped(samples.FIRST), intentId: id }))]);
    expect(batch.dead).toMatchObject([
      {
        letter: {
          topic: 'chain.observations',
          intentId: id,
          commandId: null,
          reason: 'cannot be decided: UnknownIntentError',
        },
      },
    ]);
    expect(batch.outcomes).toEqual([]);
  });

  it('becomes a dead letter when its event would be too large for the broker, and changes nothing', () => {
    const huge = create({ metadata: { note: 'x'.repeat(300_000) } }, { partition: 0 });
    const batch = decideBatch([recordAt(huge), recordAt(of(huge.intentId, gateway.cancel()))]);
    expect(batch.dead).toMatchObject([{ letter: { reason: 'cannot be decided: RangeError' } }]);
    expect(batch.records).toEqual([]);
    expect(batch.outcomes).toMatchObject([
      { outcome: { kind: 'dead' } },
      { outcome: { kind: 'refused', refusal: { code: 'intent.not_found' } } },
    ]);
  });
});
