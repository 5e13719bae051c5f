import type { Intent, UnexpectedPayment } from '../api/schemas.ts';
import type { State, Step } from './state.ts';
import { type Known, knownOf, type Money } from './money.ts';
import { isOfSponsor, type ProblemKind } from './problem.ts';

/** How a status looks. */
export type Tone = 'calm' | 'busy' | 'good' | 'warn' | 'bad';

/**
 * What a person is offered: to pay; to pay after they were told what may happen, at once or when they may wonder; or
 * nothing.
 */
type Offer = 'pay' | 'again' | 'again_later' | 'nothing';

/** What the page says about the payment: `status.<key>.title` and `.text` in the languages' files. */
export interface Status {
  readonly key: StatusKey;
  readonly tone: Tone;
  readonly offers: Offer;
}
type StatusKey =
  | 'loading'
  | 'unknown'
  | 'unreachable'
  | 'waiting'
  | 'sign_again'
  | 'wrong_payment'
  | 'connecting'
  | 'building'
  | 'ending'
  | 'ready'
  | 'confirming'
  | 'asked'
  | 'sending'
  | 'unseen'
  | 'unsure'
  | 'sent_partly'
  | 'sent_otherwise'
  | 'again'
  | 'stopped'
  | 'pending'
  | 'paid'
  | 'paid_late'
  | 'paid_twice'
  | 'failed'
  | 'ended_wrong'
  | 'expired'
  | 'expired_pending'
  | 'expired_open'
  | 'cancelled'
  | 'ended_open';

/** What the note of a problem says of the money: `money.<key>`. Null where the status says it all. */
type MoneyKey = 'none' | 'asked' | 'handed' | 'out' | 'unknown' | 'otherwise';

interface Telling extends Status {
  readonly note: MoneyKey | null;
}
const tell = (key: StatusKey, tone: Tone, offers: Offer = 'nothing', note: MoneyKey | null = null): Telling => ({
  key,
  tone,
  offers,
  note,
});

/** Every text about the money is chosen here. Only `none` and `sign_again` say that nothing was sent. */
const TELLINGS: Readonly<Record<Known, Telling>> = {
  loading: tell('loading', 'busy'),
  nothing_asked: tell('waiting', 'calm', 'pay', 'none'),
  proven_not_sent: tell('sign_again', 'warn', 'pay', 'none'),
  held: tell('waiting', 'calm', 'pay'),
  asked: tell('asked', 'warn', 'again', 'asked'),
  handed: tell('sending', 'busy', 'again_later', 'handed'),
  out: tell('unseen', 'busy', 'again_later', 'out'),
  unknown: tell('unsure', 'warn', 'again', 'unknown'),
  sent_partly: tell('sent_partly', 'warn', 'again', 'otherwise'),
  sent_otherwise: tell('sent_otherwise', 'warn', 'again', 'otherwise'),
  landed_otherwise: tell('wrong_payment', 'warn', 'again', 'otherwise'),
  pending: tell('pending', 'busy'),
  paid: tell('paid', 'good'),
  paid_late: tell('paid_late', 'good'),
  paid_twice: tell('paid_twice', 'warn'),
  failed: tell('failed', 'bad'),
  expired: tell('expired', 'warn'),
  expired_pending: tell('expired_pending', 'busy'),
  expired_open: tell('expired_open', 'warn'),
  cancelled: tell('cancelled', 'warn'),
  ended_open: tell('ended_open', 'warn'),
  ended_otherwise: tell('ended_wrong', 'bad'),
};
const AGAIN = tell('again', 'warn', 'pay');

/** Null where the money decides. None of these says anything about money. */
const STEPS: Readonly<Record<Step['kind'], Status | null>> = {
  choosing: null,
  connecting: tell('connecting', 'busy', 'pay'),
  building: tell('building', 'busy', 'pay'),
  ending: tell('ending', 'busy', 'pay'),
  ready: tell('ready', 'calm', 'pay'),
  confirming: tell('confirming', 'busy', 'pay'),
  stopped: tell('stopped', 'bad'),
};

/** Whether the person has to be told first what another payment may lead to. */
export const isGuarded = (money: Money): boolean => TELLINGS[knownOf(money)].offers !== 'pay' && !money.isRestarted;

/** The line that tells a person where the payment is. What is known of the money decides before the person's step. */
export function statusOf({ missing, money, step }: Pick<State, 'missing' | 'money' | 'step'>): Status {
  if (missing !== null) return tell(missing, 'bad');
  const known = knownOf(money);
  const told = TELLINGS[known];
  if (told.offers === 'nothing') return told;
  // The wallet that was asked last is the one that this page shows.
  const isConfirming = known === 'asked' && step.kind === 'confirming';
  if (isGuarded(money) && !isConfirming) return told;
  const choosing = known === 'landed_otherwise' ? { ...told, offers: 'pay' as const } : AGAIN;
  return STEPS[step.kind] ?? (told.offers === 'pay' ? told : choosing);
}

/** What the note of a problem says, beside its title: what helps where paying again is safe, and of the money. */
export interface Note {
  readonly help: `problem.${ProblemKind}.text` | null;
  readonly money: `money.${MoneyKey}` | null;
}
export function noteOf(kind: ProblemKind, money: Money): Note {
  const { offers, note } = TELLINGS[knownOf(money)];
  return { help: offers === 'pay' ? `problem.${kind}.text` : null, money: note && `money.${note}` };
}

/** Whether the person can go on by paying the fee that the merchant's sponsor was to pay. */
export const helpsOwnFee = (kind: ProblemKind, { hasSponsor, money }: Pick<State, 'hasSponsor' | 'money'>): boolean =>
  // Some wallets change what a sponsor would sign, each time.
  isOfSponsor(kind) || (kind === 'signed_otherwise' && hasSponsor && !isGuarded(money));

/** The payment of which the texts of a state speak. */
export function receivedIn({ arrived, ...money }: Money): UnexpectedPayment | undefined {
  const isPaid = knownOf({ arrived, ...money }) === 'paid_twice';
  return arrived[isPaid ? 'intent.extra_payment' : 'intent.mismatched_payment'];
}

/** Whether the payment was more than was asked for. */
export const isMore = ({ amountBaseUnits, amountReceivedBaseUnits: received }: Intent): boolean =>
  received !== undefined && received !== amountBaseUnits;

const TIMER_FROM_MS = 5 * 60_000;

/** ms that are left, near the end only: a clock that runs all the time makes people hurry. Null before that. */
export function timeLeft(expiresAt: string, now: number): number | null {
  const left = Date.parse(expiresAt) - now;
  return left > TIMER_FROM_MS ? null : Math.max(left, 0);
}
