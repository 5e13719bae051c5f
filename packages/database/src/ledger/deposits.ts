import type { Position } from '@pf/contracts';
import type { Address, Deposit, DepositId, DepositState, Instant, TokenAddress, TransactionHash } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decodeDepositState } from './decoding.ts';
import type { IntentOwner } from './intents.ts';

/** The conditions that a listed deposit meets, all of them. Addresses and hashes are in canonical form. */
export interface DepositFilter {
  /** Any of these. */
  readonly states?: readonly DepositState[];
  /** Any of these: all tokens of a chain select the chain. */
  readonly tokens?: readonly TokenAddress[];
  readonly recipient?: Address;
  readonly txSignature?: TransactionHash;
  /** Exclusive. */
  readonly createdAfter?: Instant;
  /** Exclusive. */
  readonly createdBefore?: Instant;
}

/** The deposit, or null if this owner has none with this id. */
export async function findDeposit(
  { sql }: Pick<Database, 'sql'>,
  id: DepositId,
  { accountId, livemode }: IntentOwner,
): Promise<Deposit | null> {
  const { rows } = await sql.query<{ document: string }>(
    'SELECT document FROM ledger.deposits WHERE id = $1 AND account_id = $2 AND livemode = $3',
    [id, accountId, livemode],
  );
  return rows[0] ? decodeDepositState(rows[0].document) : null;
}

const ORDER = 'ORDER BY created_at DESC, id DESC';

/**
 * An owner's deposits, newest first. With one filter a page costs the same in a list of any length; with several, one
 * uses its index and the others are checked row by row.
 * @param after where the page before ended; null: begins with the newest
 */
export async function listDeposits(
  { sql }: Pick<Database, 'sql'>,
  { accountId, livemode }: IntentOwner,
  { states, tokens, recipient, txSignature, createdAfter, createdBefore }: DepositFilter,
  after: Position | null,
  limit: number,
): Promise<readonly Deposit[]> {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const common = [`account_id = ${parameter(accountId)}`, `livemode = ${parameter(livemode)}`];
  if (recipient !== undefined) common.push(`recipient = ${parameter(recipient)}`);
  if (txSignature !== undefined) common.push(`tx_signature = ${parameter(txSignature)}`);
  if (createdAfter !== undefined) common.push(`created_at > ${parameter(new Date(createdAfter))}`);
  if (createdBefore !== undefined) common.push(`created_at < ${parameter(new Date(createdBefore))}`);
  if (after !== null)
    common.push(`(created_at, id) < (${parameter(new Date(after.createdAt))}, ${parameter(after.id)})`);
  // Each combination is one range of an index in the list's order; they are merged as they are read.
  const eachOf = (runs: readonly string[], column: string, of: readonly string[] | undefined): readonly string[] =>
    of === undefined
      ? runs
      : [...new Set(of)].flatMap((value) => runs.map((run) => `${run} AND ${column} = ${parameter(value)}`));
  const runs = eachOf(eachOf([common.join(' AND ')], 'state', states), 'token_address', tokens);
  const few = `LIMIT ${parameter(limit)}`;
  const rows = runs.map((run) => `(SELECT created_at, id, document FROM ledger.deposits WHERE ${run} ${ORDER} ${few})`);
  const found = await sql.query<{ document: string }>(
    `SELECT document FROM (${rows.join(' UNION ALL ')}) AS runs ${ORDER} ${few}`,
    values,
  );
  return found.rows.map(({ document }) => decodeDepositState(document));
}
