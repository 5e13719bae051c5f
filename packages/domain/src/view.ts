import type { IntentId } from './ids.ts';
import type { Instant } from './ids.ts';
import type { Direction, IntentStatus, Metadata, PaymentIntent } from './intent.ts';

/** The PaymentIntent of spec.md part 2.1, as it stands in answers, events and webhooks. Every field is always present. */
export interface PublicIntent {
  readonly id: IntentId;
  readonly idempotencyKey: string | null;
  readonly chain: string;
  readonly token: string;
  readonly tokenAddress: string;
  readonly amount: string;
  readonly amountBaseUnits: string;
  readonly requestor: string;
  readonly fulfiller: string | null;
  readonly direction: Direction;
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
}

const iso = (at: Instant): string => new Date(at).toISOString();
const isoOrNull = (at: Instant | null): string | null => (at === null ? null : iso(at));

/** What the world sees of an intent. The order of keys is fixed: webhooks are signed over these bytes. */
export function view(intent: PaymentIntent): PublicIntent {
  return {
    id: intent.id,
    idempotencyKey: intent.idempotencyKey,
    chain: intent.chain,
    token: intent.token,
    tokenAddress: intent.tokenAddress,
    amount: intent.amount,
    amountBaseUnits: intent.amountBaseUnits.toString(),
    requestor: intent.requestor,
    fulfiller: intent.fulfiller,
    direction: intent.direction,
    state: intent.status,
    retryRequired: intent.retryRequired,
    pendingAtExpiry: intent.pendingAtExpiry,
    reference: intent.reference,
    txSignature: intent.txSignature,
    detectedAt: isoOrNull(intent.detectedAt),
    ataRentLamports: intent.ataRentLamports,
    ttlSeconds: intent.ttlSeconds,
    expiresAt: iso(intent.expiresAt),
    createdAt: iso(intent.createdAt),
    updatedAt: iso(intent.updatedAt),
    confirmedAt: isoOrNull(intent.confirmedAt),
    finalizedAt: isoOrNull(intent.finalizedAt),
    metadata: intent.metadata,
    refundedBy: intent.refundedBy,
    refundOf: intent.refundOf,
    livemode: intent.livemode,
  };
}
