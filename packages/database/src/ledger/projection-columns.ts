import { encodeDeposit, encodeIntent } from '@pf/contracts';
import type { Deposit, Instant, PaymentIntent } from '@pf/domain';

/** A column of ledger.intents and where its value comes from. */
export interface IntentColumn {
  readonly name: string;
  /** The type of one value; the statement takes an array of them. */
  readonly type: string;
  /** True if no event after `intent.created` changes it. */
  readonly fixed: boolean;
  readonly value: (intent: PaymentIntent) => string | number | boolean | null;
}

const time = (at: Instant | null): string | null => (at === null ? null : new Date(at).toISOString());
const fixed = (name: string, type: string, value: IntentColumn['value']): IntentColumn => ({
  name,
  type,
  fixed: true,
  value,
});
const changing = (name: string, type: string, value: IntentColumn['value']): IntentColumn => ({
  name,
  type,
  fixed: false,
  value,
});

/**
 * All columns but `partition`, which the batch gives. `state` holds the whole intent; the others serve filters and
 * order.
 */
export const INTENT_COLUMNS: readonly IntentColumn[] = [
  fixed('id', 'text', ({ id }) => id),
  fixed('account_id', 'text', ({ accountId }) => accountId),
  fixed('livemode', 'boolean', ({ livemode }) => livemode),
  fixed('chain', 'text', ({ chain }) => chain),
  fixed('token', 'text', ({ token }) => token),
  fixed('token_address', 'text', ({ tokenAddress }) => tokenAddress),
  fixed('requestor', 'text', ({ requestor }) => requestor),
  fixed('direction', 'text', ({ direction }) => direction),
  fixed('reference', 'text', ({ reference }) => reference),
  fixed('refund_of', 'text', ({ refundOf }) => refundOf),
  fixed('created_at', 'timestamptz', ({ createdAt }) => time(createdAt)),
  changing('version', 'integer', ({ version }) => version),
  changing('status', 'text', ({ status }) => status),
  changing('amount_base_units', 'numeric', ({ amountBaseUnits }) => amountBaseUnits.toString()),
  changing('fulfiller', 'text', ({ fulfiller }) => fulfiller),
  changing('tx_signature', 'text', ({ txSignature }) => txSignature),
  changing('metadata', 'jsonb', ({ metadata }) => (metadata === null ? null : JSON.stringify(metadata))),
  changing('idempotency_key', 'text', ({ idempotencyKey }) => idempotencyKey),
  changing('refunded_by', 'text', ({ refundedBy }) => refundedBy),
  changing('updated_at', 'timestamptz', ({ updatedAt }) => time(updatedAt)),
  changing('expires_at', 'timestamptz', ({ expiresAt }) => time(expiresAt)),
  changing('closed_at', 'timestamptz', ({ closedAt }) => time(closedAt)),
  changing('state', 'text', encodeIntent),
];

/** The row of a deposit, but for `partition`: by column, the type and the value. `document` holds the whole deposit. */
export const DEPOSIT_COLUMNS: Readonly<
  Record<string, readonly [type: string, value: (deposit: Deposit) => string | number | boolean | null]>
> = {
  id: ['text', ({ id }) => id],
  version: ['integer', ({ version }) => version],
  account_id: ['text', ({ accountId }) => accountId],
  livemode: ['boolean', ({ livemode }) => livemode],
  chain: ['text', ({ chain }) => chain],
  token_address: ['text', ({ arrival }) => arrival.tokenAddress],
  amount_base_units: ['numeric', ({ arrival }) => arrival.amount.toString()],
  recipient: ['text', ({ arrival }) => arrival.to],
  sender: ['text', ({ arrival }) => arrival.from],
  tx_signature: ['text', ({ arrival }) => arrival.hash],
  level: ['text', ({ level }) => level],
  state: ['text', ({ state }) => state],
  reason: ['text', ({ reason }) => reason],
  intent_id: ['text', ({ intentId }) => intentId],
  created_at: ['timestamptz', ({ createdAt }) => time(createdAt)],
  updated_at: ['timestamptz', ({ updatedAt }) => time(updatedAt)],
  document: ['text', encodeDeposit],
};
