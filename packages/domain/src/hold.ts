import { NOTHING_HAPPENED, versionGap } from './evolve.ts';
import type { AccountId, Instant, IntentId } from './model/ids.ts';
import type { PaymentIntent } from './model/intent.ts';
import { decimalsOf } from './model/money.ts';
import { instantOf, type PublicIntent } from './model/view.ts';

/** What every version of an event has: its place in the history and the public intent after it. */
export interface EventHead {
  readonly type: string;
  readonly intentId: IntentId;
  readonly version: number;
  readonly accountId: AccountId;
  readonly at: Instant;
  readonly shown: PublicIntent;
}

/**
 * Passes over an event that this code does not understand: the version moves on, the public fields become those that
 * the event shows, and the intent is held, so that nothing is decided about it before code that understands the event
 * has folded it (docs/internals/evolution.md).
 * @param state the fold of the events before; undefined before the first.
 * @throws VersionGapError when it is not the next version.
 */
export const hold = (state: PaymentIntent | undefined, event: EventHead): PaymentIntent => {
  if (event.version !== (state?.version ?? 0) + 1) throw versionGap(state, event);
  const { shown, accountId, at, version } = event;
  const isOpen = shown.state === 'created' || shown.state === 'pending' || shown.state === 'confirmed';
  // What is shown decides, also where a state came from columns that lack it.
  const { amountReceived: _, ...before } = { amountReceived: undefined, ...(state ?? NOTHING_HAPPENED) };
  return {
    ...before,
    decimals: decimalsOf(shown.amount, BigInt(shown.amountBaseUnits)),
    id: event.intentId,
    version,
    accountId,
    livemode: shown.livemode,
    idempotencyKey: shown.idempotencyKey ?? null,
    chain: shown.chain as PaymentIntent['chain'],
    token: shown.token,
    tokenAddress: shown.tokenAddress as PaymentIntent['tokenAddress'],
    amount: shown.amount,
    amountBaseUnits: BigInt(shown.amountBaseUnits),
    requestor: shown.requestor as PaymentIntent['requestor'],
    fulfiller: shown.fulfiller as PaymentIntent['fulfiller'],
    direction: shown.direction,
    ...(shown.attribution && { attribution: shown.attribution }),
    ...(shown.accept && { accept: shown.accept }),
    status: shown.state,
    retryRequired: shown.retryRequired,
    pendingAtExpiry: shown.pendingAtExpiry,
    reference: shown.reference as PaymentIntent['reference'],
    txSignature: shown.txSignature as PaymentIntent['txSignature'],
    ataRentLamports: shown.ataRentLamports,
    ttlSeconds: shown.ttlSeconds,
    metadata: shown.metadata,
    refundedBy: shown.refundedBy as PaymentIntent['refundedBy'],
    refundOf: shown.refundOf as PaymentIntent['refundOf'],
    createdAt: instantOf(shown.createdAt),
    updatedAt: instantOf(shown.updatedAt),
    expiresAt: instantOf(shown.expiresAt),
    detectedAt: instantOrNull(shown.detectedAt),
    confirmedAt: instantOrNull(shown.confirmedAt),
    finalizedAt: instantOrNull(shown.finalizedAt),
    closedAt: isOpen ? null : (state?.closedAt ?? at),
    ...(shown.amountReceivedBaseUnits !== undefined && { amountReceived: BigInt(shown.amountReceivedBaseUnits) }),
    ...(shown.erasedAt === undefined ? {} : { erasedAt: instantOf(shown.erasedAt) }),
    heldFrom: state?.heldFrom ?? version,
  };
};

const instantOrNull = (at: string | null): Instant | null => (at === null ? null : instantOf(at));
