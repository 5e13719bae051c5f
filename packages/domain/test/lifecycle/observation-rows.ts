import type { Transfer } from '@pf/domain';
import type { ExpectedEvent } from '../../src/testing/given.ts';
import {
  cancelled,
  confirmed,
  created,
  dropped,
  expired,
  extraPayment,
  failed,
  finalized,
  lost,
  mismatchedPayment,
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
  SECOND,
  SCENARIO_START,
  TTL_SECONDS,
  UNKNOWN,
} from '../../src/testing/samples.ts';
import type { Case, Row } from './lifecycle-table.ts';
import { HISTORY } from './lifecycle-table.ts';

const DUE = SCENARIO_START + TTL_SECONDS * 1000;
const live = [created(), prepared(FIRST)];
const byCarol: Partial<Transfer> = { from: CAROL, block: 105n };
/** In a block below the settling one: a reorganisation that takes that one need not take this. */
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
  { if: 'the settling one' },
  { if: 'the settling one, moved by a reorganisation that nobody saw', when: watcher.landed(FIRST, MOVED) },
  {
    if: 'the settling one, after lost',
    given: after(state, lost(FIRST)),
    when: watcher.landed(FIRST, MOVED),
    then: [restored(FIRST, MOVED)],
  },
  {
    if: 'another, after the settling one was lost',
    given: after(state, lost(FIRST)),
    when: watcher.landed(SECOND, byCarol),
    then: [restored(SECOND, byCarol)],
  },
  {
    if: 'an extra one that went with the settling one',
    given: after(state, extraPayment(UNKNOWN, byCarol), lost(FIRST)),
    when: watcher.landed(UNKNOWN, byCarol),
    then: [restored(UNKNOWN, byCarol)],
  },
  { if: 'another', when: watcher.landed(UNKNOWN, byCarol), then: [extraPayment(UNKNOWN, byCarol)] },
  {
    if: 'another, seen before',
    given: after(state, extraPayment(UNKNOWN, byCarol)),
    when: watcher.landed(UNKNOWN, byCarol),
  },
  {
    if: 'another transfer of the settling transaction',
    when: watcher.landed(FIRST, { index: '1' }),
    then: [extraPayment(FIRST, { index: '1' })],
  },
];

const isLost = (state: 'confirmed' | 'finalized'): readonly Case[] => [
  { then: [lost(FIRST)] },
  {
    if: 'an extra payment stands',
    given: after(state, extraPayment(UNKNOWN, earlierByCarol)),
    then: [lost(FIRST), restored(UNKNOWN, earlierByCarol)],
  },
  { if: 'an extra payment is gone with it', given: after(state, extraPayment(UNKNOWN, byCarol)), then: [lost(FIRST)] },
  { if: 'again', given: after(state, lost(FIRST)) },
  { if: 'of another', when: watcher.lost(UNKNOWN) },
];

type Wrong = readonly [what: string, change: Partial<Transfer>, differs: Parameters<typeof mismatchedPayment>[2]];
const WRONG: readonly Wrong[] = [
  ['token', { tokenAddress: EURC }, 'token'],
  ['recipient', { to: CAROL }, 'recipient'],
  ['a larger amount', { amount: 12_500_001n }, 'amount'],
  ['a smaller amount', { amount: 12_499_999n }, 'amount'],
  ['from = to', { from: ALICE }, 'sender'],
];
const wrong = ([what, change, differs]: Wrong): Case => ({
  if: what,
  when: watcher.landed(UNKNOWN, change),
  then: [mismatchedPayment(UNKNOWN, change, differs)],
});
const less: Partial<Transfer> = { amount: 1n };
const wrongOfLive = (given: readonly ExpectedEvent[], ...also: readonly ExpectedEvent[]): Case => ({
  if: 'of the live submission',
  given,
  when: watcher.landed(FIRST, less),
  then: [mismatchedPayment(FIRST, less, 'amount'), ...also],
});
const wrongFails = failed(FIRST, 'The transaction landed with another amount.');
const wrongAgain = (state: keyof typeof HISTORY): Case => ({
  if: 'seen before',
  given: after(state, mismatchedPayment(UNKNOWN, less, 'amount')),
  when: watcher.landed(UNKNOWN, less),
});

/** The rows of the clock and of the chain, in the document's order. */
export const OBSERVATION_ROWS: readonly Row[] = [
  {
    name: 'expire',
    when: owner.expire(),
    cells: {
      created: [
        { if: 'its time has run out', at: DUE, then: [expired(false)] },
        { if: 'a submission is live', given: live, at: DUE, then: [expired(true)] },
        { if: 'a submission was released', given: [...live, refused(FIRST)], at: DUE, then: [expired(false)] },
        { if: 'there is time left', at: DUE - 1 },
      ],
      pending: [
        { if: 'its time has run out', at: DUE, then: [expired(true)] },
        { if: 'there is time left', at: DUE - 1 },
      ],
      confirmed: [{ at: DUE }],
      finalized: [{ at: DUE }],
      expired: [{ at: DUE }],
      failed: [{ at: DUE }],
      cancelled: [{ at: DUE }],
    },
  },
  {
    name: 'landed, right terms',
    when: watcher.landed(FIRST),
    cells: {
      created: [
        { if: 'of the live submission', given: live, then: [pending(FIRST), confirmed(FIRST)] },
        {
          if: 'of a transaction that nobody submitted',
          when: watcher.landed(UNKNOWN, byCarol),
          then: [pending(UNKNOWN, { fulfiller: CAROL }), confirmed(UNKNOWN, byCarol)],
        },
        {
          if: 'of a transaction that the node had refused',
          given: [...live, refused(FIRST)],
          then: [pending(FIRST), confirmed(FIRST)],
        },
        {
          if: 'of a replaced submission',
          given: [...live, prepared(SECOND)],
          then: [pending(FIRST), confirmed(FIRST)],
        },
        { if: 'after its time, before it was expired', given: live, at: DUE, then: [pending(FIRST), confirmed(FIRST)] },
      ],
      pending: [
        { if: 'of the live submission', then: [confirmed(FIRST)] },
        { if: 'of another transaction', when: watcher.landed(UNKNOWN, byCarol), then: [confirmed(UNKNOWN, byCarol)] },
      ],
      confirmed: settled('confirmed'),
      finalized: settled('finalized'),
      expired: [{ given: [...live, expired(true)], then: [confirmed(FIRST, {}, 'expired')] }],
      failed: [
        { when: watcher.landed(UNKNOWN, byCarol), then: [confirmed(UNKNOWN, byCarol, 'failed')] },
        {
          if: 'the settling one that was lost and given up',
          given: after('confirmed', lost(FIRST), failed(FIRST)),
          then: [confirmed(FIRST, {}, 'failed')],
        },
      ],
      cancelled: [{ when: watcher.landed(UNKNOWN, byCarol), then: [confirmed(UNKNOWN, byCarol, 'cancelled')] }],
    },
  },
  {
    name: '… finalized level',
    when: watcher.landedForGood(FIRST),
    cells: {
      created: [{ given: live, then: [pending(FIRST), confirmed(FIRST), finalized(FIRST)] }],
      pending: [{ then: [confirmed(FIRST), finalized(FIRST)] }],
      confirmed: [
        { if: 'the settling one', then: [finalized(FIRST)] },
        {
          if: 'the settling one, moved by a reorganisation that nobody saw',
          when: watcher.landedForGood(FIRST, MOVED),
          then: [finalized(FIRST, MOVED)],
        },
        {
          if: 'the settling one, after lost',
          given: after('confirmed', lost(FIRST)),
          when: watcher.landedForGood(FIRST, MOVED),
          then: [restored(FIRST, MOVED), finalized(FIRST, MOVED)],
        },
        { if: 'another', when: watcher.landedForGood(UNKNOWN, byCarol), then: [extraPayment(UNKNOWN, byCarol)] },
      ],
      finalized: [
        { if: 'the settling one, already' },
        { if: 'the settling one, after lost', given: after('finalized', lost(FIRST)), then: [restored(FIRST)] },
        { if: 'another', when: watcher.landedForGood(UNKNOWN, byCarol), then: [extraPayment(UNKNOWN, byCarol)] },
      ],
      expired: [{ then: [confirmed(FIRST, {}, 'expired'), finalized(FIRST)] }],
      failed: [{ then: [confirmed(FIRST, {}, 'failed'), finalized(FIRST)] }],
      cancelled: [{ then: [confirmed(FIRST, {}, 'cancelled'), finalized(FIRST)] }],
    },
  },
  {
    name: 'landed, other terms',
    when: watcher.landed(UNKNOWN, less),
    cells: {
      created: [...WRONG.map(wrong), wrongOfLive(live, wrongFails), wrongAgain('created')],
      pending: [...WRONG.map(wrong), wrongOfLive(HISTORY.pending, wrongFails), wrongAgain('pending')],
      confirmed: [...WRONG.map(wrong), wrongOfLive(paidByAnother), wrongAgain('confirmed')],
      finalized: [...WRONG.map(wrong), wrongOfLive(paidByAnotherForGood), wrongAgain('finalized')],
      expired: [...WRONG.map(wrong), wrongOfLive([...live, expired(true)]), wrongAgain('expired')],
      failed: [
        ...WRONG.map(wrong),
        wrongOfLive([...paidByAnother, lost(UNKNOWN), failed(UNKNOWN)]),
        wrongAgain('failed'),
      ],
      cancelled: [...WRONG.map(wrong), wrongOfLive([...live, cancelled()]), wrongAgain('cancelled')],
    },
  },
  {
    name: 'reverted, of the live submission',
    when: watcher.reverted(FIRST),
    cells: {
      created: [
        { given: live, then: [pending(FIRST), failed(FIRST)] },
        { if: 'not of the live one', given: [...live, refused(FIRST)] },
      ],
      pending: [{ then: [failed(FIRST)] }, { if: 'not of the live one', when: watcher.reverted(UNKNOWN) }],
      confirmed: [
        { given: paidByAnother },
        { if: 'of the settling one after lost', given: after('confirmed', lost(FIRST)), then: [failed(FIRST)] },
        {
          if: 'of a settling one that nobody submitted, after lost',
          given: [...sentAlone(HISTORY.confirmed), lost(FIRST)],
          then: [failed(FIRST)],
        },
        { if: 'of the settling one' },
      ],
      finalized: [
        { given: paidByAnotherForGood },
        { if: 'of the settling one after lost', given: after('finalized', lost(FIRST)), then: [failed(FIRST)] },
        { if: 'of the settling one' },
      ],
      expired: [{ given: [...live, expired(true)], then: [failed(FIRST)] }, { if: 'not of the live one' }],
      failed: [{ given: [...paidByAnother, lost(UNKNOWN), failed(UNKNOWN)] }, { if: 'not of the live one' }],
      cancelled: [{ given: [...live, cancelled()] }, { if: 'not of the live one' }],
    },
  },
  {
    name: 'dropped, of the live submission',
    when: watcher.dropped(FIRST),
    cells: {
      created: [
        { given: live, then: [dropped(FIRST)] },
        { if: 'not of the live one', given: [...live, prepared(SECOND)] },
      ],
      pending: [{ then: [retryRequired(FIRST)] }, { if: 'not of the live one', when: watcher.dropped(UNKNOWN) }],
      confirmed: [
        { given: paidByAnother, then: [dropped(FIRST)] },
        {
          if: 'of the settling one after lost',
          given: after('confirmed', lost(FIRST)),
          then: [failed(FIRST, 'its nonce is used')],
        },
        { if: 'of the settling one' },
      ],
      finalized: [
        { given: paidByAnotherForGood, then: [dropped(FIRST)] },
        {
          if: 'of the settling one after lost',
          given: after('finalized', lost(FIRST)),
          then: [failed(FIRST, 'its nonce is used')],
        },
        { if: 'of the settling one' },
      ],
      expired: [{ given: [...live, expired(true)], then: [dropped(FIRST)] }, { if: 'not of the live one' }],
      failed: [
        { given: [...paidByAnother, lost(UNKNOWN), failed(UNKNOWN)], then: [dropped(FIRST)] },
        { if: 'not of the live one' },
      ],
      cancelled: [{ given: [...live, cancelled()], then: [dropped(FIRST)] }, { if: 'not of the live one' }],
    },
  },
  {
    name: 'lost, of the settling transaction',
    when: watcher.lost(FIRST),
    cells: {
      created: [{}],
      pending: [{}],
      confirmed: isLost('confirmed'),
      finalized: isLost('finalized'),
      expired: [{}],
      failed: [{}, { if: 'again', given: after('confirmed', lost(FIRST), failed(FIRST)) }],
      cancelled: [{}],
    },
  },
];
