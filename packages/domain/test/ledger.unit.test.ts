import { describe, expect, it } from '@jest/globals';
import { evolve, Ledger, VersionGapError } from '@pf/domain';
import { eventsOf, given } from '../src/testing/given.ts';
import { created, detected } from '../src/testing/events.ts';
import { gateway } from '../src/testing/inputs.ts';
import { INTENT, REFUND, SCENARIO_START } from '../src/testing/samples.ts';

describe('Ledger.apply', () => {
  const [detection] = eventsOf(given(created()).when(gateway.detect()).then(detected()).decision);
  if (detection === undefined) throw new Error('detect led to no event');
  const fresh = () => given(created()).ledger;

  it('folds the next event of an intent and throws on any other', () => {
    expect(fresh().apply(detection)).toMatchObject({ version: 2, detectedAt: SCENARIO_START + 1000 });
    expect(() => fresh().apply({ ...detection, version: 3 })).toThrow(VersionGapError);
    expect(() => fresh().apply({ ...detection, version: 1 })).toThrow(VersionGapError);
    expect(() => new Ledger().apply(detection)).toThrow(VersionGapError);
    expect(() => evolve(fresh().intent(INTENT), { ...detection, intentId: REFUND })).toThrow(VersionGapError);
  });

  it('throws on the creation of an intent that exists', () => {
    const creation = given(created()).when(gateway.create(), SCENARIO_START);
    creation.thenNothing();
    expect(() =>
      fresh().apply({
        type: 'intent.created',
        intentId: INTENT,
        version: 1,
        at: SCENARIO_START,
        data: created().data as never,
      }),
    ).toThrow(VersionGapError);
  });

  it('does not change the intent it starts from', () => {
    const ledger = fresh();
    const before = ledger.intent(INTENT);
    ledger.apply(detection);
    expect(before).toMatchObject({ version: 1, detectedAt: null });
    expect(ledger.intent(INTENT)).not.toBe(before);
  });
});

describe('Ledger.withKey', () => {
  const older = given(created({ idempotencyKey: 'order 7' })).ledger.intent(INTENT);
  if (older === undefined) throw new Error('the intent was not created');
  const newer = { ...older, id: REFUND, createdAt: older.createdAt + 25 * 60 * 60 * 1000 };

  it('finds the newest intent of a key, in whatever order intents were loaded', () => {
    const now = newer.createdAt + 1;
    expect(new Ledger([older, newer]).withKey(older.accountId, false, 'order 7', now)).toBe(newer);
    expect(new Ledger([newer, older]).withKey(older.accountId, false, 'order 7', now)).toBe(newer);
  });

  it('finds the current state of the intent, not the one it was created with', () => {
    const ledger = new Ledger([older]);
    ledger.put({ ...older, status: 'expired', version: 2 });
    expect(ledger.withKey(older.accountId, false, 'order 7', older.createdAt)).toMatchObject({ status: 'expired' });
    ledger.apply({ type: 'intent.detected', intentId: INTENT, version: 3, at: older.createdAt, data: {} });
    expect(ledger.withKey(older.accountId, false, 'order 7', older.createdAt)).toMatchObject({ version: 3 });
  });
});
