import { type CommandMessage, newIntentId, partitionOf } from '@pf/contracts';
import type { Command, EventType, IntentId, Observation } from '@pf/domain';
import { about, gateway, samples, watcher } from '@pf/domain/testing';
import { compareProjection, readWholeLog, until } from '@pf/testing';
import { describe, expect, it } from '@jest/globals';
import { create, observed, of } from './messages.ts';
import { withOneWriter } from './one-writer.ts';

// The machine may be busy with the other processes of the stack.
const { ALICE, BOB, CAROL, FIRST, REFUNDING, SECOND } = samples;

const one = withOneWriter();

const make = async (): Promise<IntentId> => (await one.client.execute(create())).outcome.intentId;
const eventsOf = async (intentId: IntentId) =>
  (await readWholeLog(one.cluster)).events.filter((event) => event.intentId === intentId).map(({ type }) => type);
/** Sends commands at once, so that they meet in the partition. Returns their outcomes. */
const atOnce = async (intentId: IntentId, ...commands: readonly Command[]) => {
  const messages = commands.map((command): CommandMessage => of(intentId, command, one.client.channel));
  await one.client.send(...messages);
  return Promise.all(
    messages.map(async ({ commandId }) => (await until('the reply', () => one.client.repliesTo(commandId)[0])).outcome),
  );
};

describe('A repeated command', () => {
  it('changes nothing in a later batch and has the first outcome', async () => {
    const cancel = of(await make(), gateway.cancel(), one.client.channel);
    const first = await one.client.execute(cancel);
    expect(first.outcome).toMatchObject({ kind: 'accepted' });
    // Decided again it would be refused: the intent is cancelled already.
    await one.client.send(cancel);
    await until('the second reply', () => one.client.repliesTo(cancel.commandId).length === 2);
    expect(one.client.repliesTo(cancel.commandId)[1]).toEqual(first);
    expect(await eventsOf(cancel.intentId)).toEqual(['intent.created', 'intent.cancelled']);
  });
});

describe('A claim', () => {
  const byCarol = { sender: CAROL, nonce: '1' };

  it('goes to one of two payers who submit at once', async () => {
    const intentId = await make();
    const outcomes = await atOnce(intentId, gateway.prepare(FIRST), gateway.prepare(SECOND, byCarol));
    expect(outcomes).toMatchObject([
      { kind: 'accepted', attempts: 1 },
      { kind: 'refused', refusal: { code: 'intent.submission_in_progress' } },
    ]);
    expect(await eventsOf(intentId)).toEqual(['intent.created', 'submission_prepared']);
  });

  it('is checked against the current terms of the intent, whatever the gateway has read', async () => {
    const { intent, outcome } = await one.client.execute(create());
    const raise = gateway.update({
      updatedAt: Date.parse(intent?.updatedAt ?? ''),
      amount: '13',
      amountBaseUnits: 13_000_000n,
    });
    const [raised, refused] = await atOnce(outcome.intentId, raise, gateway.prepare(FIRST));
    expect(raised).toMatchObject({ kind: 'accepted' });
    expect(refused).toMatchObject({
      kind: 'refused',
      refusal: { code: 'transaction.mismatch', details: { amount: { expected: '13000000', actual: '12500000' } } },
    });
  });

  it('is not released by one of two gateways that made it', async () => {
    const intentId = await make();
    const outcomes = await atOnce(
      intentId,
      gateway.prepare(FIRST),
      gateway.prepare(FIRST),
      gateway.release(FIRST),
      gateway.prepare(SECOND, byCarol),
    );
    expect(outcomes).toMatchObject([
      { attempts: 1 },
      { attempts: 2 },
      { kind: 'accepted' },
      { kind: 'refused', refusal: { code: 'intent.submission_in_progress' } },
    ]);
    expect(await eventsOf(intentId)).not.toContain('submission_released');
  });
});

/** The event that each observation of a settling transaction causes. */
const EVENT_OF: Readonly<Record<Observation['type'], EventType>> = {
  landed: 'intent.confirmed',
  assigned: 'deposit_told',
  disproved: 'intent.mismatch_withdrawn',
  lost: 'confirmation_lost',
  dropped: 'intent.failed',
  reverted: 'intent.failed',
};

describe('Commands and observations of one intent', () => {
  it('lead to one order of events, each applied once, and to a projection that equals their fold', async () => {
    const intents = await Promise.all(Array.from({ length: 30 }, make));
    await Promise.all(
      intents.map(async (intentId) => {
        const commands = [
          gateway.detect(),
          gateway.prepare(FIRST),
          gateway.recordBroadcast(FIRST),
          gateway.cancel(),
          gateway.recordBuild({ fulfiller: BOB }),
        ].map((command) => of(intentId, command));
        const landed = [watcher.landed(FIRST), watcher.landed(FIRST), watcher.landedFinal(FIRST)].map((observation) =>
          observed(about(intentId, observation)),
        );
        await Promise.all([...commands, ...landed].map((message) => one.client.send(message)));
        await Promise.all(commands.map(({ commandId }) => one.client.outcome(commandId)));
      }),
    );
    for (const intentId of intents)
      await until('its finality', async () => (await eventsOf(intentId)).includes('intent.finalized'));
    const { events, intents: folded, problems } = await readWholeLog(one.cluster);
    expect([problems, await compareProjection(one.cluster.database, folded)]).toEqual([[], []]);
    for (const intentId of intents) {
      const types = events.filter((event) => event.intentId === intentId).map(({ type }) => type);
      for (const once of ['intent.confirmed', 'intent.finalized'])
        expect(types.filter((type) => type === once)).toHaveLength(1);
      expect(folded.get(intentId)).toMatchObject({
        status: 'finalized',
        requestor: ALICE,
        fulfiller: BOB,
        txSignature: FIRST,
      });
    }
  });
});

describe('A refund', () => {
  it('is neither claimed nor left open after its original payment was undone', async () => {
    const original = await make();
    const seen = async (...observations: readonly Observation[]) => {
      await one.client.send(...observations.map((observation) => observed(about(original, observation))));
      const { type } = observations.at(-1) ?? {};
      // A batch of its own for each step: the writer has to read the related intents from the database.
      await until(`${type} to be decided`, async () => (await eventsOf(original)).includes(EVENT_OF[type ?? 'landed']));
    };
    await seen(watcher.landed(FIRST));
    const refundId = newIntentId(partitionOf(original));
    const refunded = await one.client.execute(of(original, gateway.refund(refundId)));
    expect(refunded.outcome).toMatchObject({ kind: 'accepted', intentId: refundId });
    await seen(watcher.lost(FIRST));
    const claim = gateway.prepare(REFUNDING, samples.signedRefund(samples.REFUND, REFUNDING));
    expect((await one.client.execute(of(refundId, claim))).outcome).toMatchObject({
      kind: 'refused',
      refusal: { code: 'intent.original_unpaid', details: { original_intent_id: original } },
    });
    await seen(watcher.dropped(FIRST));
    expect(await eventsOf(refundId)).toEqual(['intent.created', 'intent.cancelled']);
    expect(await eventsOf(original)).toContain('refund_released');
  });
});
