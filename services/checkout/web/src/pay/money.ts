import type { Unexpected } from '../api/client.ts';
import type { Intent, UnexpectedPayment } from '../api/schemas.ts';

/** One time that a wallet was asked to pay, as far as it is known what came of it. */
export interface Attempt {
  readonly id: string;
  /** ms, by the clock of the service. */
  readonly at: number;
  readonly payer: string;
  /** The wallet's `key`. */
  readonly wallet: string;
  readonly stage: Stage;
  /** The transaction that the wallet named, or signed. */
  readonly hash: string | null;
  /** The calls that a smart wallet named (EIP-5792). */
  readonly callsId: string | null;
}

/**
 * - `asked`: the wallet shows the payment.
 * - `handed`: the wallet has only signed, and the service was given what it signed. `resent`: a response was lost, so
 *   that the service may have broadcast it.
 * - `held`: the merchant's sponsor has it. While it can land, the service builds nothing else.
 * - `out`: the wallet says that it has sent the payment.
 * - `unknown`: the wallet has not said what it did, or that it failed, which proves nothing.
 * - `partly`: the wallet says that a part of what it did is on the chain.
 * - `otherwise`: the wallet has sent something, and the service says that it does not pay this intent.
 * - `claimed`: the service has accepted it.
 * - `landed`: it is on the chain, as asked for or otherwise.
 */
export const STAGES = [
  'asked',
  'handed',
  'resent',
  'held',
  'out',
  'unknown',
  'partly',
  'otherwise',
  'claimed',
  'landed',
] as const;
type Stage = (typeof STAGES)[number];

/** How the calls of a smart wallet are, by its own word (EIP-5792): `pending` is also each answer that says nothing. */
export type CallsStatus = 'pending' | 'included' | 'given_up' | 'reverted' | 'partly';

type Seen = Pick<Intent, 'state' | 'pendingAtExpiry' | 'retryRequired' | 'txSignature' | 'updatedAt'>;

/** All that this page knows of the person's money. */
export interface Money {
  readonly intent: Seen | null;
  readonly attempts: readonly Attempt[];
  /** The attempts that this page has begun, and whose outcome it hears of: those of other tabs can only be read. */
  readonly own: ReadonlySet<string>;
  /** What arrived otherwise than asked for: the newest of each kind. */
  readonly arrived: Readonly<Partial<Record<Unexpected['type'], UnexpectedPayment>>>;
  /** The person was told what may happen, and wants to pay all the same. */
  readonly isRestarted: boolean;
}

export type MoneyEvent =
  /** What this and other tabs have kept: read before each other event, so also after a reload. */
  | { readonly type: 'stored'; readonly attempts: readonly Attempt[] }
  /** A wallet is asked for something that can move money. */
  | {
      readonly type: 'asked';
      readonly id: string;
      readonly at: number;
      readonly payer: string;
      readonly wallet: string;
    }
  /** It is proven that the attempt sent nothing: code 4001, or what was signed never left the page. */
  | { readonly type: 'not_sent'; readonly id: string }
  /** Any other error of a wallet. */
  | { readonly type: 'failed'; readonly id: string }
  /** `hash`: null where another account signs, too, and decides it. */
  | { readonly type: 'signed'; readonly id: string; readonly hash: string | null }
  | {
      readonly type: 'sent';
      readonly id: string;
      readonly hash: string | null;
      readonly callsId: string | null;
    }
  /** What a smart wallet says of its calls, whenever it is asked. */
  | { readonly type: 'calls'; readonly id: string; readonly status: CallsStatus; readonly hash: string | null }
  /** The responses to a submit. `lost`: none came, or one that proves nothing. */
  | { readonly type: 'accepted'; readonly id: string; readonly hash: string | null }
  | { readonly type: 'lost' | 'sponsor_failed'; readonly id: string }
  | { readonly type: 'refused'; readonly id: string; readonly isMismatch: boolean }
  /** The service has built a transaction without a sponsor: what a sponsor had can no longer land. */
  | { readonly type: 'rebuilt' }
  | { readonly type: 'seen'; readonly intent: Seen }
  | { readonly type: 'arrived'; readonly unexpected: Unexpected }
  | { readonly type: 'restarted' };

export const noMoney: Money = { intent: null, attempts: [], own: new Set(), arrived: {}, isRestarted: false };

/** With more open attempts no other one is begun: none of them may be forgotten for a new one. */
const ATTEMPTS_MAX = 16;
export const isFull = ({ attempts }: Money): boolean => attempts.length >= ATTEMPTS_MAX;

/** What is known after an event. Nothing is forgotten, unless it is proven that it has sent nothing or has paid. */
export function advance(money: Money, event: MoneyEvent): Money {
  const { attempts } = money;
  switch (event.type) {
    case 'stored': {
      const others = event.attempts.filter(({ id }) => !money.own.has(id)).map(heardOf);
      return { ...money, attempts: [...others, ...attempts.filter(({ id }) => money.own.has(id))] };
    }
    case 'asked': {
      const { id, at, payer, wallet } = event;
      const asked: Attempt = { id, at, payer, wallet, stage: 'asked', hash: null, callsId: null };
      return { ...money, attempts: [...attempts, asked], own: new Set([...money.own, id]), isRestarted: false };
    }
    case 'not_sent':
      return without(money, ({ id }) => id === event.id);
    case 'failed':
      return changed(money, event.id, (attempt) => ({ ...attempt, stage: 'unknown' }));
    case 'signed':
      return changed(money, event.id, (attempt) => ({ ...attempt, stage: 'handed', hash: event.hash }));
    case 'sent': {
      const { hash, callsId } = event;
      return changed(money, event.id, (attempt) => ({ ...attempt, stage: 'out', hash, callsId }));
    }
    case 'calls':
      return changed(money, event.id, (attempt) => calls(attempt, event.status, event.hash));
    case 'accepted':
      return changed(money, event.id, (attempt) => ({
        ...attempt,
        stage: 'claimed',
        hash: event.hash ?? attempt.hash,
      }));
    case 'sponsor_failed':
      return changed(money, event.id, (attempt) => ({ ...attempt, stage: 'held' }));
    case 'lost':
      return changed(money, event.id, (attempt) =>
        attempt.stage === 'handed' ? { ...attempt, stage: 'resent' } : attempt,
      );
    case 'refused':
      return refused(money, event.id, event.isMismatch);
    case 'rebuilt':
      return without(money, ({ stage }) => stage === 'held');
    case 'seen':
      return seen(money, event.intent);
    case 'arrived': {
      const { type, payment } = event.unexpected;
      const landed = staged(money, payment.txSignature, 'landed');
      return { ...landed, arrived: { ...money.arrived, [type]: payment } };
    }
    case 'restarted':
      return { ...money, isRestarted: true };
  }
}

/** Of an attempt that is not this page's own no outcome is heard. */
const heardOf = (attempt: Attempt): Attempt =>
  ['asked', 'handed', 'resent'].includes(attempt.stage) ? { ...attempt, stage: 'unknown' } : attempt;

const STAGE_OF: Readonly<Record<CallsStatus, Stage>> = {
  pending: 'out',
  included: 'out',
  given_up: 'unknown',
  reverted: 'unknown',
  partly: 'partly',
};
/** The wallet's word is no proof: after what the chain or the service has said it counts no more. */
const calls = (attempt: Attempt, status: CallsStatus, hash: string | null): Attempt =>
  ['out', 'unknown', 'partly'].includes(attempt.stage)
    ? { ...attempt, stage: STAGE_OF[status], hash: hash ?? attempt.hash }
    : attempt;

/** What was only signed is with the service alone, which says that it has not broadcast it. */
function refused(money: Money, id: string, isMismatch: boolean): Money {
  const stage = money.attempts.find((attempt) => attempt.id === id)?.stage;
  if (stage === 'handed') return without(money, (attempt) => attempt.id === id);
  if (stage === 'resent') return changed(money, id, (attempt) => ({ ...attempt, stage: 'unknown' }));
  return isMismatch ? changed(money, id, (attempt) => ({ ...attempt, stage: 'otherwise' })) : money;
}

function seen(money: Money, intent: Seen): Money {
  const after = { ...money, intent };
  switch (intent.state) {
    // Another attempt may have paid, or still pay a second time.
    case 'confirmed':
      return staged(after, intent.txSignature, 'landed');
    // By now other tabs have heard of what has landed.
    case 'finalized':
      return without(staged(after, intent.txSignature, 'landed'), ({ stage }) => stage === 'landed');
    case 'pending':
      return staged(after, intent.txSignature, 'claimed');
    case 'failed':
      return without(staged(after, intent.txSignature, 'claimed'), ({ stage }) => stage === 'claimed');
    case 'created':
      // What was asked for after the drop is not what was dropped.
      return intent.retryRequired
        ? without(after, ({ stage, at }) => stage === 'claimed' && at < Date.parse(intent.updatedAt))
        : after;
    case 'expired':
    case 'cancelled':
      return after;
  }
}

/** Of the attempt that sent a transaction. */
const staged = (money: Money, transaction: string | null, stage: Stage): Money => ({
  ...money,
  attempts: money.attempts.map((attempt) =>
    attempt.hash !== null && attempt.hash === transaction ? { ...attempt, stage } : attempt,
  ),
});

const without = (money: Money, isSettled: (attempt: Attempt) => boolean): Money => ({
  ...money,
  attempts: money.attempts.filter((attempt) => !isSettled(attempt)),
});

const changed = (money: Money, id: string, change: (attempt: Attempt) => Attempt): Money => ({
  ...money,
  attempts: money.attempts.map((attempt) => (attempt.id === id ? change(attempt) : attempt)),
});

/** What is known of the money, in one word. Each has its texts in `status.ts`. */
export type Known =
  | 'loading'
  | 'nothing_asked'
  | 'proven_not_sent'
  | Open
  | 'landed_otherwise'
  | 'pending'
  | 'paid'
  | 'paid_late'
  | 'paid_twice'
  | 'failed'
  | 'expired'
  | 'expired_pending'
  | 'expired_open'
  | 'cancelled'
  | 'ended_open'
  | 'ended_otherwise';
/** A wallet was asked, and may have sent something. */
type Open = 'asked' | 'handed' | 'held' | 'out' | 'unknown' | 'sent_partly' | 'sent_otherwise';

const OPEN: Readonly<Record<Stage, Open>> = {
  asked: 'asked',
  otherwise: 'sent_otherwise',
  unknown: 'unknown',
  partly: 'sent_partly',
  out: 'out',
  claimed: 'out',
  landed: 'out',
  handed: 'handed',
  resent: 'handed',
  held: 'held',
};
/** Of several attempts, the one to speak of: the earlier in this list. */
const FIRST: readonly Open[] = ['asked', 'sent_otherwise', 'sent_partly', 'unknown', 'out', 'handed', 'held'];

/** The chain decides before what wallets have said. */
export function knownOf({ intent, attempts, arrived }: Money): Known {
  if (intent === null) return 'loading';
  const all = new Set(attempts.map(({ stage }) => OPEN[stage]));
  const open = FIRST.find((one) => all.has(one)) ?? null;
  const isMismatched = arrived['intent.mismatched_payment'] !== undefined;
  switch (intent.state) {
    case 'pending':
      return 'pending';
    case 'confirmed':
    case 'finalized':
      if (arrived['intent.extra_payment'] !== undefined) return 'paid_twice';
      return arrived['intent.late_payment'] === undefined ? 'paid' : 'paid_late';
    case 'created':
      if (isMismatched) return 'landed_otherwise';
      return open ?? (intent.retryRequired ? 'proven_not_sent' : 'nothing_asked');
    case 'expired':
      if (intent.pendingAtExpiry) return 'expired_pending';
      if (isMismatched) return 'ended_otherwise';
      return open === null ? 'expired' : 'expired_open';
    case 'failed':
    case 'cancelled':
      if (isMismatched) return 'ended_otherwise';
      return open === null ? intent.state : 'ended_open';
  }
}

/** Whether something that was asked for may still arrive. What has paid is not waited for. */
export const isWaiting = ({ intent, attempts }: Money): boolean =>
  attempts.length > 0 && intent?.state !== 'confirmed' && intent?.state !== 'finalized';

/** When the newest open attempt was made. */
export const lastAskedAt = ({ attempts }: Money): number => Math.max(0, ...attempts.map(({ at }) => at));
