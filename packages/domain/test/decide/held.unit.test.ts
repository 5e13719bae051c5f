import { describe, expect, it } from '@jest/globals';
import { type Command, decide, HeldIntentError, type IntentId, type Ledger } from '@pf/domain';
import { type ExpectedEvent, given } from '../../src/testing/given.ts';
import { confirmed, created, detected, refundCreated, refundLinked } from '../../src/testing/events.ts';
import { about, gateway, owner, watcher } from '../../src/testing/inputs.ts';
import { FIRST, INTENT, REFUND, SCENARIO_START, SUCCESSOR } from '../../src/testing/samples.ts';

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
  it('is not claimed', () => {
    const ledger = withHeld(INTENT, created(), confirmed(FIRST), refundLinked(REFUND), refundCreated(REFUND));
    expect(decide(about(REFUND, gateway.prepare(FIRST)), SCENARIO_START + 1, ledger)).toMatchObject(refusal);
  });
});
