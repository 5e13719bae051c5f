import type { Address, IntentId, TransactionHash } from './model/ids.ts';
import type { EventData, IntentEvent } from './model/event.ts';
import type { Landing, Metadata, PaymentIntent, Submission, SubmissionStatus } from './model/intent.ts';
import { movedExtra, transferKey, undoneKey, withoutFee } from './model/landing.ts';
import { COUNTED_MAX, REMEMBERED_MAX } from './model/limits.ts';
import { isLive, liveSubmission, submissionOf } from './model/submission.ts';
import { isPublicField } from './model/view.ts';

/** An event is not the next one of its intent: the log or its reader is broken. */
export class VersionGapError extends Error {
  override readonly name = 'VersionGapError';
}

type Change = Omit<Partial<PaymentIntent>, 'amountReceived'> & {
  /** Undefined: it is gone. */
  readonly amountReceived?: bigint | undefined;
};

/**
 * Folds one event into the intent. Total over all events and states: an event has happened and is never refused.
 * @param state the fold of the events before; undefined before the first.
 * @throws VersionGapError when the event is of another intent or not the next version.
 */
export const evolve = (state: PaymentIntent | undefined, event: IntentEvent): PaymentIntent => {
  if (event.type === 'intent.created') return applyCreated(state, event);
  if (state?.id !== event.intentId || event.version !== state.version + 1) {
    throw versionGap(state, event);
  }
  const change = withReceived(state, applyEvent(state, event));
  const after = {
    ...state,
    ...change,
    version: event.version,
    updatedAt: isPublicChange(state, change) ? Math.max(event.at, state.updatedAt + 1) : state.updatedAt,
  };
  const isRare =
    'amountReceived' in change || change.otherClaims || change.deposits || change.undoneExtras || change.disproved;
  return isRare ? inOrder(after) : (after as PaymentIntent);
};

/** With what an intent has received that more than its amount may pay. A simulated payment brings the amount. */
const withReceived = (state: PaymentIntent, change: Change): Change => {
  if (state.accept === undefined) return change;
  const { status, settlement, amountBaseUnits } = { ...state, ...change };
  const isPaid = status === 'confirmed' || status === 'finalized';
  const amountReceived = isPaid ? (settlement?.transfer.amount ?? amountBaseUnits) : undefined;
  return amountReceived === state.amountReceived ? change : { ...change, amountReceived };
};

/** The fields that few intents have, in the order of what is stored: equal folds are equal bytes. */
const inOrder = ({
  amountReceived,
  otherClaims,
  undoneExtras = [],
  disproved,
  deposits,
  erasedAt,
  ...others
}: Omit<PaymentIntent, 'amountReceived'> & Pick<Change, 'amountReceived'>): PaymentIntent => ({
  ...others,
  ...(amountReceived !== undefined && { amountReceived }),
  ...(otherClaims && { otherClaims }),
  ...(undoneExtras.length > 0 && { undoneExtras }),
  ...(disproved && { disproved }),
  ...(deposits && { deposits }),
  ...(erasedAt !== undefined && { erasedAt }),
});

/** What no event shows, before anything happened. */
export const NOTHING_HAPPENED = {
  simulated: false,
  build: null,
  submissions: [],
  settlement: null,
  transfers: [],
  extraPayments: [],
  otherRefunds: [],
} as const satisfies Partial<PaymentIntent>;

export const versionGap = (
  state: PaymentIntent | undefined,
  event: Pick<IntentEvent, 'intentId' | 'version'> & { readonly type: string },
): VersionGapError => {
  const after = state === undefined ? 'no event' : `version ${state.version} of ${state.id}`;
  return new VersionGapError(`${event.type} is version ${event.version} of ${event.intentId}, after ${after}`);
};

const applyCreated = (
  state: PaymentIntent | undefined,
  event: Extract<IntentEvent, { type: 'intent.created' }>,
): PaymentIntent => {
  if (state !== undefined || event.version !== 1) throw versionGap(state, event);
  const { data, at } = event;
  return {
    id: event.intentId,
    version: 1,
    accountId: data.accountId,
    livemode: data.livemode,
    idempotencyKey: data.idempotencyKey,
    chain: data.chain,
    token: data.token,
    tokenAddress: data.tokenAddress,
    decimals: data.decimals,
    amount: data.amount,
    amountBaseUnits: data.amountBaseUnits,
    requestor: data.requestor,
    fulfiller: data.fulfiller,
    direction: data.direction,
    ...(data.attribution && { attribution: data.attribution }),
    ...(data.accept && { accept: data.accept }),
    status: 'created',
    retryRequired: false,
    pendingAtExpiry: false,
    reference: data.reference,
    txSignature: null,
    ataRentLamports: null,
    ttlSeconds: data.ttlSeconds,
    metadata: data.metadata,
    refundedBy: null,
    refundOf: data.refundOf,
    createdAt: at,
    updatedAt: at,
    expiresAt: at + data.ttlSeconds * 1000,
    detectedAt: null,
    confirmedAt: null,
    finalizedAt: null,
    closedAt: null,
    ...NOTHING_HAPPENED,
  };
};

/** True when the change is visible to integrators. */
const isPublicChange = (state: PaymentIntent, change: Change): boolean => {
  for (const field of Object.keys(change) as (keyof PaymentIntent)[]) {
    if (change[field] !== state[field] && isPublicField(field)) return true;
  }
  return false;
};

const applyEvent = (state: PaymentIntent, event: Exclude<IntentEvent, { type: 'intent.created' }>): Change => {
  switch (event.type) {
    case 'intent.detected':
      return { detectedAt: event.at };
    case 'intent.updated':
      return event.data.ttlSeconds === undefined
        ? event.data
        : { ...event.data, expiresAt: state.createdAt + event.data.ttlSeconds * 1000 };
    case 'transaction_built': {
      const { fulfiller, transaction, lifetime } = event.data;
      return {
        fulfiller,
        ataRentLamports: transaction.ataRentLamports,
        build: { version: event.version, fulfiller, transaction, lifetime },
      };
    }
    case 'submission_prepared':
      return { submissions: prepared(state, event.data, event.at) };
    case 'submission_released': {
      const { hash, outcome } = event.data;
      if (outcome === 'refused') return { submissions: marked(state, hash, { status: 'released' }) };
      // A dropped transaction's nonce is used or its time is over, and so the build that it came from is dead too.
      return {
        submissions: marked(state, hash, { status: 'dropped' }),
        ...(state.status === 'created' ? { build: null } : {}),
      };
    }
    case 'intent.pending': {
      const { hash, fulfiller, simulated } = event.data;
      // A released submission was broadcast after all and is live again, unless another one is.
      const revived: SubmissionStatus | undefined = liveSubmission(state) === undefined ? 'live' : undefined;
      const broadcastAt = submissionOf(state, hash)?.broadcastAt ?? event.at;
      const submissions = marked(state, hash, { broadcastAt, ...(revived === undefined ? {} : { status: revived }) });
      return {
        status: 'pending',
        retryRequired: false,
        txSignature: hash,
        fulfiller: walletOf(state, fulfiller),
        submissions,
        simulated: state.simulated || simulated,
      };
    }
    case 'intent.confirmed': {
      const { hash, fulfiller, landing, simulated } = event.data;
      return {
        ...landed(state, hash, landing, false),
        status: 'confirmed',
        retryRequired: false,
        txSignature: hash,
        fulfiller: walletOf(state, fulfiller),
        confirmedAt: event.at,
        finalizedAt: null,
        closedAt: null,
        simulated: state.simulated || simulated,
      };
    }
    case 'intent.finalized': {
      const { hash, landing, simulated } = event.data;
      return {
        ...landed(state, hash, landing, true),
        status: 'finalized',
        finalizedAt: event.at,
        closedAt: event.at,
        simulated: state.simulated || simulated,
      };
    }
    case 'intent.failed': {
      const { hash, simulated } = event.data;
      return {
        status: 'failed',
        retryRequired: false,
        txSignature: hash ?? state.txSignature,
        closedAt: event.at,
        simulated: state.simulated || simulated,
        submissions: hash === null ? state.submissions : ended(state, hash),
      };
    }
    case 'intent.expired': {
      const { pendingAtExpiry, simulated } = event.data;
      return {
        status: 'expired',
        retryRequired: false,
        pendingAtExpiry,
        closedAt: event.at,
        simulated: state.simulated || simulated,
      };
    }
    case 'intent.cancelled':
      return {
        status: 'cancelled',
        retryRequired: false,
        closedAt: event.at,
        simulated: state.simulated || event.data.cause === 'simulated',
      };
    case 'intent.retry_required': {
      const { hash, simulated } = event.data;
      const submissions = marked(state, hash, { status: 'dropped' });
      return {
        status: 'created',
        retryRequired: true,
        txSignature: null,
        submissions,
        build: null,
        simulated: state.simulated || simulated,
      };
    }
    case 'refund_linked':
      return {
        refundedBy: event.data.refundIntentId,
        otherRefunds: without(state.otherRefunds, event.data.refundIntentId),
      };
    case 'refund_released': {
      const { refundIntentId } = event.data;
      return {
        refundedBy: state.refundedBy === refundIntentId ? null : state.refundedBy,
        otherRefunds: without(state.otherRefunds, refundIntentId),
      };
    }
    case 'confirmation_lost': {
      const { settlement } = state;
      if (settlement === null) return {};
      // Later blocks are orphaned with it, and so is the rest of its transaction, wherever that was seen before. What
      // was an extra payment among them is a new payment when it lands again.
      // A deposit tells of itself.
      const stands = ({ hash, transfer, depositId }: Landing): boolean =>
        depositId !== undefined || (hash !== settlement.hash && transfer.block < settlement.transfer.block);
      const extras = state.extraPayments.filter((extra) => !stands(extra));
      return {
        settlement: { ...settlement, lost: true },
        transfers: uncounted(state.transfers, settlement, ...extras),
        extraPayments: state.extraPayments.filter(stands),
        ...undone(state, extras),
      };
    }
    case 'confirmation_restored': {
      const { landing } = event.data;
      const isIt = (extra: Landing): boolean =>
        transferKey(extra) === transferKey(landing) && extra.transfer.amount === landing.transfer.amount;
      const extraPayments = state.extraPayments.filter((extra) => !isIt(extra));
      return {
        ...landed(state, landing.hash, landing, state.settlement?.finalized ?? false),
        txSignature: landing.hash,
        fulfiller: walletOf(state, landing.transfer.from),
        extraPayments,
      };
    }
    case 'intent.extra_payment':
      return extraPayment(state, event.data.landing);
    case 'extra_payment_observed': {
      const { landing, refundIntentId } = event.data;
      // The payment of a refund pays the refund, not this intent.
      return refundIntentId === undefined
        ? extraPayment(state, landing)
        : {
            ...seen(state, landing),
            otherRefunds: [...without(state.otherRefunds, refundIntentId), refundIntentId],
          };
    }
    case 'intent.mismatched_payment':
    case 'mismatched_payment_observed':
      return { ...seen(state, event.data.landing), ...withoutSpoiled(state, event.data.landing) };
    case 'intent.mismatch_withdrawn':
      return withdrawn(state, event.data);
    case 'intent.payment_claimed': {
      const { hash, intentIds } = event.data;
      const others = (state.otherClaims ?? []).filter((one) => one.hash !== hash);
      return { otherClaims: [...others, { hash, intentIds }] };
    }
    case 'intent.late_payment':
    case 'intent.overpaid':
      return {};
    case 'deposit_told':
      return depositTold(state, event.data);
    case 'personal_data_erased':
      return { idempotencyKey: null, metadata: withoutContent(state.metadata), erasedAt: event.at };
    default:
      return event satisfies never;
  }
};

/** Null for the token itself, which stands for the sender that an assigned mint does not have. */
const walletOf = ({ tokenAddress }: PaymentIntent, sender: Address): Address | null =>
  (tokenAddress as string) === sender ? null : sender;

/** What is left of erased metadata: that there was some. */
export const withoutContent = (metadata: Metadata | null): Metadata | null => (metadata === null ? null : {});

const without = (ids: readonly IntentId[], id: IntentId): readonly IntentId[] => ids.filter((other) => other !== id);

/** The submissions with this one changed; the same array when the hash is unknown. */
const marked = (state: PaymentIntent, hash: TransactionHash, change: Partial<Submission>): readonly Submission[] => {
  const at = state.submissions.findIndex((submission) => submission.hash === hash);
  const found = state.submissions[at];
  return found === undefined ? state.submissions : state.submissions.with(at, { ...found, ...change });
};

/** A transfer that does not settle the intent: it is counted, and no longer under way. */
const seen = (state: PaymentIntent, landing: Landing): Change => ({
  transfers: counted(state.transfers, landing),
  submissions: marked(state, landing.hash, { status: 'landed' }),
});

/** Of an intent that more may pay, what an extra payment was in another block is gone. Of others it is not recorded. */
const extraPayment = (state: PaymentIntent, landing: Landing): Change => {
  const moved = state.accept === undefined ? undefined : movedExtra(state, landing);
  const others = state.extraPayments.filter((extra) => extra !== moved);
  return {
    ...seen(state, landing),
    ...(moved !== undefined && { transfers: recounted(state, moved, landing, ...others) }),
    ...landedAgain(state, landing),
    extraPayments: [...others, withoutFee(landing)].slice(0, COUNTED_MAX.extra),
  };
};

/** Without the extra payment that was executed again as this transfer, which does not pay the intent. */
const withoutSpoiled = (state: PaymentIntent, landing: Landing): Change => {
  if (state.accept === undefined) return {};
  const key = transferKey(landing);
  return { extraPayments: state.extraPayments.filter((extra) => transferKey(extra) !== key) };
};

/** A report is taken back: its transfer pays the intent after all, or it pays another one. */
const withdrawn = (
  { transfers, disproved = [] }: PaymentIntent,
  { landing, differs = [] }: EventData['intent.mismatch_withdrawn'],
): Change => ({
  transfers: uncounted(transfers, landing),
  ...(differs.length > 0 && { disproved: counted(disproved, landing) }),
});

/** Extra payments that a reorg has undone, with those of before. */
const undone = (state: PaymentIntent, extras: readonly Landing[]): Change =>
  extras.length === 0
    ? {}
    : {
        undoneExtras: [...(state.undoneExtras ?? []), ...extras.map((extra) => undoneKey(state, extra))].slice(
          -REMEMBERED_MAX,
        ),
      };

/** One of this transaction has landed again, in whichever place: that of its amount, or else one of another amount. */
const landedAgain = (state: PaymentIntent, landing: Landing): Change => {
  const { undoneExtras = [] } = state;
  const same = undoneExtras.indexOf(undoneKey(state, landing));
  const at = same < 0 ? undoneExtras.findIndex((key) => key.startsWith(landing.hash)) : same;
  return at < 0 ? {} : { undoneExtras: undoneExtras.toSpliced(at, 1) };
};

/** The deposit's version is remembered. One that pays the intent no longer is a new payment if it does so again. */
const depositTold = (
  state: PaymentIntent,
  { depositId, version, standing, landing }: EventData['deposit_told'],
): Change => {
  const others = (state.deposits ?? []).filter(({ id }) => id !== depositId);
  const deposits = [...others, { id: depositId, version }];
  if (standing === 'confirmed' || standing === 'finalized' || standing === 'proven') return { deposits };
  const { settlement, extraPayments } = state;
  const isOfIt = (one: Landing): boolean => one.depositId === depositId;
  const paid = settlement === null ? extraPayments : [settlement, ...extraPayments];
  return {
    deposits,
    transfers: uncounted(state.transfers, landing, ...paid.filter(isOfIt)),
    extraPayments: extraPayments.filter((extra) => !isOfIt(extra)),
    ...(standing === 'lost' ? undone(state, extraPayments.filter(isOfIt)) : landedAgain(state, landing)),
    ...(settlement !== null && isOfIt(settlement) && { settlement: { ...settlement, lost: true } }),
  };
};

/** A new claim, or an earlier one again. A live one has the same sender and nonce: this one replaces it. */
const prepared = (
  state: PaymentIntent,
  { transaction, attempts, claims }: EventData['submission_prepared'],
  at: number,
): readonly Submission[] => {
  const earlier = state.submissions.find(({ hash }) => hash === transaction.hash);
  const claim: Submission = {
    ...earlier,
    ...transaction,
    status: 'live',
    attempts,
    preparedAt: at,
    broadcastAt: earlier?.broadcastAt ?? null,
    ...(claims === undefined ? {} : { claims }),
  };
  const others = state.submissions.map((submission): Submission =>
    submission.status === 'live' ? { ...submission, status: 'replaced' } : submission,
  );
  return earlier === undefined ? [...others, claim] : others.with(state.submissions.indexOf(earlier), claim);
};

/** After `intent.failed`: a live submission reverted, a lost one was dropped, a landed one (with other terms) stays. */
const ended = (state: PaymentIntent, hash: TransactionHash): readonly Submission[] => {
  if (isLive(state, hash)) return marked(state, hash, { status: 'reverted' });
  return state.settlement?.lost === true && state.settlement.hash === hash
    ? marked(state, hash, { status: 'dropped' })
    : state.submissions;
};

/** The settlement by a landing. A simulated landing (null) has no evidence and leaves an existing settlement's. */
const landed = (state: PaymentIntent, hash: TransactionHash, landing: Landing | null, finalized: boolean): Change => {
  const submissions = marked(state, hash, { status: 'landed' });
  if (landing === null)
    return { submissions, settlement: state.settlement === null ? null : { ...state.settlement, finalized } };
  const { settlement } = state;
  // The same transaction in another place: its first transfer was undone and would be a new one if it landed again.
  const moved = settlement?.hash === hash && settlement.transfer.index !== landing.transfer.index;
  const transfers = !moved
    ? counted(state.transfers, landing)
    : state.accept === undefined
      ? counted(uncounted(state.transfers, settlement), landing)
      : recounted(state, settlement, landing, ...state.extraPayments);
  const { depositId: _, ...same } = settlement?.hash === hash ? settlement : {};
  const told = landing.depositId === undefined ? {} : { depositId: landing.depositId };
  const settled = { ...same, hash, transfer: landing.transfer, finalized, lost: false, ...told };
  // What settled before was no extra payment, and others of its transaction still may have been.
  return { submissions, settlement: settled, transfers, ...(settlement?.hash !== hash && landedAgain(state, landing)) };
};

const counted = (transfers: readonly string[], landing: Landing): readonly string[] => {
  const key = transferKey(landing);
  return transfers.length >= REMEMBERED_MAX || transfers.includes(key) ? transfers : [...transfers, key];
};

/** Without the transfer that was moved: its place in its transaction may be that of another one now, which stands. */
const recounted = (
  { transfers, settlement }: PaymentIntent,
  moved: Landing,
  ...standing: readonly Landing[]
): readonly string[] =>
  [...standing, ...(settlement === null || settlement === moved || settlement.lost ? [] : [settlement])].reduce(
    counted,
    uncounted(transfers, moved),
  );

/** Without the transfers that the chain has undone: they are new ones if they land again. */
const uncounted = (transfers: readonly string[], ...undone: readonly Landing[]): readonly string[] => {
  const keys = new Set(undone.map(transferKey));
  return transfers.filter((transfer) => !keys.has(transfer));
};
