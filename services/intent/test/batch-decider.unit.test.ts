import { COMMAND_DEADLINE_MS, newIntentId, type Outcome } from '@pf/contracts';
import { gateway, samples, watcher } from '@pf/domain/testing';
import { describe, expect, it } from '@jest/globals';
import { REPLY_TO_HEADER } from '../src/batch-decider.ts';
import { create, observed, of, TRACE } from './messages.ts';
import { arrived, decideSlice, eventsOf, NOW, PartitionModel, raw, typesOf } from './batches.ts';

const GATEWAY = 'pf:replies:one';

describe('A slice of commands and observations', () => {
  it('becomes an event with its cause, a row, an outcome and a reply with the intent after it', () => {
    const command = create({ metadata: { order: '17' } }, { replyTo: GATEWAY });
    const slice = decideSlice([arrived(command)]);

    const [event] = eventsOf(slice);
    expect(event).toMatchObject({
      type: 'intent.created',
      intentId: command.intentId,
      version: 1,
      commandId: command.commandId,
      trace: TRACE,
      at: new Date(NOW).toISOString(),
    });
    expect(slice.intents).toMatchObject([
      { before: 0, intent: { id: command.intentId, version: 1, status: 'created' } },
    ]);
    expect(JSON.parse(slice.events[0]?.body ?? '')).toMatchObject({
      eventId: event?.eventId,
      type: 'intent.created',
      data: { intent: { id: command.intentId, metadata: { order: '17' } } },
    });
    expect(slice.outcomes).toMatchObject([
      { outcome: { kind: 'accepted', commandId: command.commandId, intentId: command.intentId }, at: NOW },
    ]);
    expect(slice.replies.get(GATEWAY)).toMatchObject([
      { outcome: { kind: 'accepted' }, intent: { id: command.intentId, state: 'created' } },
    ]);
    expect(slice.records[0]?.headers).toEqual({ [REPLY_TO_HEADER]: GATEWAY });
  });

  it('is decided in order: what one command appends the next one sees, and one row comes of it', () => {
    const made = create();
    const slice = decideSlice(
      [made, of(made.intentId, gateway.detect()), of(made.intentId, gateway.cancel())].map((message) =>
        arrived(message),
      ),
    );
    expect(typesOf(slice)).toEqual(['intent.created', 'intent.detected', 'intent.cancelled']);
    expect(slice.intents).toMatchObject([{ before: 0, intent: { version: 3, status: 'cancelled' } }]);
    expect(slice.events.map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('decides a command that arrives twice once, and answers both times alike', () => {
    const command = create({}, { replyTo: GATEWAY });
    const slice = decideSlice([arrived(command), arrived(command)]);
    expect(slice.records).toHaveLength(1);
    expect(slice.outcomes).toHaveLength(1);
    const [first, second] = slice.replies.get(GATEWAY) ?? [];
    expect(second).toEqual(first);
  });

  it('repeats the first answer to a command of an earlier slice, with the intent as it is now', () => {
    const model = new PartitionModel();
    const command = create({}, { replyTo: GATEWAY });
    model.take([command], NOW);
    model.take([of(command.intentId, gateway.cancel())], NOW + 1);
    const again = model.take([command], NOW + COMMAND_DEADLINE_MS + 2);
    expect(again).toMatchObject({ records: [], outcomes: [], late: [] });
    expect(again.replies.get(GATEWAY)).toMatchObject([
      { outcome: { kind: 'accepted', intentId: command.intentId }, intent: { state: 'cancelled' } },
    ]);
  });

  it('makes one intent of creates with one idempotency key', () => {
    const [first, second] = [
      create({ idempotencyKey: 'once' }, { replyTo: GATEWAY }),
      create({ idempotencyKey: 'once' }, { replyTo: GATEWAY }),
    ];
    const slice = decideSlice([arrived(first), arrived(second)]);
    expect(slice.records).toHaveLength(1);
    expect(slice.replies.get(GATEWAY)).toMatchObject([
      { outcome: { intentId: first.intentId, replayed: false } },
      {
        outcome: { commandId: second.commandId, intentId: first.intentId, replayed: true },
        intent: { id: first.intentId },
      },
    ]);
  });

  it('leaves no trace of a refused command in the log, though an expiry went before it', () => {
    const model = new PartitionModel();
    const made = create({ ttlSeconds: 60 });
    model.take([made], NOW);
    const cancel = of(made.intentId, gateway.cancel(), GATEWAY);
    const slice = model.take([cancel], NOW + 60_000);
    expect(eventsOf(slice)).toMatchObject([{ type: 'intent.expired', commandId: null }]);
    expect(slice.records[0]?.headers).toBeUndefined();
    expect(slice.outcomes).toMatchObject([
      { outcome: { kind: 'refused', refusal: { code: 'intent.expired', currentState: 'expired' } } },
    ]);
    expect(slice.replies.get(GATEWAY)).toMatchObject([{ outcome: { kind: 'refused' }, intent: null }]);
  });

  it('tells streams of public changes only, and not of intents nobody can know yet', () => {
    const model = new PartitionModel();
    const made = create();
    expect(model.take([made], NOW).notices).toEqual([]);
    const build = of(made.intentId, gateway.recordBuild());
    expect(model.take([build], NOW + 1).notices).toEqual([]);
    expect(model.take([of(made.intentId, gateway.detect())], NOW + 2).notices).toEqual([
      { intentId: made.intentId, version: 3, state: 'created' },
    ]);
  });

  it('changes an original and its refund together', () => {
    const model = new PartitionModel();
    const made = create({}, { partition: 2 });
    model.take([made, of(made.intentId, gateway.simulate('confirmed'))], NOW);
    const refund = of(made.intentId, gateway.refund(newIntentId(2)), GATEWAY);
    const slice = model.take([refund], NOW + 1);
    expect(typesOf(slice)).toEqual(['refund_linked', 'intent.created']);
    expect(slice.intents.map(({ before }) => before)).toEqual([3, 0]);
    const [reply] = slice.replies.get(GATEWAY) ?? [];
    expect(reply).toMatchObject({
      outcome: { kind: 'accepted' },
      intent: { refundOf: made.intentId, direction: 'send' },
    });
  });
});

describe('A command past its deadline', () => {
  const after = NOW + COMMAND_DEADLINE_MS + 1;

  it('is dropped: nobody waits for it any more', () => {
    const command = create({}, { replyTo: GATEWAY });
    const slice = decideSlice([arrived(command, NOW)], { now: after });
    expect(slice).toMatchObject({ records: [], outcomes: [], late: [{ commandId: command.commandId }] });
    expect(slice.replies.size).toBe(0);
  });

  it('is decided all the same where it is repeated until answered', () => {
    const model = new PartitionModel();
    const made = create();
    model.take([made], NOW);
    const { intents } = model.take([of(made.intentId, gateway.prepare(samples.FIRST))], NOW);
    const broadcast = of(made.intentId, gateway.recordBroadcast(samples.FIRST));
    const slice = decideSlice([arrived(broadcast, NOW)], {
      known: { intents: intents.map(({ intent }) => intent), outcomes: [] },
      now: after,
    });
    expect(typesOf(slice)).toEqual(['intent.pending']);
  });

  it('is measured by the writer’s clock, not by the time it stamps', () => {
    const command = create();
    expect(decideSlice([arrived(command, NOW)], { now: after, clock: NOW + 1 }).records).toHaveLength(1);
  });
});

describe('A message that cannot be handled', () => {
  it('is put aside with its reason and place, is answered, and does not keep the next one', () => {
    const broken = create({}, { replyTo: GATEWAY, partition: 0 });
    const next = create({}, { partition: 0 });
    const value = JSON.stringify({ ...broken, data: { secret: 'hunter2' } });
    const slice = decideSlice([raw(value, { offset: 41n }), arrived(next)]);
    expect(slice.dead).toHaveLength(1);
    const [{ letter } = { letter: null }] = slice.dead;
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
    expect(slice.replies.get(GATEWAY)).toEqual([{ outcome: dead, intent: null }]);
    expect(slice.outcomes[0]?.outcome).toEqual(dead);
    expect(typesOf(slice)).toEqual(['intent.created']);
  });

  it('is put aside where the domain throws: an observation of an intent that does not exist', () => {
    const id = newIntentId(0);
    const slice = decideSlice([arrived(observed({ ...watcher.dropped(samples.FIRST), intentId: id }))]);
    expect(slice.dead).toMatchObject([
      {
        letter: {
          topic: 'chain.observations',
          intentId: id,
          commandId: null,
          reason: 'cannot be decided: UnknownIntentError',
        },
      },
    ]);
    expect(slice.outcomes).toEqual([]);
  });

  it('is put aside where its event would be larger than the broker takes, and nothing of it stays', () => {
    const huge = create({ metadata: { note: 'x'.repeat(300_000) } }, { partition: 0 });
    const slice = decideSlice([arrived(huge), arrived(of(huge.intentId, gateway.cancel()))]);
    expect(slice.dead).toMatchObject([{ letter: { reason: 'cannot be decided: RangeError' } }]);
    expect(slice.records).toEqual([]);
    expect(slice.outcomes).toMatchObject([
      { outcome: { kind: 'dead' } },
      { outcome: { kind: 'refused', refusal: { code: 'intent.not_found' } } },
    ]);
  });
});
