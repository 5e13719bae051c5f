import { decodeDeposit, decodeIntent } from '@pf/contracts';
import {
  type Address,
  type ChainId,
  type Deposit,
  evolve,
  type IntentId,
  type PaymentIntent,
  type Reference,
  type TokenAddress,
} from '@pf/domain';
import type { Queryable } from './projection.ts';

/** The row of an intent cannot be decoded: newer code wrote it, or it is damaged. Other rows are not affected. */
export class UndecodableIntentError extends Error {
  override readonly name = 'UndecodableIntentError';
}

/** @throws UndecodableIntentError */
export function decodeState(state: string): PaymentIntent {
  try {
    return decodeIntent(state);
  } catch (error) {
    throw new UndecodableIntentError('The stored state of an intent cannot be decoded', { cause: error });
  }
}

/** The intent, or null if its row cannot be decoded. */
export function decodeStateOrNull(state: string): PaymentIntent | null {
  try {
    return decodeState(state);
  } catch (error) {
    if (error instanceof UndecodableIntentError) return null;
    throw error;
  }
}

/**
 * Decodes rows for decisions and watchers. One that cannot be decoded becomes a held intent of its columns: it exists,
 * so that its idempotency key makes no second one, but nothing can be decided about it.
 */
export async function decodeStates(
  queryable: Queryable,
  table: string,
  rows: readonly { readonly id: IntentId; readonly state: string }[],
): Promise<readonly PaymentIntent[]> {
  const decoded = rows.map(({ id, state }) => ({ id, intent: decodeStateOrNull(state) }));
  const failed = decoded.flatMap(({ id, intent }) => (intent === null ? [id] : []));
  if (failed.length === 0) return decoded.flatMap(({ intent }) => intent ?? []);
  const held = await heldIntents(queryable, table, failed);
  return decoded.flatMap(({ id, intent }) => intent ?? held.get(id) ?? []);
}

interface Row {
  readonly id: IntentId;
  readonly version: number;
  readonly account_id: PaymentIntent['accountId'];
  readonly livemode: boolean;
  readonly chain: ChainId;
  readonly token: string;
  readonly token_address: TokenAddress;
  readonly requestor: Address;
  readonly direction: PaymentIntent['direction'];
  readonly reference: Reference;
  readonly idempotency_key: string | null;
  readonly refund_of: IntentId | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly expires_at: Date;
  readonly closed_at: Date | null;
  readonly status: PaymentIntent['status'];
  readonly amount_base_units: string;
}

/** Of rows that cannot be decoded. */
export async function heldIntents(
  queryable: Queryable,
  table: string,
  ids: readonly IntentId[],
): Promise<ReadonlyMap<IntentId, PaymentIntent>> {
  const { rows } = await queryable.query<Row>(
    `SELECT id, version, account_id, livemode, chain, token, token_address, requestor, direction, reference,
            idempotency_key, refund_of, created_at, updated_at, expires_at, closed_at, status, amount_base_units
       FROM ${table} WHERE id = ANY($1::text[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, heldIntent(row)]));
}

type Created = Pick<
  PaymentIntent,
  | 'id'
  | 'accountId'
  | 'livemode'
  | 'idempotencyKey'
  | 'chain'
  | 'token'
  | 'tokenAddress'
  | 'amountBaseUnits'
  | 'requestor'
  | 'fulfiller'
  | 'direction'
  | 'reference'
  | 'createdAt'
  | 'expiresAt'
  | 'refundOf'
>;

/** An intent as it was created, by what has a column: without decimals, metadata and the amount as it was written. */
export const createdIntent = ({ id, createdAt, expiresAt, ...data }: Created): PaymentIntent =>
  evolve(undefined, {
    type: 'intent.created',
    intentId: id,
    version: 1,
    at: createdAt,
    data: {
      ...data,
      decimals: 0,
      amount: '',
      ttlSeconds: Math.round((expiresAt - createdAt) / 1_000),
      metadata: null,
    },
  });

/** What the columns say, from its creation on. */
const heldIntent = (row: Row): PaymentIntent => ({
  ...createdIntent({
    id: row.id,
    accountId: row.account_id,
    livemode: row.livemode,
    idempotencyKey: row.idempotency_key,
    chain: row.chain,
    token: row.token,
    tokenAddress: row.token_address,
    amountBaseUnits: BigInt(row.amount_base_units),
    requestor: row.requestor,
    fulfiller: null,
    direction: row.direction,
    reference: row.reference,
    createdAt: row.created_at.getTime(),
    expiresAt: row.expires_at.getTime(),
    refundOf: row.refund_of,
  }),
  version: row.version,
  status: row.status,
  updatedAt: row.updated_at.getTime(),
  expiresAt: row.expires_at.getTime(),
  closedAt: row.closed_at?.getTime() ?? null,
  heldFrom: row.version,
});

/** A stored deposit. One that newer code wrote is held as far as it can be read: nothing is decided about it. */
export function decodeDepositState(document: string): Deposit {
  try {
    return decodeDeposit(document);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const stored = JSON.parse(document) as Deposit;
    const { block, amount } = stored.arrival;
    const arrival = { ...stored.arrival, block: BigInt(block), amount: BigInt(amount) };
    return { ...stored, arrival, heldFrom: stored.heldFrom ?? stored.version };
  }
}
