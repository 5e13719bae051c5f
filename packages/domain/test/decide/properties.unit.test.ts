import { describe, expect, it } from '@jest/globals';
import type {
  Command,
  Input,
  Instant,
  IntentEvent,
  IntentId,
  Landing,
  PaymentIntent,
  PublicIntent,
  Transition,
} from '@pf/domain';
import {
  decide,
  evolve,
  INTENT_STATUSES,
  Ledger,
  PRIVATE_EVENT_TYPES,
  PUBLIC_EVENT_TYPES,
  termsOf,
  termsThatDiffer,
  transferKey,
  view,
} from '@pf/domain';
import fc from 'fast-check';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  AMOUNT,
  BOB,
  CAROL,
  FIRST,
  INTENT,
  MOVED,
  REFUNDING,
  SECOND,
  SCENARIO_START,
  SUCCESSOR,
  UNKNOWN,
  UNPROVEN,
} from '../../src/testing/samples.ts';

/** One step of a random history: the wait before it, which intent, which input, and a choice for the input's data. */
interface Step {
  readonly wait: number;
  readonly intent: number;
  readonly input: number;
  readonly choice: number;
}

const HASHES = [FIRST, SECOND, UNKNOWN, REFUNDING] as const;
const pick = <T>(from: readonly T[], choice: number): T => from[choice % from.length] as T;
const step: fc.Arbitrary<Step> = fc.record({
  // Mostly no time or a second; now and then past the expiry.
  wait: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(0, 1, 1000) },
    { weight: 1, arbitrary: fc.constantFrom(3_600_000, 90_000_000) },
  ),
  intent: fc.nat(5),
  input: fc.nat(15),
  choice: fc.nat(10_000),
});

/** The input of a step: valid often enough to get far, invalid often enough to be refused. */
const inputOf = ({ input, choice }: Step, intent: PaymentIntent, freshId: IntentId): Input => {
  const hash = pick(HASHES, choice);
  const payer = pick([BOB, CAROL], choice >> 2);
  const terms = termsOf(intent);
  const from = intent.direction === 'send' ? ALICE : payer;
  const right = {
    tokenAddress: intent.tokenAddress,
    from,
    to: intent.requestor,
    amount: intent.amountBaseUnits,
    reference: intent.reference,
  };
  // A place in a transaction has one transfer: no other intent's transfer is there.
  const first = intent.refundOf === null ? 0 : 10 * Number(intent.id.replace('pi_refund', ''));
  const again = { block: 102n, blockHash: FIRST };
  const more = (amount: number): { readonly amount?: bigint } =>
    intent.accept === undefined ? {} : { amount: intent.amountBaseUnits + BigInt(HASHES.indexOf(hash) + amount) };
  const places = [
    more(0),
    more(0),
    more(0),
    { ...MOVED, index: String(first + 4), ...more(0) },
    { index: String(first + 1), ...more(10) },
    { ...again, ...more(20) },
    { ...again, index: String(first + 1), ...more(10) },
  ];
  const place = { index: String(first), ...pick(places, choice >> 3) };
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
    () =>
      choice % 2 === 0
        ? gateway.recordBroadcast(hash)
        : gateway.report(hash, { ...right, ...place, ...UNPROVEN }, choice % 3 === 0 ? SUCCESSOR : undefined),
    () => gateway.release(hash),
    () => gateway.cancel(),
    () => gateway.refund(freshId),
    () => (choice % 4 === 0 ? gateway.simulate(pick(INTENT_STATUSES, choice >> 2)) : watcher.lost(hash)),
    () => watcher.landed(hash, { ...right, ...place }, level),
    () =>
      watcher.landed(
        hash,
        choice % 4 === 0
          ? { ...right, amount: 1n, index: String(first + 9) }
          : { ...right, ...place, ...(choice % 4 === 1 && UNPROVEN) },
        level,
      ),
    () => watcher.reverted(hash),
    () => watcher.dropped(hash),
    () => (choice % 6 === 0 ? owner.erase() : owner.expire()),
  ];
  return about(intent.id, pick(inputs, input)());
};

/** One step that was decided and folded. */
interface Turn {
  readonly input: Input;
  readonly now: Instant;
  readonly transitions: readonly Transition[];
  readonly events: readonly IntentEvent[];
  readonly before: PaymentIntent;
  readonly after: PaymentIntent;
  readonly ledger: Ledger;
  /** All events so far, this step's included. */
  readonly log: readonly IntentEvent[];
}

/** Runs a random history and calls `check` after each step. */
const run = (
  steps: readonly Step[],
  check: (turn: Turn) => void,
): { readonly ledger: Ledger; readonly log: readonly IntentEvent[] } => {
  const ledger = new Ledger();
  const log: IntentEvent[] = [];
  let now = SCENARIO_START;
  const fold = (transitions: readonly Transition[]): readonly IntentEvent[] =>
    transitions.map(({ event }) => {
      ledger.apply(event);
      log.push(event);
      return event;
    });
  const isLenient = (steps[0]?.choice ?? 0) % 2 === 1;
  fold(decide(gateway.create(isLenient ? { accept: 'at_least' } : {}), now, ledger).transitions);
  for (const step of steps) {
    now += step.wait;
    const intents = [...ledger.intents()];
    const before = pick(intents, step.intent);
    const input = inputOf(step, before, `pi_refund${intents.length}` as IntentId);
    const { transitions } = decide(input, now, ledger);
    const events = fold(transitions);
    check({ input, now, transitions, events, before, after: ledger.intent(before.id) ?? before, ledger, log });
  }
  return { ledger, log };
};

const forEveryHistory = (check: (turn: Turn) => void): void =>
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => void run(steps, check)),
    { numRuns: 300 },
  );

const publicly = (intent: PaymentIntent): string => JSON.stringify({ ...view(intent), updatedAt: undefined });
const isPaid = ({ state }: PublicIntent): boolean => state === 'confirmed' || state === 'finalized';
const isLive = ({ status }: { readonly status: string }): boolean => status === 'live';

/** Whether a refund returns no more than its original has received. */
const isCovered = ({ amountBaseUnits }: PaymentIntent, original: PaymentIntent | undefined): boolean =>
  original === undefined || amountBaseUnits <= (original.amountReceived ?? original.amountBaseUnits);

describe('decide, over random histories,', () => {
  it('returns the same intents as folding its events gives', () => {
    forEveryHistory(({ transitions, ledger }) => {
      const last = new Map(transitions.map(({ intent }) => [intent.id, intent]));
      for (const [id, intent] of last) expect(ledger.intent(id)).toEqual(intent);
    });
  });

  it('numbers versions without a gap, so that the events alone make the state', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { ledger, log } = run(steps, () => undefined);
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

  it('keeps at most one submission live, and one for every pending intent that is not simulated', () => {
    forEveryHistory(({ before, events }) => {
      let intent = before;
      for (const event of events.filter(({ intentId }) => intentId === before.id)) {
        intent = evolve(intent, event);
        expect(intent.submissions.filter(isLive).length).toBeLessThanOrEqual(1);
      }
      if (intent.status === 'pending' && !intent.simulated)
        expect(intent.submissions.find(isLive)?.hash).toBe(intent.txSignature);
    });
  });

  it('raises updatedAt with every public change and with no other', () => {
    forEveryHistory(({ before, events }) => {
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

  it('never appends an event that changes nothing', () => {
    forEveryHistory(({ before, events }) => {
      const own = events.filter(({ intentId }) => intentId === before.id);
      const after = own.reduce<PaymentIntent>(evolve, before);
      const same = (Object.keys(after) as (keyof PaymentIntent)[]).every(
        (field) => field === 'version' || before[field] === after[field],
      );
      expect(own.length === 0).toBe(same);
    });
  });

  it('returns no event for a repeated input, except a preparation, which is counted', () => {
    forEveryHistory(({ input, now, ledger }) => {
      if (input.kind === 'command' && input.type === 'prepare_submission') return;
      expect(decide(input, now, ledger).transitions).toEqual([]);
    });
  });

  it('settles the intent by a landing with the right terms, or has told that it is to be sent back', () => {
    forEveryHistory(({ input, after, log }) => {
      if (
        input.kind !== 'observation' ||
        input.type !== 'landed' ||
        termsThatDiffer(after, input.data.transfer).length > 0
      )
        return;
      const { hash, transfer } = input.data;
      // A reorg may undo what it has not named. Of such a transaction one extra payment is told of, whichever it was.
      const isUndone = log.some((event) => event.type === 'confirmation_lost' && event.intentId === after.id);
      // The same transfer, or that of its transaction before a reorg has moved it.
      const isSame = (landing: Landing): boolean =>
        transferKey(landing) === transferKey(input.data) ||
        (landing.hash === hash && (isUndone || landing.transfer.block !== transfer.block));
      const isTold = log.some(
        (event) =>
          (event.type === 'intent.extra_payment' || event.type === 'intent.mismatched_payment') &&
          event.intentId === after.id &&
          isSame(event.data.landing),
      );
      const isPaid =
        (after.status === 'confirmed' || after.status === 'finalized') &&
        after.settlement?.hash === hash &&
        !after.settlement.lost;
      expect(isPaid || isTold).toBe(true);
    });
  });

  it('tells of an overpayment once for each final payment of more, and of none else', () => {
    forEveryHistory(({ events, before }) => {
      for (const [place, event] of events.entries()) {
        if (event.type === 'intent.overpaid') expect(events[place - 1]?.type).toBe('intent.finalized');
        if (event.type !== 'intent.finalized' || event.intentId !== before.id) continue;
        const more = (event.data.landing?.transfer.amount ?? before.amountBaseUnits) - before.amountBaseUnits;
        const told = events[place + 1];
        expect(told?.type === 'intent.overpaid' ? told.data.amountBaseUnits : 0n).toBe(more);
      }
    });
  });

  it('links a refund and its original both ways, and never has two refunds that can be paid', () => {
    forEveryHistory(({ ledger }) => {
      for (const intent of ledger.intents()) {
        if (intent.refundedBy !== null) expect(ledger.intent(intent.refundedBy)?.refundOf).toBe(intent.id);
        if (intent.refundOf === null) continue;
        const isOpen = intent.status === 'created' || intent.status === 'pending' || intent.submissions.some(isLive);
        if (isOpen) expect(ledger.intent(intent.refundOf)?.refundedBy).toBe(intent.id);
      }
    });
  });

  it('claims no refund whose original payment is undone, and leaves none open once that payment has failed', () => {
    forEveryHistory(({ transitions, ledger }) => {
      const original = ({ refundOf }: PaymentIntent): PaymentIntent | undefined =>
        refundOf === null ? undefined : ledger.intent(refundOf);
      for (const { event, intent } of transitions)
        if (event.type === 'submission_prepared' || event.type === 'transaction_built')
          expect([original(intent)?.settlement?.lost ?? false, isCovered(intent, original(intent))]).toEqual([
            false,
            true,
          ]);
      for (const intent of ledger.intents())
        if (original(intent)?.status === 'failed')
          expect(intent.status !== 'created' || intent.submissions.some(isLive)).toBe(true);
    });
  });

  it('shows only fields that are consistent with the state', () => {
    forEveryHistory(({ after }) => {
      const shown = view(after);
      if (shown.state === 'created') expect(shown.txSignature).toBeNull();
      else expect(shown.retryRequired).toBe(false);
      if (shown.state === 'pending' || shown.state === 'confirmed' || shown.state === 'finalized')
        expect([shown.txSignature, shown.fulfiller]).not.toContain(null);
      if (shown.state === 'confirmed' || shown.state === 'finalized') expect(shown.confirmedAt).not.toBeNull();
      if (shown.state === 'finalized') expect(shown.finalizedAt).not.toBeNull();
      expect(shown.amountReceived !== undefined).toBe(shown.accept !== undefined && isPaid(shown));
      if (!after.simulated && after.amountReceived !== undefined)
        expect(after.amountReceived).toBe(after.settlement?.transfer.amount);
      expect(after.closedAt === null).toBe(
        shown.state === 'created' || shown.state === 'pending' || shown.state === 'confirmed',
      );
    });
  });

  it('reaches every state and every event type', () => {
    const states = new Set<string>();
    const types = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 60 }), (steps) => {
        const { log } = run(steps, ({ after }) => states.add(after.status));
        for (const { type } of log) types.add(type);
      }),
      { numRuns: 500, seed: 7 },
    );
    expect([...states].sort()).toEqual([...INTENT_STATUSES].sort());
    // The one is no longer written, the other only for deposits (test/deposit/assigning.unit.test.ts).
    const others: readonly string[] = ['mismatched_payment_observed', 'deposit_told'];
    const written = PRIVATE_EVENT_TYPES.filter((type) => !others.includes(type));
    expect([...types].sort()).toEqual([...PUBLIC_EVENT_TYPES, ...written].sort());
  });
});

describe('an intent of at least its amount, over random reorgs,', () => {
  /** What two transactions pay in each of three blocks that replace one another: amounts beyond the one asked for. */
  const chains = fc.array(fc.array(fc.array(fc.nat(4), { maxLength: 3 }), { minLength: 2, maxLength: 2 }), {
    minLength: 3,
    maxLength: 3,
  });
  const looks = fc.array(fc.record({ block: fc.nat(2), hash: fc.nat(1), index: fc.nat(2), isLost: fc.boolean() }), {
    maxLength: 25,
  });

  it('has as payments what its transactions bring in their final block', () => {
    fc.assert(
      fc.property(chains, looks, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (blocks, seen, order) => {
        const ledger = new Ledger();
        const fold = (input: Input): void =>
          decide(input, SCENARIO_START, ledger).transitions.forEach(({ event }) => ledger.apply(event));
        const look = (block: number, hash: number, index: number, level: 'confirmed' | 'finalized'): void => {
          const more = blocks[block]?.[hash]?.[index];
          if (more === undefined) return;
          const place = { block: 100n + BigInt(block), blockHash: pick(HASHES, block), index: String(index) };
          fold(watcher.landed(pick(HASHES, hash), { ...place, amount: AMOUNT + BigInt(more) }, level));
        };
        fold(gateway.create({ accept: 'at_least' }));
        for (const { block, hash, index, isLost } of seen) {
          look(block, hash, index, 'confirmed');
          if (isLost)
            fold(watcher.lost(pick(HASHES, hash), { block: 100n + BigInt(block), blockHash: pick(HASHES, block) }));
        }
        // What is not in the final block is lost, and the rest is seen in whichever order.
        for (;;) {
          const settlement = ledger.intent(INTENT)?.settlement;
          if (!settlement || settlement.lost || settlement.transfer.block === 102n) break;
          fold(watcher.lost(settlement.hash, settlement.transfer));
        }
        const last = blocks[2] ?? [];
        const places = last.flatMap((transfers, hash) => transfers.map((more, index) => ({ hash, index, more })));
        const shuffled = places
          .map((place, nth) => ({ place, at: order[nth] ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ place }) => place);
        for (const { hash, index } of shuffled) look(2, hash, index, 'finalized');
        if (places.length === 0) return;
        const intent = ledger.intent(INTENT);
        const paid = intent?.settlement ? [intent.settlement, ...intent.extraPayments] : [];
        const standing = paid.filter(({ transfer }) => transfer.block === 102n);
        expect(intent?.status).toBe('finalized');
        expect(standing.map((one) => `${transferKey(one)} ${one.transfer.amount}`).sort()).toEqual(
          places.map(({ hash, index, more }) => `${pick(HASHES, hash)}:${index} ${AMOUNT + BigInt(more)}`).sort(),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('decide', () => {
  it('refuses every command from another account and changes nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), step, (steps, last) => {
        const { ledger } = run(steps, () => undefined);
        const intent = ledger.intent(INTENT);
        const input = intent && inputOf(last, intent, 'pi_none' as IntentId);
        if (input?.kind !== 'command') return;
        const foreign: Command = { ...input, accountId: 'acc_thief' as Command['accountId'] };
        expect(decide(foreign, SCENARIO_START + 1e9, ledger)).toMatchObject({
          transitions: [],
          outcome: { kind: 'refused', refusal: { code: 'intent.not_found' } },
        });
      }),
    );
  });
});
