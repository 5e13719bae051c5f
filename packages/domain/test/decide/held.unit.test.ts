import { describe, expect, it } from '@jest/globals';
import { type Command, decide, HeldIntentError, type Input, type IntentId, type Ledger } from '@pf/domain';
import { type ExpectedEvent, given } from '../../src/testing/given.ts';
import {
  cancelled,
  confirmed,
  created,
  detected,
  lost,
  of,
  prepared,
  refundCreated,
  refundLinked,
  refundReleased,
} from '../../src/testing/events.ts';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import { FIRST, INTENT, REFUND, refundTransfer, SCENARIO_START, SECOND, SUCCESSOR } from '../../src/testing/samples.ts';

const NOW = SCENARIO_START + 1e9;
/** The intents of a history, of which one was changed by newer code. */
const withHeld = (held: IntentId, ...history: readonly ExpectedEvent[]): Ledger => {
  const { ledger } = given(...history);
  const intent = ledger.intent(held);
  if (intent === undefined) throw new Error(`${held} is not in this history`);
  ledger.put({ ...intent, heldFrom: intent.version });
  return ledger;
};
const refusal = { transitions: [], outcome: { kind: 'refused', refusal: { code: 'intent.unavailable' } } };

describe('a held intent', () => {
  const ledger = withHeld(INTENT, created({ idempotencyKey: 'order 7' }), detected());

  it.each([gateway.cancel(), gateway.prepare(FIRST), gateway.recordBuild(), gateway.simulate('pending')])(
    'refuses $type and appends nothing, not even its expiry',
    (command: Command) => {
      expect(decide(command, NOW, ledger)).toMatchObject(refusal);
    },
  );

  it('leaves observations and its expiry to the code that understands it', () => {
    for (const input of [watcher.landed(FIRST), watcher.dropped(FIRST), owner.expire()])
      expect(() => decide(input, NOW, ledger)).toThrow(HeldIntentError);
  });

  it('keeps its idempotency key: another create does not make a second intent', () => {
    const again = about(SUCCESSOR, gateway.create({ idempotencyKey: 'order 7' }));
    expect(decide(again, SCENARIO_START + 1, ledger)).toMatchObject(refusal);
  });
});

describe('the refund of a held original', () => {
  const paid = [created(), confirmed(FIRST), refundLinked(REFUND), refundCreated(REFUND)];
  const claimed = [...paid, of(REFUND, prepared(SECOND))];
  const decided = (input: Input, ...history: readonly ExpectedEvent[]) =>
    decide(about(REFUND, input), SCENARIO_START + 1, withHeld(INTENT, ...history));
  const typesOf = (input: Input, ...history: readonly ExpectedEvent[]) =>
    decided(input, ...history).transitions.map(({ event }) => event.type);

  it('is not claimed', () => {
    expect(decided(gateway.prepare(SECOND), ...paid)).toMatchObject(refusal);
  });

  it('follows its own transaction', () => {
    expect(typesOf(gateway.recordBroadcast(SECOND), ...claimed)).toEqual(['intent.pending']);
    expect(typesOf(watcher.landed(SECOND, refundTransfer(REFUND)), ...claimed)).toEqual([
      'intent.pending',
      'intent.confirmed',
    ]);
    expect(typesOf(watcher.dropped(SECOND), ...claimed)).toEqual(['submission_released']);
  });

  it('is changed by its account', () => {
    expect(typesOf(gateway.detect(), ...paid)).toEqual(['intent.detected']);
  });

  it('does not end, nor is it linked again, before its original can take that in', () => {
    expect(decided(gateway.cancel(), ...paid)).toMatchObject(refusal);
    const ledger = withHeld(INTENT, ...paid);
    expect(() => decide(about(REFUND, owner.expire()), NOW, ledger)).toThrow(HeldIntentError);
    const ended = [...paid, of(REFUND, cancelled()), refundReleased(REFUND)];
    expect(() => decided(watcher.landed(SECOND, refundTransfer(REFUND)), ...ended)).toThrow(HeldIntentError);
  });
});

describe('the original of a held refund', () => {
  it('fails with its payment, and leaves its refund, which can then not be paid', () => {
    const ledger = withHeld(
      REFUND,
      created(),
      confirmed(FIRST),
      refundLinked(REFUND),
      refundCreated(REFUND),
      lost(FIRST),
    );
    const { transitions } = decide(watcher.dropped(FIRST), SCENARIO_START + 1, ledger);
    expect(transitions.map(({ event }) => `${event.type} of ${event.intentId}`)).toEqual([
      `intent.failed of ${INTENT}`,
    ]);
  });
});
