import type { Deposit, PaymentEvent, State } from '../api/types.ts';
import type { Tone } from '../ui/badge.tsx';

/** The states of a payment, in the order of its life. */
export const STATES = {
  created: { label: 'Waiting', tone: 'plain', means: 'Waits for a payer.' },
  pending: { label: 'Pending', tone: 'info', means: 'A transaction is on its way.' },
  confirmed: { label: 'Paid', tone: 'good', means: 'Paid. The chain makes it final in the background.' },
  finalized: { label: 'Final', tone: 'good', means: 'Paid, and final on the chain.' },
  failed: { label: 'Failed', tone: 'bad', means: 'The transaction failed: no money has moved for it.' },
  expired: { label: 'Expired', tone: 'plain', means: 'The time ran out before a payment.' },
  cancelled: { label: 'Cancelled', tone: 'plain', means: 'You have cancelled it.' },
} as const satisfies Readonly<Record<State, { readonly label: string; readonly tone: Tone; readonly means: string }>>;
export const STATE_NAMES = Object.keys(STATES) as readonly State[];

/** Whether a payment has ended: what can still come is unusual. */
export const hasEnded = (state: State): boolean => state === 'finalized' || state === 'failed' || state === 'cancelled';

/** The states that a test can simulate next (docs/guide/testing.md). */
export const SIMULATED: Readonly<Record<State, readonly State[]>> = {
  created: ['confirmed', 'finalized', 'pending', 'failed', 'expired'],
  pending: ['confirmed', 'finalized', 'failed', 'expired', 'created'],
  confirmed: ['finalized'],
  finalized: [],
  failed: [],
  expired: [],
  cancelled: [],
};

interface EventText {
  readonly label: string;
  readonly tone: Tone;
  /** What the payer's app can show from then on; null where it is nothing new. */
  readonly payer: string | null;
}

/** What happened, and what the payer saw of it. */
export const EVENTS: Readonly<Record<PaymentEvent['type'], EventText>> = {
  'intent.created': { label: 'Created', tone: 'plain', payer: null },
  'intent.detected': { label: "Opened in a payer's app", tone: 'info', payer: 'The amount, and to whom it goes.' },
  'intent.pending': { label: 'Transaction sent', tone: 'info', payer: 'The payment is on its way.' },
  'intent.confirmed': { label: 'Paid', tone: 'good', payer: 'Paid.' },
  'intent.finalized': { label: 'Final on the chain', tone: 'good', payer: null },
  'intent.failed': { label: 'Failed', tone: 'bad', payer: 'The payment failed: nothing was paid.' },
  'intent.expired': { label: 'Expired', tone: 'plain', payer: 'The time to pay is over.' },
  'intent.cancelled': { label: 'Cancelled', tone: 'plain', payer: 'The request was withdrawn.' },
  'intent.retry_required': {
    label: 'Transaction dropped',
    tone: 'warn',
    payer: 'The payment did not go through. They are asked to sign again.',
  },
  'intent.extra_payment': { label: 'Paid again', tone: 'warn', payer: null },
  'intent.mismatched_payment': { label: 'Wrong payment', tone: 'warn', payer: null },
  'intent.mismatch_withdrawn': { label: 'Report of a wrong payment withdrawn', tone: 'plain', payer: null },
  'intent.payment_claimed': { label: 'Claimed for other payments, too', tone: 'warn', payer: null },
  'intent.late_payment': { label: 'Late payment', tone: 'warn', payer: null },
  'intent.overpaid': { label: 'Paid too much', tone: 'warn', payer: null },
};
export const EVENT_TYPES = Object.keys(EVENTS) as readonly PaymentEvent['type'][];

/** Terms in which a payment was not what was asked for, in words. */
export const TERMS: Readonly<Record<string, string>> = {
  token: 'another token',
  recipient: 'another recipient',
  amount: 'another amount',
  sender: 'another sender',
  reference: 'another reference',
};

/** Why money is no payment. */
export const DEPOSIT_REASONS: Readonly<Record<Deposit['reason'], string>> = {
  no_reference: 'Nothing in the transfer says which payment it is for.',
  unknown_reference: 'It carries the reference of a payment, but of none that is known here.',
  unlisted_token: 'Its token is none that payments are made in.',
  native_coin: "It is the network's own coin, in which no payments are made.",
  two_references: 'It carries more than one reference.',
  several_intents: 'It carries the references of several payments.',
  beyond_limits: 'There were too many payments like it to tell of each.',
  unproven: 'Its transaction names a payment, but nothing shows that this money is for it.',
  unreadable: 'What its transaction did could not be read.',
};
