import type { PaymentIntent } from './intent.ts';
import { type Refusal, refusalOf } from './refusal.ts';

/**
 * From how many events of an intent on a request that would append another is refused. What a payer may repeat ends
 * first, so that no payer can use up what the account needs: its own changes, and refunds last of all. What ends an
 * intent or only tells what has happened (detect, cancel, expiry, broadcasts and their refusals, observations) is never
 * refused for its number.
 */
export const EVENTS_MAX = { submit: 1_000, change: 1_500, refund: 2_000 } as const;

/**
 * From how many events of an intent on a build is returned, but not recorded: one more for the same fulfiller, and one
 * for another. So whatever payers repeat, all can go on paying; and one alone cannot keep the intent from naming the
 * next as its fulfiller.
 */
export const RECORDED_BUILDS = { again: 250, other: 500 } as const;

/** How many different transactions may be submitted for one intent. */
export const SUBMISSIONS_MAX = 50;

/**
 * How many transfers are counted before one with other terms is passed over, and before an extra payment is. Anyone can
 * send dust with an intent's reference; room for extra payments stays. A payment that settles is always counted.
 */
export const COUNTED_MAX = { mismatched: 100, extra: 200 } as const;

/** How many counted transfers an intent remembers. More than this are only in histories from before COUNTED_MAX. */
export const REMEMBERED_MAX = 1_000;

/** Null while the intent may grow by such a request. */
export const refusalAtLimit = (intent: PaymentIntent, request: keyof typeof EVENTS_MAX): Refusal | null =>
  intent.version < EVENTS_MAX[request]
    ? null
    : refusalAt(intent, 'events', EVENTS_MAX[request], `The payment intent has ${intent.version} events`);

/** Null while another transaction may be submitted. */
export const refusalAtSubmissions = (intent: PaymentIntent): Refusal | null =>
  intent.submissions.length < SUBMISSIONS_MAX
    ? null
    : refusalAt(
        intent,
        'submissions',
        SUBMISSIONS_MAX,
        `${intent.submissions.length} transactions were submitted for this payment intent`,
      );

const refusalAt = (intent: PaymentIntent, limit: 'events' | 'submissions', max: number, fact: string): Refusal =>
  refusalOf(intent, 'intent.limit_reached', `${fact}, and the limit for this request is ${max}. Create another one.`, {
    details: { limit, max },
  });
