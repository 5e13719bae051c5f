import { describe, expect, it } from '@jest/globals';
import { isPublicField, isWatched, view, watchedUntil } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import { given } from '../../src/testing/given.ts';
import {
  cancelled,
  confirmed,
  created,
  expired,
  finalized,
  lost,
  pending,
  prepared,
  simulated,
} from '../../src/testing/events.ts';
import { FIRST, INTENT, SCENARIO_START, SYNTHETIC } from '../../src/testing/samples.ts';

const after = (...told: readonly ExpectedEvent[]) => {
  const intent = given(...told).ledger.intent(INTENT);
  if (intent === undefined) throw new Error('a story begins with a creation');
  return intent;
};
const paid = [created(), prepared(FIRST), pending(FIRST), confirmed(FIRST)];

describe('the public view', () => {
  it('has exactly the fields of spec.md part 2.1, in its order', () => {
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

  it('leaves the idempotency key out where there is none: it is a string or nothing', () => {
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

  it('shows nothing private', () => {
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

describe('an intent is watched', () => {
  const DAY = 24 * 60 * 60 * 1000;
  it.each([
    { name: 'without end while it is open', told: [created()], until: null },
    { name: 'without end until its settling transaction is final', told: paid, until: null },
    { name: 'for some time after it is final', told: [...paid, finalized(FIRST)], until: SCENARIO_START + 4000 + DAY },
    {
      name: 'without end again when a final transaction was lost after all',
      told: [...paid, finalized(FIRST), lost(FIRST)],
      until: null,
    },
    { name: 'for some time after it expired', told: [created(), expired()], until: SCENARIO_START + 1000 + DAY },
    {
      name: 'without end again after a late payment',
      told: [created(), expired(), confirmed(FIRST, {}, 'expired')],
      until: null,
    },
    {
      name: 'for some time after it was cancelled',
      told: [created(), cancelled()],
      until: SCENARIO_START + 1000 + DAY,
    },
  ])('$name', ({ told, until }) => {
    const intent = after(...told);
    expect(watchedUntil(intent, DAY)).toBe(until);
    expect(isWatched(intent, SCENARIO_START + DAY, DAY)).toBe(true);
    expect(isWatched(intent, SCENARIO_START + 10 * DAY, DAY)).toBe(until === null);
  });

  it('never once it was simulated', () => {
    expect(isWatched(after(created(), simulated.pending(SYNTHETIC)), SCENARIO_START, DAY)).toBe(false);
  });
});
