import type { Address } from './ids.ts';
import type { PaymentIntent, Submission } from './intent.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { claimsOf } from './submission.ts';

/**
 * From how many events of an intent on a request of its account that would append another is refused. What payers can
 * make of it is less, so they cannot use up what the account needs: its own changes, and refunds last of all. What ends
 * an intent or only tells what has happened (detect, cancel, expiry, broadcasts and their refusals, observations) is
 * never refused for its number.
 */
export const EVENTS_MAX = { change: 1_500, refund: 2_000 } as const;

/**
 * From how many events of an intent on a build is returned, but not recorded: one more for the same fulfiller, and one
 * for another. So whatever payers repeat, all can go on paying; and one alone cannot keep the intent from naming the
 * next as its fulfiller.
 */
export const RECORDED_BUILDS = { again: 100, other: 200 } as const;

/**
 * How often an intent may be claimed: by one wallet, by one wallet once all of them have claimed it `crowded.from`
 * times, and by all of them. Each wallet has room of its own, because nothing else tells an honest payer from one that
 * submits again and again what no node takes: so a few cannot make the intent unpayable for others. A wallet is
 * verified to be able to pay before it can claim, so many cost the amount in each of them.
 */
export const CLAIMS_MAX = { wallet: 10, crowded: { from: 100, wallet: 2 }, intent: 200 } as const;

/**
 * How many transfers are counted before one with other terms is passed over, and before an extra payment is. Anyone can
 * send dust with an intent's reference, or money to a wallet of their own, so these have the least room: that of real
 * amounts, and the most of all that of extra payments, stays. A payment that settles is always counted.
 */
export const COUNTED_MAX = { dust: 20, mismatched: 100, extra: 200 } as const;

/** How many transfers are counted, with those that turned out to pay other intents. */
export const countedIn = ({ transfers, disproved = [] }: PaymentIntent): number => transfers.length + disproved.length;

/** For how many other intents the reports of an intent name a claim. More would say nothing that these do not. */
export const OTHER_CLAIMS_MAX = 20;

/** A transfer of less than one part in so many of the amount asked for is dust. */
export const DUST_SHARE = 100n;

/** How many counted transfers an intent remembers. More than this are only in histories from before COUNTED_MAX. */
export const REMEMBERED_MAX = 1_000;

/** Null while the intent may grow by such a request. */
export const refusalAtLimit = (intent: PaymentIntent, request: keyof typeof EVENTS_MAX): Refusal | null =>
  intent.version < EVENTS_MAX[request]
    ? null
    : refusalAt(
        intent,
        { limit: 'events', max: EVENTS_MAX[request] },
        `The payment intent has ${intent.version} events`,
        'Create another one.',
      );

/** Null while this wallet may claim the intent once more. */
export const refusalAtClaims = (intent: PaymentIntent, wallet: Address): Refusal | null => {
  const claims = claimsAmong(intent.submissions);
  if (claims >= CLAIMS_MAX.intent)
    return refusalAt(
      intent,
      { limit: 'submissions', max: CLAIMS_MAX.intent },
      `Payments of this intent were submitted ${claims} times`,
      'Create another one.',
    );
  const own = claimsAmong(intent.submissions.filter(({ sender }) => sender === wallet));
  const max = claims < CLAIMS_MAX.crowded.from ? CLAIMS_MAX.wallet : CLAIMS_MAX.crowded.wallet;
  return own < max
    ? null
    : refusalAt(
        intent,
        { limit: 'submissions', max },
        `This wallet has submitted payments of this intent ${own} times`,
        'Pay from another wallet, or create another payment intent.',
      );
};

/** The refusal of one more report of a payment that the intent did not ask for. */
export const refusalAtReports = (intent: PaymentIntent): Refusal =>
  refusalAt(
    intent,
    { limit: 'payments', max: COUNTED_MAX.mismatched },
    `The payment intent has ${countedIn(intent)} payments that do not match it`,
    'Tell the requestor yourself.',
  );

const claimsAmong = (submissions: readonly Submission[]): number =>
  submissions.reduce((sum, submission) => sum + claimsOf(submission), 0);

const refusalAt = (
  intent: PaymentIntent,
  details: { readonly limit: 'events' | 'submissions' | 'payments'; readonly max: number },
  fact: string,
  remedy: string,
): Refusal =>
  refusalOf(intent, 'intent.limit_reached', `${fact}, and the limit for this request is ${details.max}. ${remedy}`, {
    details,
  });
