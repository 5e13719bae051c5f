import type { Transfer } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import {
  cancelled,
  confirmed,
  confirmedLate,
  created,
  dropped,
  erased,
  expired,
  extraPayment,
  failed,
  finalized,
  lost,
  mismatchedPayment,
  mismatchDisproved,
  mismatchWithdrawn,
  pending,
  prepared,
  refused,
  restored,
  retryRequired,
} from '../../src/testing/events.ts';
import { owner, watcher } from '../../src/testing/inputs.ts';
import {
  ALICE,
  CAROL,
  EURC,
  FIRST,
  MOVED,
  REFUND,
  referenceOf,
  SECOND,
  SCENARIO_START,
  TTL_SECONDS,
  UNKNOWN,
  UNPROVEN,
} from '../../src/testing/samples.ts';
import type { Case, Row } from './lifecycle-table.ts';
import { HISTORY } from './lifecycle-table.ts';

const DUE = SCENARIO_START + TTL_SECONDS * 1000;
const live = [created(), prepared(FIRST)];
const byCarol: Partial<Transfer> = { from: CAROL, block: 105n };
/** In a block below the settling one: a reorg that orphans that one need not orphan this. */
const earlierByCarol: Partial<Transfer> = { from: CAROL, block: 1n };
/** Carol's wallet paid by itself while Bob's transaction could still land. */
const paidByAnother = [created(), prepared(FIRST), pending(UNKNOWN, { fulfiller: CAROL }), confirmed(UNKNOWN, byCarol)];
const paidByAnotherForGood = [...paidByAnother, finalized(UNKNOWN, byCarol)];
const sentAlone = (history: readonly ExpectedEvent[]): readonly ExpectedEvent[] =>
  history.filter(({ type }) => type !== 'submission_prepared');
const after = (state: keyof typeof HISTORY, ...more: readonly ExpectedEvent[]): readonly ExpectedEvent[] => [
  ...HISTORY[state],
  ...more,
];

const settled = (state: 'confirmed' | 'finalized'): readonly Case[] => [
  { if: 'it is the settling transfer' },
  { if: 'it is the settling transfer, moved by a reorg that no watcher reported', when: watcher.landed(FIRST, MOVED) },
  {
    if: 'it is the settling transfer, after it was lost',
    given: after(state, lost(FIRST)),
    when: watcher.landed(FIRST, MOVED),
    then: [restored(FIRST, MOVED)],
  },
  {
    if: 'it is another transfer, after the settling one was lost',
    given: after(state, lost(FIRST)),
    when: watcher.landed(SECOND, byCarol),
    then: [restored(SECOND, byCarol)],
  },
  {
    if: 'it is an extra payment that was lost with the settling one',
    given: after(state, extraPayment(UNKNOWN, byCarol), lost(FIRST)),
    when: watcher.landed(UNKNOWN, byCarol),
    then: [restored(UNKNOWN, byCarol)],
  },
  { if: 'it is another transfer', when: watcher.landed(UNKNOWN, byCarol), then: [extraPayment(UNKNOWN, byCarol)] },
  {
    if: 'it is an extra payment, observed before',
    given: after(state, extraPayment(UNKNOWN, byCarol)),
    when: watcher.landed(UNKNOWN, byCarol),
  },
  {
    if: 'it was reported unproven, and another payment stands',
    given: after(state, mismatchedPayment(UNKNOWN, { ...byCarol, ...UNPROVEN }, 'reference')),
    when: watcher.landed(UNKNOWN, byCarol),
  },
  {
    if: 'it is another transfer of the settling transaction',
    when: watcher.landed(FIRST, { index: '1' }),
    then: [extraPayment(FIRST, { index: '1' })],
  },
];

const isLost = (state: 'confirmed' | 'finalized'): readonly Case[] => [
  { if: 'it is the settling transaction', then: [lost(FIRST)] },
  {
    if: 'it is the settling transaction, and an extra payment stands',
    given: after(state, extraPayment(UNKNOWN, earlierByCarol)),
    then: [lost(FIRST), restored(UNKNOWN, earlierByCarol)],
  },
  {
    if: 'it is the settling transaction, and an extra payment is lost with it',
    given: after(state, extraPayment(UNKNOWN, byCarol)),
    then: [lost(FIRST)],
  },
  { if: 'it is the settling transaction, lost before', given: after(state, lost(FIRST)) },
  { if: 'it is another transaction', when: watcher.lost(UNKNOWN) },
];

type Mismatch = readonly [term: string, change: Partial<Transfer>, differs: Parameters<typeof mismatchedPayment>[2]];
const MISMATCHES: readonly Mismatch[] = [
  ['token', { tokenAddress: EURC }, 'token'],
  ['recipient', { to: CAROL }, 'recipient'],
  ['larger amount', { amount: 12_500_001n }, 'amount'],
  ['smaller amount', { amount: 12_499_999n }, 'amount'],
  ['sender, the requestor itself', { from: ALICE }, 'sender'],
];
const mismatch = ([term, change, differs]: Mismatch): Case => ({
  if: `it has another ${term}`,
  when: watcher.landed(UNKNOWN, change),
  then: [mismatchedPayment(UNKNOWN, change, differs)],
});
const less: Partial<Transfer> = { amount: 1n };
const mismatchOfLive = (given: readonly ExpectedEvent[], ...also: readonly ExpectedEvent[]): Case => ({
  if: 'it is of the live submission',
  given,
  when: watcher.landed(FIRST, less),
  then: [mismatchedPayment(FIRST, less, 'amount'), ...also],
});
/** The transfer was reported without its reference, which is proven now. */
const proven = (history: readonly ExpectedEvent[], ...then: readonly ExpectedEvent[]): Case => ({
  if: 'it was reported unproven',
  given: [...history, mismatchedPayment(UNKNOWN, { ...byCarol, ...UNPROVEN }, 'reference')],
  when: watcher.landed(UNKNOWN, byCarol),
  then: [mismatchWithdrawn(UNKNOWN, byCarol), ...then],
});
/** The transfer was reported without its reference, which is that of another intent. */
const OTHERS: Partial<Transfer> = { reference: referenceOf(REFUND) };
const disproved = (state: keyof typeof HISTORY): readonly Case[] => [
  {
    if: 'it was reported unproven',
    given: after(state, mismatchedPayment(UNKNOWN, { ...byCarol, ...UNPROVEN }, 'reference')),
    then: [mismatchDisproved(UNKNOWN, { ...byCarol, ...OTHERS })],
  },
  {
    if: 'its report was withdrawn before',
    given: after(
      state,
      mismatchedPayment(UNKNOWN, { ...byCarol, ...UNPROVEN }, 'reference'),
      mismatchDisproved(UNKNOWN, { ...byCarol, ...OTHERS }),
    ),
  },
  { if: 'it was not reported' },
];
const paidByIt = (state: 'confirmed' | 'finalized'): readonly Case[] => [
  ...disproved(state),
  { if: 'it is the settling transfer', when: watcher.disproved(FIRST, OTHERS) },
  {
    if: 'it is an extra payment',
    given: after(state, extraPayment(UNKNOWN, byCarol)),
    when: watcher.disproved(UNKNOWN, { ...byCarol, ...OTHERS }),
  },
];
const mismatchFails = failed(FIRST, 'The transaction landed with another amount.');
const repeatedMismatch = (state: keyof typeof HISTORY): Case => ({
  if: 'it was observed before',
  given: after(state, mismatchedPayment(UNKNOWN, less, 'amount')),
  when: watcher.landed(UNKNOWN, less),
});

const erasure = (state: keyof typeof HISTORY): readonly Case[] => [
  { if: 'it was not erased before', then: [erased()] },
  { if: 'it was erased before', given: after(state, erased()) },
];

/** The rows of the clock and of the chain, in the document's order. */
export const OBSERVATION_ROWS: readonly Row[] = [
  {
    name: 'expire',
    when: owner.expire(),
    cells: {
      created: [
        { if: 'expiresAt has passed', at: DUE, then: [expired(false)] },
        { if: 'expiresAt has passed and a submission is live', given: live, at: DUE, then: [expired(true)] },
        {
          if: 'expiresAt has passed and the only submission was released',
          given: [...live, refused(FIRST)],
          at: DUE,
          then: [expired(false)],
        },
        { if: 'expiresAt is in the future', at: DUE - 1 },
      ],
      pending: [
        { if: 'expiresAt has passed', at: DUE, then: [expired(true)] },
        { if: 'expiresAt is in the future', at: DUE - 1 },
      ],
      confirmed: [{ at: DUE }],
      finalized: [{ at: DUE }],
      expired: [{ at: DUE }],
      failed: [{ at: DUE }],
      cancelled: [{ at: DUE }],
    },
  },
  {
    name: 'erase',
    when: owner.erase(),
    cells: {
      created: erasure('created'),
      pending: erasure('pending'),
      confirmed: erasure('confirmed'),
      finalized: erasure('finalized'),
      expired: erasure('expired'),
      failed: erasure('failed'),
      cancelled: erasure('cancelled'),
    },
  },
  {
    name: 'landed, matching the terms',
    when: watcher.landed(FIRST),
    cells: {
      created: [
        { if: 'it is of the live submission', given: live, then: [pending(FIRST), confirmed(FIRST)] },
        {
          if: 'it is of a transaction that was never submitted here',
          when: watcher.landed(UNKNOWN, byCarol),
          then: [pending(UNKNOWN, { fulfiller: CAROL }), confirmed(UNKNOWN, byCarol)],
        },
        {
          if: 'it is of a transaction that a node refused',
          given: [...live, refused(FIRST)],
          then: [pending(FIRST), confirmed(FIRST)],
        },
        {
          if: 'it is of a replaced submission',
          given: [...live, prepared(SECOND)],
          then: [pending(FIRST), confirmed(FIRST)],
        },
        {
          if: 'expiresAt has passed, but the intent has not expired yet',
          given: live,
          at: DUE,
          then: [pending(FIRST), confirmed(FIRST)],
        },
        proven(HISTORY.created, pending(UNKNOWN, { fulfiller: CAROL }), confirmed(UNKNOWN, byCarol)),
      ],
      pending: [
        { if: 'it is of the live submission', then: [confirmed(FIRST)] },
        {
          if: 'it is of another transaction',
          when: watcher.landed(UNKNOWN, byCarol),
          then: [confirmed(UNKNOWN, byCarol)],
        },
        proven(HISTORY.pending, confirmed(UNKNOWN, byCarol)),
      ],
      confirmed: settled('confirmed'),
      finalized: settled('finalized'),
      expired: [
        { given: [...live, expired(true)], then: [...confirmedLate(FIRST, {}, 'expired')] },
        proven(HISTORY.expired, ...confirmedLate(UNKNOWN, byCarol, 'expired')),
      ],
      failed: [
        { when: watcher.landed(UNKNOWN, byCarol), then: [...confirmedLate(UNKNOWN, byCarol, 'failed')] },
        {
          if: 'it is the settling transfer, which was lost and then failed',
          given: after('confirmed', lost(FIRST), failed(FIRST)),
          then: [...confirmedLate(FIRST, {}, 'failed')],
        },
        proven(HISTORY.failed, ...confirmedLate(UNKNOWN, byCarol, 'failed')),
      ],
      cancelled: [
        { when: watcher.landed(UNKNOWN, byCarol), then: [...confirmedLate(UNKNOWN, byCarol, 'cancelled')] },
        proven(HISTORY.cancelled, ...confirmedLate(UNKNOWN, byCarol, 'cancelled')),
      ],
    },
  },
  {
    name: 'landed, matching the terms, finalized',
    when: watcher.landedFinal(FIRST),
    cells: {
      created: [{ given: live, then: [pending(FIRST), confirmed(FIRST), finalized(FIRST)] }],
      pending: [{ then: [confirmed(FIRST), finalized(FIRST)] }],
      confirmed: [
        { if: 'it is the settling transfer', then: [finalized(FIRST)] },
        {
          if: 'it is the settling transfer, moved by a reorg that no watcher reported',
          when: watcher.landedFinal(FIRST, MOVED),
          then: [finalized(FIRST, MOVED)],
        },
        {
          if: 'it is the settling transfer, after it was lost',
          given: after('confirmed', lost(FIRST)),
          when: watcher.landedFinal(FIRST, MOVED),
          then: [restored(FIRST, MOVED), finalized(FIRST, MOVED)],
        },
        {
          if: 'it is another transfer',
          when: watcher.landedFinal(UNKNOWN, byCarol),
          then: [extraPayment(UNKNOWN, byCarol)],
        },
      ],
      finalized: [
        { if: 'it is the settling transfer' },
        {
          if: 'it is the settling transfer, after it was lost',
          given: after('finalized', lost(FIRST)),
          then: [restored(FIRST)],
        },
        {
          if: 'it is another transfer',
          when: watcher.landedFinal(UNKNOWN, byCarol),
          then: [extraPayment(UNKNOWN, byCarol)],
        },
      ],
      expired: [{ then: [...confirmedLate(FIRST, {}, 'expired'), finalized(FIRST)] }],
      failed: [{ then: [...confirmedLate(FIRST, {}, 'failed'), finalized(FIRST)] }],
      cancelled: [{ then: [...confirmedLate(FIRST, {}, 'cancelled'), finalized(FIRST)] }],
    },
  },
  {
    name: 'landed, differing from the terms',
    when: watcher.landed(UNKNOWN, less),
    cells: {
      created: [...MISMATCHES.map(mismatch), mismatchOfLive(live, mismatchFails), repeatedMismatch('created')],
      pending: [
        ...MISMATCHES.map(mismatch),
        mismatchOfLive(HISTORY.pending, mismatchFails),
        repeatedMismatch('pending'),
      ],
      confirmed: [...MISMATCHES.map(mismatch), mismatchOfLive(paidByAnother), repeatedMismatch('confirmed')],
      finalized: [...MISMATCHES.map(mismatch), mismatchOfLive(paidByAnotherForGood), repeatedMismatch('finalized')],
      expired: [...MISMATCHES.map(mismatch), mismatchOfLive([...live, expired(true)]), repeatedMismatch('expired')],
      failed: [
        ...MISMATCHES.map(mismatch),
        mismatchOfLive([...paidByAnother, lost(UNKNOWN), failed(UNKNOWN)]),
        repeatedMismatch('failed'),
      ],
      cancelled: [...MISMATCHES.map(mismatch), mismatchOfLive([...live, cancelled()]), repeatedMismatch('cancelled')],
    },
  },
  {
    name: 'disproved: it carries the reference of another intent',
    when: watcher.disproved(UNKNOWN, { ...byCarol, ...OTHERS }),
    cells: {
      created: disproved('created'),
      pending: disproved('pending'),
      confirmed: paidByIt('confirmed'),
      finalized: paidByIt('finalized'),
      expired: disproved('expired'),
      failed: disproved('failed'),
      cancelled: disproved('cancelled'),
    },
  },
  {
    name: 'reverted',
    when: watcher.reverted(FIRST),
    cells: {
      created: [
        { if: 'it is the live submission', given: live, then: [pending(FIRST), failed(FIRST)] },
        { if: 'it is not the live submission', given: [...live, refused(FIRST)] },
      ],
      pending: [
        { if: 'it is the live submission', then: [failed(FIRST)] },
        { if: 'it is not the live submission', when: watcher.reverted(UNKNOWN) },
      ],
      confirmed: [
        { if: 'it is the live submission', given: paidByAnother },
        {
          if: 'it is the settling transaction, after it was lost',
          given: after('confirmed', lost(FIRST)),
          then: [failed(FIRST)],
        },
        {
          if: 'it is a settling transaction that was never submitted here, after it was lost',
          given: [...sentAlone(HISTORY.confirmed), lost(FIRST)],
          then: [failed(FIRST)],
        },
        { if: 'it is the settling transaction' },
      ],
      finalized: [
        { if: 'it is the live submission', given: paidByAnotherForGood },
        {
          if: 'it is the settling transaction, after it was lost',
          given: after('finalized', lost(FIRST)),
          then: [failed(FIRST)],
        },
        { if: 'it is the settling transaction' },
      ],
      expired: [
        { if: 'it is the live submission', given: [...live, expired(true)], then: [failed(FIRST)] },
        { if: 'it is not the live submission' },
      ],
      failed: [
        { if: 'it is the live submission', given: [...paidByAnother, lost(UNKNOWN), failed(UNKNOWN)] },
        { if: 'it is not the live submission' },
      ],
      cancelled: [
        { if: 'it is the live submission', given: [...live, cancelled()] },
        { if: 'it is not the live submission' },
      ],
    },
  },
  {
    name: 'dropped',
    when: watcher.dropped(FIRST),
    cells: {
      created: [
        { if: 'it is the live submission', given: live, then: [dropped(FIRST)] },
        { if: 'it is not the live submission', given: [...live, prepared(SECOND)] },
      ],
      pending: [
        { if: 'it is the live submission', then: [retryRequired(FIRST)] },
        { if: 'it is not the live submission', when: watcher.dropped(UNKNOWN) },
      ],
      confirmed: [
        { if: 'it is the live submission', given: paidByAnother, then: [dropped(FIRST)] },
        {
          if: 'it is the settling transaction, after it was lost',
          given: after('confirmed', lost(FIRST)),
          then: [failed(FIRST, 'its nonce is used')],
        },
        { if: 'it is the settling transaction' },
      ],
      finalized: [
        { if: 'it is the live submission', given: paidByAnotherForGood, then: [dropped(FIRST)] },
        {
          if: 'it is the settling transaction, after it was lost',
          given: after('finalized', lost(FIRST)),
          then: [failed(FIRST, 'its nonce is used')],
        },
        { if: 'it is the settling transaction' },
      ],
      expired: [
        { if: 'it is the live submission', given: [...live, expired(true)], then: [dropped(FIRST)] },
        { if: 'it is not the live submission' },
      ],
      failed: [
        {
          if: 'it is the live submission',
          given: [...paidByAnother, lost(UNKNOWN), failed(UNKNOWN)],
          then: [dropped(FIRST)],
        },
        { if: 'it is not the live submission' },
      ],
      cancelled: [
        { if: 'it is the live submission', given: [...live, cancelled()], then: [dropped(FIRST)] },
        { if: 'it is not the live submission' },
      ],
    },
  },
  {
    name: 'lost',
    when: watcher.lost(FIRST),
    cells: {
      created: [{}],
      pending: [{}],
      confirmed: isLost('confirmed'),
      finalized: isLost('finalized'),
      expired: [{}],
      failed: [
        {},
        { if: 'it is the settling transaction, lost before', given: after('confirmed', lost(FIRST), failed(FIRST)) },
      ],
      cancelled: [{}],
    },
  },
];
