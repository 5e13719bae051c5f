import type {
  Address,
  Build,
  CreateData,
  EventData,
  IntentId,
  LateState,
  PaymentTerm,
  PreparedTransaction,
  TransactionHash,
  Transfer,
} from '../index.ts';
import { formatAmount } from '../index.ts';
import type { ExpectedEvent } from './given.ts';
import {
  ACCOUNT,
  AMOUNT,
  BOB,
  INTENT,
  landing,
  refundRequest,
  refundTransfer,
  request,
  signed,
  unsigned,
} from './samples.ts';

type Details<Type extends keyof EventData> = Partial<EventData[Type]>;

/** How an event says that a payment has another amount than the intent. */
const paidAmount = ({ amount = AMOUNT }: Partial<Transfer>): { readonly amount?: string } =>
  amount === AMOUNT ? {} : { amount: formatAmount(amount, 6) };

/** The same event of another intent. */
export const of = (id: IntentId, event: ExpectedEvent): ExpectedEvent => ({ ...event, of: id });

export const created = (change: Partial<CreateData> = {}, livemode = false): ExpectedEvent => ({
  type: 'intent.created',
  data: { ...request(change), accountId: ACCOUNT, livemode, refundOf: null },
});
export const refundCreated = (id: IntentId): ExpectedEvent => ({
  type: 'intent.created',
  of: id,
  data: { ...refundRequest(id), accountId: ACCOUNT, livemode: false, refundOf: INTENT },
});
export const detected = (): ExpectedEvent => ({ type: 'intent.detected', data: {} });
export const updated = (data: EventData['intent.updated']): ExpectedEvent => ({ type: 'intent.updated', data });
export const built = (change: Partial<Pick<Build, 'fulfiller'>> & { blob?: string } = {}): ExpectedEvent => ({
  type: 'transaction_built',
  data: {
    fulfiller: change.fulfiller ?? BOB,
    transaction: unsigned(change.blob ?? 'first build'),
    lifetime: { kind: 'unlimited' },
  },
});
export const prepared = (
  hash: TransactionHash,
  change: Partial<PreparedTransaction> = {},
  attempts = 1,
  claims?: number,
): ExpectedEvent => ({
  type: 'submission_prepared',
  data: { transaction: signed(hash, change), attempts, ...(claims === undefined ? {} : { claims }) },
});
export const refused = (hash: TransactionHash): ExpectedEvent => ({
  type: 'submission_released',
  data: { hash, outcome: 'refused', reason: 'the node refused it' },
});
export const dropped = (hash: TransactionHash): ExpectedEvent => ({
  type: 'submission_released',
  data: { hash, outcome: 'dropped', reason: 'its nonce is used' },
});
export const pending = (hash: TransactionHash, change: Details<'intent.pending'> = {}): ExpectedEvent => ({
  type: 'intent.pending',
  data: { hash, fulfiller: BOB, simulated: false, ...change },
});
export const confirmed = (
  hash: TransactionHash,
  change: Partial<Transfer> = {},
  late: LateState | null = null,
): ExpectedEvent => ({
  type: 'intent.confirmed',
  data: {
    hash,
    fulfiller: change.from ?? BOB,
    landing: landing(hash, change),
    late,
    simulated: false,
    ...paidAmount(change),
  },
});
/** A late payment is confirmed and announced as late. */
export const confirmedLate = (
  hash: TransactionHash,
  change: Partial<Transfer>,
  late: LateState,
): readonly ExpectedEvent[] => [
  confirmed(hash, change, late),
  { type: 'intent.late_payment', data: { landing: landing(hash, change), late, ...paidAmount(change) } },
];
export const finalized = (hash: TransactionHash, change: Partial<Transfer> = {}): ExpectedEvent => ({
  type: 'intent.finalized',
  data: { hash, landing: landing(hash, change), simulated: false },
});
export const failed = (hash: TransactionHash, reason = 'it reverted'): ExpectedEvent => ({
  type: 'intent.failed',
  data: { hash, reason, simulated: false },
});
export const expired = (pendingAtExpiry = false): ExpectedEvent => ({
  type: 'intent.expired',
  data: { pendingAtExpiry, simulated: false },
});
export const cancelled = (cause: EventData['intent.cancelled']['cause'] = 'requested'): ExpectedEvent => ({
  type: 'intent.cancelled',
  data: { cause },
});
export const retryRequired = (hash: TransactionHash): ExpectedEvent => ({
  type: 'intent.retry_required',
  data: { hash, proof: 'its nonce is used', simulated: false },
});
export const refundLinked = (refundIntentId: IntentId): ExpectedEvent => ({
  type: 'refund_linked',
  data: { refundIntentId },
});
export const refundReleased = (refundIntentId: IntentId): ExpectedEvent => ({
  type: 'refund_released',
  data: { refundIntentId },
});
export const lost = (hash: TransactionHash): ExpectedEvent => ({ type: 'confirmation_lost', data: { hash } });
export const restored = (hash: TransactionHash, change: Partial<Transfer> = {}): ExpectedEvent => ({
  type: 'confirmation_restored',
  data: { landing: landing(hash, change), ...paidAmount(change) },
});
export const erased = (): ExpectedEvent => ({ type: 'personal_data_erased', data: {} });
export const extraPayment = (hash: TransactionHash, change: Partial<Transfer> = {}): ExpectedEvent => ({
  type: 'intent.extra_payment',
  data: { landing: landing(hash, change), ...paidAmount(change) },
});
/** On an original: one of its refunds was paid late, beside the linked one. */
export const lateRefundPaid = (
  refundIntentId: IntentId,
  hash: TransactionHash,
  change: Partial<Transfer> = {},
): ExpectedEvent => ({
  type: 'extra_payment_observed',
  data: { landing: landing(hash, change), refundIntentId },
});
/** An extra payment that was told of before a reorg undid it. */
export const extraPaymentAgain = (hash: TransactionHash, change: Partial<Transfer>): ExpectedEvent => ({
  type: 'extra_payment_observed',
  data: { landing: landing(hash, change), ...paidAmount(change) },
});
/** What is said of a payment that does not match its intent. */
const mismatchOf = (hash: TransactionHash, change: Partial<Transfer>, ...differs: readonly PaymentTerm[]) => ({
  landing: landing(hash, change),
  amount: differs.includes('token') ? null : formatAmount(landing(hash, change).transfer.amount, 6),
  differs,
});
export const mismatchedPayment = (
  hash: TransactionHash,
  change: Partial<Transfer>,
  ...differs: readonly PaymentTerm[]
): ExpectedEvent => ({ type: 'intent.mismatched_payment', data: mismatchOf(hash, change, ...differs) });
/** A mismatched payment that a payer, not the chain, says was for the intent. */
export const claimedPayment = (hash: TransactionHash, change: Partial<Transfer>): ExpectedEvent => ({
  type: 'intent.mismatched_payment',
  data: { ...mismatchOf(hash, change, 'reference'), claimed: true },
});
/** Payers claim a reported payment for these intents, too. */
export const paymentClaimed = (hash: TransactionHash, ...intentIds: readonly IntentId[]): ExpectedEvent => ({
  type: 'intent.payment_claimed',
  data: { hash, intentIds },
});
export const mismatchWithdrawn = (hash: TransactionHash, change: Partial<Transfer> = {}): ExpectedEvent => ({
  type: 'intent.mismatch_withdrawn',
  data: { landing: landing(hash, change), ...paidAmount(change) },
});
/** The same where the transfer carries another reference. */
export const mismatchDisproved = (hash: TransactionHash, change: Partial<Transfer>): ExpectedEvent => ({
  type: 'intent.mismatch_withdrawn',
  data: mismatchOf(hash, change, 'reference'),
});

/** The final payment was more than 12.50 USDC, by so many base units. */
export const overpaid = (hash: TransactionHash, amountBaseUnits: bigint): ExpectedEvent => ({
  type: 'intent.overpaid',
  data: { hash, amount: formatAmount(amountBaseUnits, 6), amountBaseUnits },
});

/** The same events as a simulation appends them, without evidence from the chain. */
export const simulated = {
  pending: (hash: TransactionHash, fulfiller: Address = BOB): ExpectedEvent =>
    pending(hash, { fulfiller, simulated: true }),
  confirmed: (hash: TransactionHash, fulfiller: Address = BOB): ExpectedEvent => ({
    type: 'intent.confirmed',
    data: { hash, fulfiller, landing: null, late: null, simulated: true },
  }),
  finalized: (hash: TransactionHash): ExpectedEvent => ({
    type: 'intent.finalized',
    data: { hash, landing: null, simulated: true },
  }),
  failed: (hash: TransactionHash): ExpectedEvent => ({
    type: 'intent.failed',
    data: { hash, reason: 'simulated', simulated: true },
  }),
  expired: (pendingAtExpiry: boolean): ExpectedEvent => ({
    type: 'intent.expired',
    data: { pendingAtExpiry, simulated: true },
  }),
  cancelled: (): ExpectedEvent => cancelled('simulated'),
  retryRequired: (hash: TransactionHash): ExpectedEvent => ({
    type: 'intent.retry_required',
    data: { hash, proof: 'simulated', simulated: true },
  }),
};

/** A refund that was paid. */
export const refundConfirmed = (
  id: IntentId,
  hash: TransactionHash,
  late: LateState | null = null,
): readonly ExpectedEvent[] =>
  (late === null ? [confirmed(hash, refundTransfer(id))] : confirmedLate(hash, refundTransfer(id), late)).map((event) =>
    of(id, event),
  );
