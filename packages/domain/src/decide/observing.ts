import type { Outcome } from '../model/decision.ts';
import { LATE_STATES, type PaymentTerm } from '../model/event.ts';
import type { IntentId } from '../model/ids.ts';
import type { AssignedDeposit, Command, Observation } from '../model/input.ts';
import type { Landing, PaymentIntent } from '../model/intent.ts';
import {
  isAt,
  isBesideLost,
  isDisproved,
  isMismatched,
  isReported,
  isSettling,
  isStandingExtra,
  movedExtra,
  paidAmount,
  transferKey,
  undoneKey,
  withoutFee,
} from '../model/landing.ts';
import { COUNTED_MAX, countedIn, DUST_SHARE, OTHER_CLAIMS_MAX, refusalAtReports } from '../model/limits.ts';
import { formatAmount } from '../model/money.ts';
import { isLive, submissionOf } from '../model/submission.ts';
import { termsThatDiffer } from '../model/terms.ts';
import type { Draft } from './draft.ts';
import { accept, refuseWith } from './outcome.ts';
import { linkLateRefund } from './refunding.ts';

type DataOf<Type extends Observation['type']> = Extract<Observation, { type: Type }>['data'];

/** What a watcher saw on chain. An observation is never refused: it has happened. */
export const observe = (intent: PaymentIntent, observation: Observation, draft: Draft): void => {
  switch (observation.type) {
    case 'landed':
      return landed(intent, observation.data, draft);
    case 'reverted':
      return reverted(intent, observation.data, draft);
    case 'dropped':
      return dropped(intent, observation.data, draft);
    case 'disproved':
      return disproved(intent, observation.data, draft);
    case 'lost':
      return lost(intent, observation.data, draft);
    case 'assigned':
      return assigned(intent, observation.data, draft);
    default:
      return observation satisfies never;
  }
};

/**
 * A transfer is in a block. What the chain recorded decides, whatever the hash, and each transfer counts once: where it
 * was first reported with other terms than it turns out to have, that report is withdrawn.
 */
const landed = (before: PaymentIntent, { level, ...landing }: DataOf<'landed'>, draft: Draft): void => {
  const { hash, transfer } = landing;
  const differs = termsThatDiffer(before, transfer);
  const paid = paidAmount(before, landing);
  const isWithdrawn = differs.length === 0 && isMismatched(before, landing);
  const intent = isWithdrawn ? draft.append(before.id, 'intent.mismatch_withdrawn', { landing, ...paid }) : before;
  const isCounted = intent.transfers.includes(transferKey(landing));
  const moved = intent.accept === undefined ? undefined : movedExtra(intent, landing);
  if (differs.length > 0) {
    const isSpoiled = moved !== undefined && transferKey(moved) === transferKey(landing) && differs.includes('amount');
    const isLate = differs.includes('reference') && isDisproved(intent, landing) && !isLive(intent, hash);
    if ((!isCounted || isSpoiled) && !isLate) mismatched(intent, landing, differs, draft);
    return;
  }
  const isFinal = level === 'finalized';
  if (isSettling(intent, landing)) {
    if (isElsewhere(intent, landing, isFinal)) restore(intent, landing, draft);
    else handOver(intent, landing, draft);
    if (isFinal && intent.status === 'confirmed') finalize(intent, landing, draft);
    return;
  }
  const isUndone = intent.settlement?.lost === true;
  // It was told of as an extra one, as the settling one was expected with it, and that has not come.
  const isLeft = isUndone && intent.accept !== undefined && isStandingExtra(intent, landing);
  // What is final beside a lost settlement takes its place.
  if (isCounted && moved === undefined && !(isUndone && (isFinal || isLeft))) return handOver(intent, landing, draft);
  if (intent.simulated) return extraPayment(intent, landing, draft);
  switch (intent.status) {
    case 'created':
      return settle(
        draft.append(intent.id, 'intent.pending', { hash, fulfiller: transfer.from, simulated: false }),
        landing,
        isFinal,
        draft,
      );
    case 'pending':
    case 'expired':
    case 'failed':
    case 'cancelled':
      return settle(intent, landing, isFinal, draft);
    case 'confirmed':
    case 'finalized':
      if (!isUndone || (!isFinal && !isLeft && isBesideLost(intent, landing)))
        return extraPayment(intent, landing, draft);
      // Any payment replaces the lost one: the same transaction, or the one that took its nonce.
      restore(intent, landing, draft);
      if (isFinal && intent.status === 'confirmed') finalize(intent, landing, draft);
      return;
    default:
      return intent.status satisfies never;
  }
};

/** From now on this transfer pays the intent. */
const restore = (intent: PaymentIntent, landing: Landing, draft: Draft): PaymentIntent =>
  draft.append(intent.id, 'confirmation_restored', { landing, ...paidAmount(intent, landing) });

/** The payment is final, and so is what it was more than the intent asks for. */
const finalize = (intent: PaymentIntent, landing: Landing, draft: Draft): void => {
  const { hash, transfer } = landing;
  const { id, decimals } = intent;
  draft.append(id, 'intent.finalized', { hash, landing: withoutFee(landing), simulated: false });
  const more = transfer.amount - intent.amountBaseUnits;
  if (more > 0n)
    draft.append(id, 'intent.overpaid', { hash, amount: formatAmount(more, decimals), amountBaseUnits: more });
};

/**
 * True where what a reorg has moved is to be followed at once. The transfer of an assigned deposit: only the deposit
 * tells of it. And that of an intent that more may pay: it may bring another amount there. Final ones only move if the
 * other place is final, too.
 */
const isElsewhere = ({ settlement, accept, status }: PaymentIntent, landing: Landing, isFinal: boolean): boolean => {
  if (settlement === null || isAt(settlement, landing.transfer)) return false;
  if (landing.depositId !== undefined) return true;
  return accept !== undefined && settlement.depositId === undefined && (isFinal || status === 'confirmed');
};

/** What its account had assigned turns out to carry the intent's reference: from now on watchers follow it. */
const handOver = (intent: PaymentIntent, landing: Landing, draft: Draft): void => {
  const { settlement } = intent;
  if (landing.depositId !== undefined || settlement?.depositId === undefined || settlement.lost) return;
  if (transferKey(settlement) === transferKey(landing)) restore(intent, landing, draft);
};

/**
 * What the writer of a deposit tells of it. It pays as a transfer that carries the intent's reference does, late, as an
 * extra payment, or, where the intent's amount has changed meanwhile, as a mismatched one. Told again, it
 * changes nothing.
 */
const assigned = (before: PaymentIntent, told: AssignedDeposit, draft: Draft): void => {
  const { depositId, version, standing, hash } = told;
  const known = before.deposits?.find(({ id }) => id === depositId);
  if (known !== undefined && known.version >= version) return;
  const { tokenAddress, from, to, amount, ...place } = told.transfer;
  // In the order of what is stored: equal folds are equal bytes.
  const transfer = { tokenAddress, from, to, amount, reference: before.reference, ...place };
  const landing: Landing = { hash, transfer, depositId };
  const intent = draft.append(before.id, 'deposit_told', { depositId, version, standing, landing });
  switch (standing) {
    case 'confirmed':
    case 'finalized':
      return landed(intent, { ...landing, level: standing }, draft);
    case 'proven':
      return handOver(intent, { hash, transfer: landing.transfer }, draft);
    case 'lost':
    case 'unassigned':
    case 'withdrawn':
      return unpaid(intent, before, told, draft);
    default:
      return standing satisfies never;
  }
};

/**
 * A deposit pays the intent no longer. What else has paid it does so from now on; else it has failed, unless a reorg
 * has undone the deposit.
 */
const unpaid = (
  intent: PaymentIntent,
  before: PaymentIntent,
  { depositId, standing, hash }: AssignedDeposit,
  draft: Draft,
): void => {
  if (before.settlement?.depositId !== depositId) return;
  if (intent.status !== 'confirmed' && intent.status !== 'finalized') return;
  const [other] = intent.extraPayments;
  if (other !== undefined) restore(intent, other, draft);
  else if (standing !== 'lost')
    draft.append(intent.id, 'intent.failed', {
      hash,
      reason:
        standing === 'unassigned'
          ? `The deposit ${depositId} that had paid it was unassigned.`
          : `The deposit ${depositId} that had paid it turned out to pay another payment intent.`,
      simulated: false,
    });
};

const settle = (intent: PaymentIntent, landing: Landing, isFinal: boolean, draft: Draft): void => {
  const { hash, transfer } = landing;
  const late = LATE_STATES.find((state) => state === intent.status) ?? null;
  const paid = draft.append(intent.id, 'intent.confirmed', {
    hash,
    fulfiller: transfer.from,
    landing,
    late,
    simulated: false,
    ...paidAmount(intent, landing),
  });
  // The first event of a landing says what it cost.
  const again = withoutFee(landing);
  if (late !== null)
    draft.append(intent.id, 'intent.late_payment', { landing: again, late, ...paidAmount(intent, landing) });
  if (isFinal) finalize(intent, again, draft);
  if (late !== null) linkLateRefund(paid, again, draft);
};

/**
 * Whether an unexpected transfer is recorded: beyond the limit only that of a live submission, which it ends. Those
 * whose reports were withdrawn use up room, too: whoever makes many is heard of no more often.
 */
const isRecorded = (intent: PaymentIntent, { hash }: Landing, kind: keyof typeof COUNTED_MAX): boolean =>
  countedIn(intent) < COUNTED_MAX[kind] || isLive(intent, hash);

/** True where it costs its sender nothing but fees: dust, and money that went to another than the requestor. */
const isCheap = ({ amountBaseUnits, requestor }: PaymentIntent, { transfer }: Landing): boolean =>
  transfer.amount * DUST_SHARE < amountBaseUnits || transfer.to !== requestor;

const extraPayment = (intent: PaymentIntent, landing: Landing, draft: Draft): void => {
  const moved = movedExtra(intent, landing);
  if (moved !== undefined && intent.accept === undefined) return;
  if (moved === undefined && !isRecorded(intent, landing, 'extra')) return;
  const isTold =
    moved?.transfer.amount === landing.transfer.amount ||
    intent.undoneExtras?.includes(undoneKey(intent, landing)) === true;
  const paid = paidAmount(intent, landing);
  if (isTold) draft.append(intent.id, 'extra_payment_observed', { landing: withoutFee(landing), ...paid });
  else draft.append(intent.id, 'intent.extra_payment', { landing, ...paid });
};

/** @returns false where it is passed over: nothing tells of it */
const mismatched = (
  intent: PaymentIntent,
  landing: Landing,
  differs: readonly PaymentTerm[],
  draft: Draft,
  claimed = false,
): boolean => {
  if (!isRecorded(intent, landing, isCheap(intent, landing) ? 'dust' : 'mismatched')) return false;
  const fails = (intent.status === 'created' || intent.status === 'pending') && isLive(intent, landing.hash);
  const { transfer } = landing;
  const amount = differs.includes('token') ? null : formatAmount(transfer.amount, intent.decimals);
  draft.append(intent.id, 'intent.mismatched_payment', {
    landing,
    amount,
    differs,
    ...(claimed && { claimed: true as const }),
  });
  if (fails)
    draft.append(intent.id, 'intent.failed', {
      hash: landing.hash,
      reason:
        `The transaction landed with another ${differs.join(' and ')}` +
        (differs.includes('recipient') ? `: ${transfer.to} has the money.` : '.'),
      simulated: false,
    });
  return true;
};

/**
 * `report_transfer`: a payer, not a watcher, says that a transfer was to pay the intent. So it is only told, as a
 * mismatched payment that is claimed: nothing that is reported can settle an intent or end its submission. Refused
 * where it cannot be told, so that no payer is promised what did not happen. An account is told of a transfer for one
 * intent; that it is claimed for another (`alsoFor`) is said by an event of its own, which is no payment.
 */
export const reportTransfer = (
  intent: PaymentIntent,
  { data: { landing, alsoFor } }: Extract<Command, { type: 'report_transfer' }>,
  draft: Draft,
): Outcome => {
  if (alsoFor !== undefined) {
    if (isReported(intent, landing)) claimedFor(alsoFor, intent, landing, draft);
    return accept(intent.id);
  }
  const differs = termsThatDiffer(intent, landing.transfer);
  const isTold = intent.transfers.includes(transferKey(landing)) || isLive(intent, landing.hash);
  const isClaim = differs.includes('reference') && !isTold;
  return isClaim && !mismatched(intent, landing, differs, draft, true)
    ? refuseWith(refusalAtReports(intent))
    : accept(intent.id);
};

const claimedFor = (other: IntentId, intent: PaymentIntent, { hash }: Landing, draft: Draft): void => {
  const { id, otherClaims = [] } = intent;
  const named = otherClaims.find((one) => one.hash === hash)?.intentIds ?? [];
  const claims = otherClaims.reduce((sum, { intentIds }) => sum + intentIds.length, 0);
  if (named.includes(other) || claims >= OTHER_CLAIMS_MAX || intent.erasedAt !== undefined) return;
  draft.append(id, 'intent.payment_claimed', { hash, intentIds: [...named, other] });
};

/** The transaction is in a block and had no effect. The hash decides. */
const reverted = (intent: PaymentIntent, { hash, reason }: DataOf<'reverted'>, draft: Draft): void => {
  const submission = submissionOf(intent, hash);
  switch (intent.status) {
    case 'created':
      if (submission?.status !== 'live') return;
      draft.append(intent.id, 'intent.pending', { hash, fulfiller: submission.sender, simulated: false });
      draft.append(intent.id, 'intent.failed', { hash, reason, simulated: false });
      return;
    case 'pending':
    case 'expired':
      if (submission?.status === 'live') draft.append(intent.id, 'intent.failed', { hash, reason, simulated: false });
      return;
    case 'confirmed':
    case 'finalized':
      if (isLost(intent, hash)) draft.append(intent.id, 'intent.failed', { hash, reason, simulated: false });
      return;
    case 'failed':
    case 'cancelled':
      return;
    default:
      return intent.status satisfies never;
  }
};

/** The transaction can provably never land. The hash decides. */
const dropped = (intent: PaymentIntent, { hash, proof }: DataOf<'dropped'>, draft: Draft): void => {
  if ((intent.status === 'confirmed' || intent.status === 'finalized') && isLost(intent, hash)) {
    draft.append(intent.id, 'intent.failed', { hash, reason: proof, simulated: false });
    return;
  }
  if (!isLive(intent, hash)) return;
  if (intent.status === 'pending') draft.append(intent.id, 'intent.retry_required', { hash, proof, simulated: false });
  else draft.append(intent.id, 'submission_released', { hash, outcome: 'dropped', reason: proof });
};

/** The transfer carries the reference of another intent, so its account must not send it back for this one. */
const disproved = (intent: PaymentIntent, landing: DataOf<'disproved'>, draft: Draft): void => {
  const differs = termsThatDiffer(intent, landing.transfer);
  if (!differs.includes('reference') || !isReported(intent, landing)) return;
  const amount = differs.includes('token') ? null : formatAmount(landing.transfer.amount, intent.decimals);
  draft.append(intent.id, 'intent.mismatch_withdrawn', { landing, amount, differs });
};

/** A reorg has orphaned the transaction. It matters only for the settling one, in the block where that stands. */
const lost = (intent: PaymentIntent, { hash, place }: DataOf<'lost'>, draft: Draft): void => {
  const { settlement } = intent;
  // Its deposit tells of an assigned one.
  if (settlement?.depositId !== undefined) return;
  const settles = settlement?.hash === hash && !settlement.lost && (place === undefined || isAt(settlement, place));
  if (!settles || (intent.status !== 'confirmed' && intent.status !== 'finalized')) return;
  // An extra payment that still stands would have settled the intent, had it landed after the loss.
  const [standing] = draft.append(intent.id, 'confirmation_lost', { hash }).extraPayments;
  if (standing !== undefined) restore(intent, standing, draft);
};

const isLost = (intent: PaymentIntent, hash: string): boolean =>
  intent.settlement?.hash === hash && intent.settlement.lost;
