import { describe, expect, it } from '@jest/globals';
import type { Command, Input, Instant, IntentEvent, IntentId, PaymentIntent } from '@pf/domain';
import { decide, evolve, INTENT_STATUSES, Ledger, termsThatDiffer, transferKey, view } from '@pf/domain';
import fc from 'fast-check';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  BOB,
  CAROL,
  FIRST,
  INTENT,
  MOVED,
  REFUNDING,
  SECOND,
  STORY_BEGINS,
  UNKNOWN,
} from '../../src/testing/samples.ts';

/** One step of a random life: how long it waits, whom it is about, and which input, with free choices for what that carries. */
interface Step {
  readonly wait: number;
  readonly whom: number;
  readonly what: number;
  readonly choice: number;
}

const HASHES = [FIRST, SECOND, UNKNOWN, REFUNDING] as const;
const pick = <T>(from: readonly T[], choice: number): T => from[choice % from.length] as T;
const step: fc.Arbitrary<Step> = fc.record({
  // Mostly at once or after a second; now and then past the expiry.
  wait: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(0, 1, 1000) },
    { weight: 1, arbitrary: fc.constantFrom(3_600_000, 90_000_000) },
  ),
  whom: fc.nat(5),
  what: fc.nat(15),
  choice: fc.nat(10_000),
});

/** The input of a step in the world as it is: right often enough to get far, wrong often enough to be refused. */
const inputOf = ({ what, choice }: Step, intent: PaymentIntent, freshId: IntentId): Input => {
  const hash = pick(HASHES, choice);
  const payer = pick([BOB, CAROL], choice >> 2);
  const terms = {
    chain: intent.chain,
    tokenAddress: intent.tokenAddress,
    amount: intent.amountBaseUnits,
    requestor: intent.requestor,
    reference: intent.reference,
  };
  const from = intent.direction === 'send' ? ALICE : payer;
  const right = {
    tokenAddress: intent.tokenAddress,
    from,
    to: intent.requestor,
    amount: intent.amountBaseUnits,
    reference: intent.reference,
  };
  const place = pick([{}, {}, {}, MOVED, { index: '1' }], choice >> 3);
  const level = pick(['confirmed', 'finalized'] as const, choice >> 5);
  const inputs: readonly (() => Input)[] = [
    () =>
      gateway.update({
        updatedAt: intent.updatedAt,
        metadata: { note: `${choice % 3}` },
        ...(choice % 5 === 0 ? { ttlSeconds: 600 } : {}),
      }),
    () => gateway.detect(),
    () => gateway.recordBuild({ fulfiller: from, replaces: choice % 3 === 0 ? null : (intent.build?.version ?? null) }),
    () =>
      gateway.prepare(hash, {
        sender: from,
        nonce: pick(['7', '8', null], choice >> 4),
        terms: choice % 11 === 0 ? { ...terms, amount: 1n } : terms,
      }),
    () => gateway.prepare(hash, { sender: from, terms }),
    () => gateway.recordBroadcast(hash),
    () => gateway.recordBroadcast(hash),
    () => gateway.release(hash),
    () => gateway.cancel(),
    () => gateway.refund(freshId),
    () => (choice % 4 === 0 ? gateway.simulate(pick(INTENT_STATUSES, choice >> 2)) : watcher.lost(hash)),
    () => watcher.landed(hash, { ...right, ...place }, level),
    () => watcher.landed(hash, choice % 4 === 0 ? { ...right, amount: 1n, index: '9' } : { ...right, ...place }, level),
    () => watcher.reverted(hash),
    () => watcher.dropped(hash),
    () => owner.expire(),
  ];
  return about(intent.id, pick(inputs, what)());
};

interface Turn {
  readonly input: Input;
  readonly now: Instant;
  readonly events: readonly IntentEvent[];
  readonly before: PaymentIntent;
  readonly after: PaymentIntent;
  readonly ledger: Ledger;
  /** All that ever happened, these events too. */
  readonly log: readonly IntentEvent[];
}

/** Lives a random life and looks at every turn of it. */
const live = (
  steps: readonly Step[],
  look: (turn: Turn) => void,
): { readonly ledger: Ledger; readonly log: readonly IntentEvent[] } => {
  const ledger = new Ledger();
  const log: IntentEvent[] = [];
  let now = STORY_BEGINS;
  for (const event of decide(gateway.create(), now, ledger).events) {
    ledger.apply(event);
    log.push(event);
  }
  for (const next of steps) {
    now += next.wait;
    const intents = [...ledger.intents()];
    const before = pick(intents, next.whom);
    const input = inputOf(next, before, `pi_refund${intents.length}` as IntentId);
    const { events } = decide(input, now, ledger);
    for (const event of events) {
      ledger.apply(event);
      log.push(event);
    }
    look({ input, now, events, before, after: ledger.intent(before.id) ?? before, ledger, log });
  }
  return { ledger, log };
};

const ofEveryLife = (look: (turn: Turn) => void): void =>
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => void live(steps, look)),
    { numRuns: 300 },
  );

const publicly = (intent: PaymentIntent): string => JSON.stringify({ ...view(intent), updatedAt: undefined });
const isLive = ({ status }: { readonly status: string }): boolean => status === 'live';

describe('in every life of an intent', () => {
  it('versions have no gap, and the events alone make the state', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { ledger, log } = live(steps, () => undefined);
        const folded = new Map<IntentId, PaymentIntent>();
        for (const event of log) {
          const before = folded.get(event.intentId);
          expect(event.version).toBe((before?.version ?? 0) + 1);
          folded.set(event.intentId, evolve(before, event));
        }
        expect([...folded.values()]).toEqual([...ledger.intents()]);
      }),
      { numRuns: 200 },
    );
  });

  it('at most one submission is live, and a pending intent has one unless it is simulated', () => {
    ofEveryLife(({ before, events }) => {
      let intent = before;
      for (const event of events.filter(({ intentId }) => intentId === before.id)) {
        intent = evolve(intent, event);
        expect(intent.submissions.filter(isLive).length).toBeLessThanOrEqual(1);
      }
      if (intent.status === 'pending' && !intent.simulated)
        expect(intent.submissions.find(isLive)?.hash).toBe(intent.txSignature);
    });
  });

  it('updatedAt grows strictly with every public change, and never else', () => {
    ofEveryLife(({ before, events }) => {
      let intent = before;
      for (const event of events.filter(({ intentId }) => intentId === before.id)) {
        const next = evolve(intent, event);
        const [was, is] = [publicly(intent), publicly(next)];
        expect({
          event: event.type,
          moved: next.updatedAt > intent.updatedAt,
          same: next.updatedAt === intent.updatedAt,
        }).toEqual({ event: event.type, moved: was !== is, same: was === is });
        intent = next;
      }
    });
  });

  it('an event without any change is never written', () => {
    ofEveryLife(({ before, events }) => {
      const own = events.filter(({ intentId }) => intentId === before.id);
      const after = own.reduce<PaymentIntent>(evolve, before);
      const same = (Object.keys(before) as (keyof PaymentIntent)[]).every(
        (field) => field === 'version' || before[field] === after[field],
      );
      expect(own.length === 0).toBe(same);
    });
  });

  it('the same input a second time gives nothing, but for a preparation, which counts', () => {
    ofEveryLife(({ input, now, ledger }) => {
      if (input.kind === 'command' && input.type === 'prepare_submission') return;
      expect(decide(input, now, ledger).events).toEqual([]);
    });
  });

  it('a landing with the right terms ends in confirmed or finalized, or is recorded as an extra payment', () => {
    ofEveryLife(({ input, after, log }) => {
      if (
        input.kind !== 'observation' ||
        input.type !== 'landed' ||
        termsThatDiffer(after, input.data.transfer).length > 0
      )
        return;
      const key = transferKey(input.data);
      const isExtra = log.some(
        (event) =>
          event.type === 'extra_payment_observed' &&
          event.intentId === after.id &&
          transferKey(event.data.landing) === key,
      );
      const isPaid =
        (after.status === 'confirmed' || after.status === 'finalized') &&
        after.settlement?.hash === input.data.hash &&
        !after.settlement.lost;
      expect(isPaid || isExtra).toBe(true);
    });
  });

  it('a refund and its original name each other, and no two refunds can be paid at once', () => {
    ofEveryLife(({ ledger }) => {
      for (const intent of ledger.intents()) {
        if (intent.refundedBy !== null) expect(ledger.intent(intent.refundedBy)?.refundOf).toBe(intent.id);
        if (intent.refundOf === null) continue;
        const isOpen = intent.status === 'created' || intent.status === 'pending' || intent.submissions.some(isLive);
        if (isOpen) expect(ledger.intent(intent.refundOf)?.refundedBy).toBe(intent.id);
      }
    });
  });

  it('what is shown of a state holds together', () => {
    ofEveryLife(({ after }) => {
      const shown = view(after);
      if (shown.state === 'created') expect(shown.txSignature).toBeNull();
      else expect(shown.retryRequired).toBe(false);
      if (shown.state === 'pending' || shown.state === 'confirmed' || shown.state === 'finalized')
        expect([shown.txSignature, shown.fulfiller]).not.toContain(null);
      if (shown.state === 'confirmed' || shown.state === 'finalized') expect(shown.confirmedAt).not.toBeNull();
      if (shown.state === 'finalized') expect(shown.finalizedAt).not.toBeNull();
      expect(after.closedAt === null).toBe(
        shown.state === 'created' || shown.state === 'pending' || shown.state === 'confirmed',
      );
    });
  });

  it('these random lives reach every state and every kind of event', () => {
    const states = new Set<string>();
    const types = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 60 }), (steps) => {
        const { log } = live(steps, ({ after }) => states.add(after.status));
        for (const { type } of log) types.add(type);
      }),
      { numRuns: 500, seed: 7 },
    );
    expect([...states].sort()).toEqual([...INTENT_STATUSES].sort());
    expect(types.size).toBe(19);
  });
});

describe('commands of others', () => {
  it('never change an intent', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), step, (steps, last) => {
        const { ledger } = live(steps, () => undefined);
        const intent = ledger.intent(INTENT);
        const input = intent && inputOf(last, intent, 'pi_none' as IntentId);
        if (input?.kind !== 'command') return;
        const foreign: Command = { ...input, accountId: 'acc_thief' as Command['accountId'] };
        expect(decide(foreign, STORY_BEGINS + 1e9, ledger)).toMatchObject({
          events: [],
          answer: { kind: 'refused', refusal: { code: 'intent.not_found' } },
        });
      }),
    );
  });
});
