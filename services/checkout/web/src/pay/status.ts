import type { State } from './checkout.ts';

/** How a status looks. */
export type Tone = 'calm' | 'busy' | 'good' | 'warn' | 'bad';

/** What the page says about the payment: `status.<key>.title` and `.text` in the languages' files. */
export interface Status {
  readonly key: StatusKey;
  readonly tone: Tone;
  /** Whether a person can begin or go on to pay. */
  readonly isPayable: boolean;
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
  | 'sending'
  | 'unseen'
  | 'stopped'
  | 'pending'
  | 'paid'
  | 'paid_late'
  | 'paid_twice'
  | 'failed'
  | 'failed_wrong'
  | 'expired'
  | 'expired_pending'
  | 'cancelled';

const status = (key: StatusKey, tone: Tone, isPayable = false): Status => ({ key, tone, isPayable });

/** The line that tells a person where the payment is. The chain decides before what this page remembers. */
export function statusOf({ intent, missing, unexpected, step }: State): Status {
  if (missing !== null) return status(missing, 'bad');
  if (intent === null) return status('loading', 'busy');
  const isWrong = unexpected?.type === 'intent.mismatched_payment';
  switch (intent.state) {
    case 'pending':
      return status('pending', 'busy');
    case 'confirmed':
    case 'finalized':
      if (unexpected?.type === 'intent.extra_payment') return status('paid_twice', 'warn');
      return unexpected?.type === 'intent.late_payment' ? status('paid_late', 'good') : status('paid', 'good');
    case 'failed':
      return status(isWrong ? 'failed_wrong' : 'failed', 'bad');
    case 'expired':
      return intent.pendingAtExpiry ? status('expired_pending', 'busy') : status('expired', 'warn');
    case 'cancelled':
      return status('cancelled', 'warn');
    case 'created':
      break;
  }
  switch (step.kind) {
    case 'connecting':
    case 'building':
    case 'ending':
    case 'confirming':
      return status(step.kind, 'busy', true);
    case 'ready':
      return status('ready', 'calm', true);
    case 'sending':
      return status(step.isUnseen ? 'unseen' : 'sending', 'busy');
    case 'stopped':
      return status('stopped', 'bad');
    case 'choosing':
      break;
  }
  if (isWrong) return status('wrong_payment', 'warn', true);
  return intent.retryRequired ? status('sign_again', 'warn', true) : status('waiting', 'calm', true);
}

const TIMER_FROM_MS = 5 * 60_000;

/** ms that are left, near the end only: a clock that runs all the time makes people hurry. Null before that. */
export function timeLeft(expiresAt: string, now: number): number | null {
  const left = Date.parse(expiresAt) - now;
  return left > TIMER_FROM_MS ? null : Math.max(left, 0);
}
