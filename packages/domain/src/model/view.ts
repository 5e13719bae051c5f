import type { EventData, EventType, LateState, PaymentTerm } from './event.ts';
import type { Address, Instant, IntentId, Reference, TokenAddress, TransactionHash } from './ids.ts';
import type { Direction, IntentStatus, Landing, Metadata, PaymentIntent } from './intent.ts';
import { formatAmount } from './money.ts';

/**
 * A payment intent as integrators see it: exactly the fields of docs/reference/contract.md. Times are ISO 8601 in UTC,
 * with milliseconds.
 */
export interface PublicIntent {
  readonly id: IntentId;
  /** Absent where the client gave none, and after it was erased. */
  readonly idempotencyKey?: string;
  readonly chain: string;
  readonly token: string;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly amountBaseUnits: string;
  readonly requestor: string;
  readonly fulfiller: string | null;
  readonly direction: Direction;
  /** Absent where only what carries the reference pays it. */
  readonly attribution?: 'amount';
  /** Absent where only exactly the amount pays it. */
  readonly accept?: 'at_least';
  /** Only with `accept`, once it is paid: as a decimal, and in base units. */
  readonly amountReceived?: string;
  readonly amountReceivedBaseUnits?: string;
  readonly state: IntentStatus;
  readonly retryRequired: boolean;
  readonly pendingAtExpiry: boolean;
  readonly reference: string;
  readonly txSignature: string | null;
  readonly detectedAt: string | null;
  readonly ataRentLamports: number | null;
  readonly ttlSeconds: number;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly confirmedAt: string | null;
  readonly finalizedAt: string | null;
  readonly metadata: Metadata | null;
  readonly refundedBy: string | null;
  readonly refundOf: string | null;
  readonly livemode: boolean;
  /** Absent unless personal data of the intent was erased: since when `metadata` is empty. */
  readonly erasedAt?: string;
}

/**
 * A payment intent as its payers see it: without what is between the integrator and the service. A new field of
 * PublicIntent is not in it unless it is listed in PAYER_FIELDS.
 */
export type PayerIntent = Omit<PublicIntent, 'idempotencyKey' | 'metadata' | 'refundedBy' | 'refundOf' | 'erasedAt'>;

/**
 * A payment that the intent did not ask for, as integrators see it: enough to find it on chain and to send it back.
 */
export interface PublicPayment {
  readonly txSignature: TransactionHash;
  readonly sender: Address;
  readonly recipient: Address;
  readonly tokenAddress: TokenAddress;
  /** As a decimal; null where the token is not the intent's. */
  readonly amount: string | null;
  readonly amountBaseUnits: string;
  readonly reference: Reference;
  /** The terms in which it is not what the intent asks for. */
  readonly differs: readonly PaymentTerm[];
  /** The state before, if it came after the intent had ended. */
  readonly late: LateState | null;
  /** Only where the chain does not show what the payment was for: whoever submitted its hash says that it was this. */
  readonly claimed?: true;
}

/** What the payment of an intent was more than the amount asked for, as integrators see it. No new payment. */
export interface PublicOverpayment {
  readonly txSignature: TransactionHash;
  /** As a decimal. */
  readonly amount: string;
  readonly amountBaseUnits: string;
}

/** Who else claims a payment that was reported for the intent, as integrators see it. No new payment. */
export interface PublicClaim {
  readonly txSignature: TransactionHash;
  /** All other intents of the account for which it is claimed, oldest first. */
  readonly intentIds: readonly IntentId[];
}

type PublicField = Exclude<keyof PublicIntent, 'state'> | 'status';

/** The fields of a PaymentIntent in its public view. A missing or superfluous field does not compile. */
const PUBLIC_FIELDS: Readonly<Record<PublicField, true>> = {
  id: true,
  idempotencyKey: true,
  chain: true,
  token: true,
  tokenAddress: true,
  amount: true,
  amountBaseUnits: true,
  requestor: true,
  fulfiller: true,
  direction: true,
  attribution: true,
  accept: true,
  amountReceived: true,
  amountReceivedBaseUnits: true,
  status: true,
  retryRequired: true,
  pendingAtExpiry: true,
  reference: true,
  txSignature: true,
  detectedAt: true,
  ataRentLamports: true,
  ttlSeconds: true,
  expiresAt: true,
  createdAt: true,
  updatedAt: true,
  confirmedAt: true,
  finalizedAt: true,
  metadata: true,
  refundedBy: true,
  refundOf: true,
  livemode: true,
  erasedAt: true,
};

const PAYER_FIELDS: Readonly<Record<keyof PayerIntent, true>> = {
  id: true,
  chain: true,
  token: true,
  tokenAddress: true,
  amount: true,
  amountBaseUnits: true,
  requestor: true,
  fulfiller: true,
  direction: true,
  attribution: true,
  accept: true,
  amountReceived: true,
  amountReceivedBaseUnits: true,
  state: true,
  retryRequired: true,
  pendingAtExpiry: true,
  reference: true,
  txSignature: true,
  detectedAt: true,
  ataRentLamports: true,
  ttlSeconds: true,
  expiresAt: true,
  createdAt: true,
  updatedAt: true,
  confirmedAt: true,
  finalizedAt: true,
  livemode: true,
};

/** True for a field that integrators see. Only a change of such a field moves `updatedAt`. */
export const isPublicField = (field: keyof PaymentIntent): boolean => Object.hasOwn(PUBLIC_FIELDS, field);

/** An instant as the API writes it: ISO 8601, UTC, milliseconds. */
export const isoTime = (at: Instant): string => new Date(at).toISOString();
/** The instant that isoTime() has written. */
export const instantOf = (text: string): Instant => new Date(text).getTime();
const isoTimeOrNull = (at: Instant | null): string | null => (at === null ? null : isoTime(at));

/**
 * The public view of an intent, in API responses and webhooks. The order of the keys is part of the result, because the
 * bytes of a webhook are signed and kept.
 */
export const view = (intent: PaymentIntent): PublicIntent => ({
  id: intent.id,
  ...(intent.idempotencyKey === null ? {} : { idempotencyKey: intent.idempotencyKey }),
  chain: intent.chain,
  token: intent.token,
  tokenAddress: intent.tokenAddress,
  amount: intent.amount,
  amountBaseUnits: intent.amountBaseUnits.toString(),
  requestor: intent.requestor,
  fulfiller: intent.fulfiller,
  direction: intent.direction,
  ...(intent.attribution && { attribution: intent.attribution }),
  ...(intent.accept && { accept: intent.accept }),
  ...(intent.amountReceived !== undefined && {
    amountReceived: formatAmount(intent.amountReceived, intent.decimals),
    amountReceivedBaseUnits: intent.amountReceived.toString(),
  }),
  state: intent.status,
  retryRequired: intent.retryRequired,
  pendingAtExpiry: intent.pendingAtExpiry,
  reference: intent.reference,
  txSignature: intent.txSignature,
  detectedAt: isoTimeOrNull(intent.detectedAt),
  ataRentLamports: intent.ataRentLamports,
  ttlSeconds: intent.ttlSeconds,
  expiresAt: isoTime(intent.expiresAt),
  createdAt: isoTime(intent.createdAt),
  updatedAt: isoTime(intent.updatedAt),
  confirmedAt: isoTimeOrNull(intent.confirmedAt),
  finalizedAt: isoTimeOrNull(intent.finalizedAt),
  metadata: intent.metadata,
  refundedBy: intent.refundedBy,
  refundOf: intent.refundOf,
  livemode: intent.livemode,
  ...(intent.erasedAt === undefined ? {} : { erasedAt: isoTime(intent.erasedAt) }),
});

/** What payers see of an intent. Fields that are not known here, such as those of newer code, are left out. */
export const payerView = (intent: PublicIntent): PayerIntent =>
  Object.fromEntries(
    Object.entries(intent).filter(([field]) => Object.hasOwn(PAYER_FIELDS, field)),
  ) as unknown as PayerIntent;

type AnyEvent = {
  readonly [Type in EventType]: { readonly type: Type; readonly data: EventData[Type] };
}[EventType];

/**
 * The payment that an event reports to integrators; null for events about no payment, or about the one that was asked
 * for. The order of the keys is part of the result.
 * @param intent the intent after the event
 */
export const paymentOf = ({ type, data }: AnyEvent, intent: Pick<PublicIntent, 'amount'>): PublicPayment | null => {
  if (type === 'intent.extra_payment')
    return payment(data.landing, { amount: data.amount ?? intent.amount, differs: [], late: null });
  if (type === 'intent.mismatched_payment')
    return {
      ...payment(data.landing, { amount: data.amount, differs: data.differs, late: null }),
      ...(data.claimed && { claimed: true }),
    };
  if (type === 'intent.mismatch_withdrawn')
    return payment(data.landing, {
      amount: data.amount === undefined ? intent.amount : data.amount,
      differs: data.differs ?? [],
      late: null,
    });
  if (type === 'intent.late_payment')
    return payment(data.landing, { amount: data.amount ?? intent.amount, differs: [], late: data.late });
  return null;
};

/** Who else claims a reported payment; null for events of other types. The order of the keys is part of the result. */
export const claimOf = ({ type, data }: AnyEvent): PublicClaim | null =>
  type === 'intent.payment_claimed' ? { txSignature: data.hash, intentIds: data.intentIds } : null;

/** By how much a payment was too large; null for events of other types. The order of the keys is part of the result. */
export const overpaymentOf = ({ type, data }: AnyEvent): PublicOverpayment | null =>
  type === 'intent.overpaid'
    ? { txSignature: data.hash, amount: data.amount, amountBaseUnits: data.amountBaseUnits.toString() }
    : null;

const payment = (
  { hash, transfer }: Landing,
  { amount, differs, late }: Pick<PublicPayment, 'amount' | 'differs' | 'late'>,
): PublicPayment => ({
  txSignature: hash,
  sender: transfer.from,
  recipient: transfer.to,
  tokenAddress: transfer.tokenAddress,
  amount,
  amountBaseUnits: transfer.amount.toString(),
  reference: transfer.reference,
  differs,
  late,
});
