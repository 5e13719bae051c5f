import { describe, expect, it } from '@jest/globals';
import { evolve, Ledger, VersionGapError } from '@pf/domain';
import { given } from '../src/testing/given.ts';
import { created, detected } from '../src/testing/events.ts';
import { gateway } from '../src/testing/inputs.ts';
import { INTENT, REFUND, STORY_BEGINS } from '../src/testing/samples.ts';

describe('folding', () => {
  const { events } = given(created()).when(gateway.detect()).then(detected()).decision;
  const [detection] = events;
  if (detection === undefined) throw new Error('it was detected');
  const fresh = () => given(created()).ledger;

  it('takes the next event and no other', () => {
    expect(fresh().apply(detection)).toMatchObject({ version: 2, detectedAt: STORY_BEGINS + 1000 });
    expect(() => fresh().apply({ ...detection, version: 3 })).toThrow(VersionGapError);
    expect(() => fresh().apply({ ...detection, version: 1 })).toThrow(VersionGapError);
    expect(() => new Ledger().apply(detection)).toThrow(VersionGapError);
    expect(() => evolve(fresh().intent(INTENT), { ...detection, intentId: REFUND })).toThrow(VersionGapError);
  });

  it('takes a creation only where there is nothing', () => {
    const creation = given(created()).when(gateway.create(), STORY_BEGINS);
    creation.thenNothing();
    expect(() =>
      fresh().apply({
        type: 'intent.created',
        intentId: INTENT,
        version: 1,
        at: STORY_BEGINS,
        data: created().data as never,
      }),
    ).toThrow(VersionGapError);
  });

  it('leaves the intent it started from as it was', () => {
    const ledger = fresh();
    const before = ledger.intent(INTENT);
    ledger.apply(detection);
    expect(before).toMatchObject({ version: 1, detectedAt: null });
    expect(ledger.intent(INTENT)).not.toBe(before);
  });
});

describe('a ledger loaded in any order', () => {
  const older = given(created({ idempotencyKey: 'order 7' })).ledger.intent(INTENT);
  if (older === undefined) throw new Error('it was created');
  const newer = { ...older, id: REFUND, createdAt: older.createdAt + 25 * 60 * 60 * 1000 };

  it('answers a key with its newest intent', () => {
    const now = newer.createdAt + 1;
    expect(new Ledger([older, newer]).withKey(older.accountId, false, 'order 7', now)).toBe(newer);
    expect(new Ledger([newer, older]).withKey(older.accountId, false, 'order 7', now)).toBe(newer);
  });

  it('answers a key with the intent as it is now, not as it was made', () => {
    const ledger = new Ledger([older]);
    ledger.put({ ...older, status: 'expired', version: 2 });
    expect(ledger.withKey(older.accountId, false, 'order 7', older.createdAt)).toMatchObject({ status: 'expired' });
    ledger.apply({ type: 'intent.detected', intentId: INTENT, version: 3, at: older.createdAt, data: {} });
    expect(ledger.withKey(older.accountId, false, 'order 7', older.createdAt)).toMatchObject({ version: 3 });
  });
});
