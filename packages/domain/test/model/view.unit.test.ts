import { describe, expect, it } from '@jest/globals';
import { isAtRest, isPublicField, isWatched, view, watchedUntil } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import { given } from '../../src/testing/given.ts';
import {
  cancelled,
  confirmed,
  confirmedLate,
  created,
  expired,
  finalized,
  lost,
  pending,
  prepared,
  simulated,
} from '../../src/testing/events.ts';
import { FIRST, INTENT, SCENARIO_START, SYNTHETIC } from '../../src/testing/samples.ts';

const after = (...history: readonly ExpectedEvent[]) => {
  const intent = given(...history).ledger.intent(INTENT);
  if (intent === undefined) throw new Error('a scenario must begin with a creation');
  return intent;
};
const paid = [created(), prepared(FIRST), pending(FIRST), confirmed(FIRST)];

describe('view', () => {
  it('has exactly the fields of the contract, in its order', () => {
    expect(Object.keys(view(after(created({ idempotencyKey: 'order 7' }))))).toEqual([
      'id',
      'idempotencyKey',
      'chain',
      'token',
      'tokenAddress',
      'amount',
      'amountBaseUnits',
      'requestor',
      'fulfiller',
      'direction',
      'state',
      'retryRequired',
      'pendingAtExpiry',
      'reference',
      'txSignature',
      'detectedAt',
      'ataRentLamports',
      'ttlSeconds',
      'expiresAt',
      'createdAt',
      'updatedAt',
      'confirmedAt',
      'finalizedAt',
      'metadata',
      'refundedBy',
      'refundOf',
      'livemode',
    ]);
  });

  it('omits idempotencyKey when the intent has none', () => {
    expect(view(after(created()))).not.toHaveProperty('idempotencyKey');
  });

  it('writes times with milliseconds and money as text', () => {
    expect(view(after(created()))).toMatchObject({
      createdAt: '2026-11-21T12:00:00.000Z',
      expiresAt: '2026-11-21T13:00:00.000Z',
      confirmedAt: null,
      amount: '12.50',
      amountBaseUnits: '12500000',
    });
  });

  it('shows no private field', () => {
    for (const field of [
      'build',
      'submissions',
      'settlement',
      'transfers',
      'simulated',
      'accountId',
      'version',
      'closedAt',
      'decimals',
    ] as const) {
      expect(isPublicField(field)).toBe(false);
      expect(view(after(...paid))).not.toHaveProperty(field);
    }
  });
});

describe('watchedUntil and isWatched', () => {
  const DAY = 24 * 60 * 60 * 1000;
  it.each([
    { name: 'watch an open intent without end', history: [created()], until: null },
    { name: 'watch a confirmed intent without end', history: paid, until: null },
    {
      name: 'watch a finalized intent for the watch time',
      history: [...paid, finalized(FIRST)],
      until: SCENARIO_START + 4000 + DAY,
    },
    {
      name: 'watch a finalized intent without end when its transaction was lost after all',
      history: [...paid, finalized(FIRST), lost(FIRST)],
      until: null,
    },
    {
      name: 'watch an expired intent for the watch time',
      history: [created(), expired()],
      until: SCENARIO_START + 1000 + DAY,
    },
    {
      name: 'watch an intent without end after a late payment',
      history: [created(), expired(), ...confirmedLate(FIRST, {}, 'expired')],
      until: null,
    },
    {
      name: 'watch a cancelled intent for the watch time',
      history: [created(), cancelled()],
      until: SCENARIO_START + 1000 + DAY,
    },
  ])('$name', ({ history, until }) => {
    const intent = after(...history);
    expect(watchedUntil(intent, DAY)).toBe(until);
    expect(isWatched(intent, SCENARIO_START + DAY, DAY)).toBe(true);
    expect(isWatched(intent, SCENARIO_START + 10 * DAY, DAY)).toBe(until === null);
  });

  it('never watch a simulated intent', () => {
    expect(isWatched(after(created(), simulated.pending(SYNTHETIC)), SCENARIO_START, DAY)).toBe(false);
  });
});

describe('isAtRest', () => {
  const LATER = SCENARIO_START + 1_000_000;
  it.each([
    { name: 'finalized', history: [...paid, finalized(FIRST)], atRest: true },
    { name: 'cancelled', history: [created(), cancelled()], atRest: true },
    { name: 'expired', history: [created(), expired()], atRest: true },
    { name: 'open', history: [created()], atRest: false },
    { name: 'confirmed, but not final', history: paid, atRest: false },
    { name: 'finalized, and lost after all', history: [...paid, finalized(FIRST), lost(FIRST)], atRest: false },
    {
      name: 'expired with a transaction that can land',
      history: [created(), prepared(FIRST), expired()],
      atRest: false,
    },
  ])('is $atRest for an intent that is $name', ({ history, atRest }) => {
    const intent = after(...history);
    expect(isAtRest(intent, LATER)).toBe(atRest);
    expect(isAtRest(intent, intent.closedAt ?? LATER)).toBe(false);
    expect(isAtRest({ ...intent, updatedAt: LATER }, LATER)).toBe(false);
    expect(isAtRest({ ...intent, heldFrom: 3 }, LATER)).toBe(false);
  });
});
