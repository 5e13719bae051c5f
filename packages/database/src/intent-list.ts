import type { Position } from '@pf/contracts';
import { decodeIntent } from '@pf/contracts';
import type { Address, ChainId, Direction, Instant, IntentStatus, Metadata, PaymentIntent, Reference, TokenAddress, TransactionHash } from '@pf/domain';
import type { Database } from './database.ts';
import type { IntentOwner } from './intents.ts';

/** What listed intents must be, all of it; everything is canonical already. */
export interface IntentFilter {
  /** One of these. */
  readonly states?: readonly IntentStatus[];
  readonly chain?: ChainId;
  /** One of these. */
  readonly tokens?: readonly TokenAddress[];
  readonly direction?: Direction;
  readonly requestor?: Address;
  readonly fulfiller?: Address;
  readonly reference?: Reference;
  readonly txSignature?: TransactionHash;
  /** Later than. */
  readonly createdAfter?: Instant;
  /** Earlier than. */
  readonly createdBefore?: Instant;
  /** Has these values, and perhaps others. */
  readonly metadata?: Metadata;
}

/**
 * An owner's intents, newest first. A page of any single filter but `metadata` costs the same in a list of any length: it
 * reads its own rows, from an index in the list's order. By `metadata` all matching intents of the account are read from
 * theirs, and sorted. Of several filters one is taken from its index, the others are checked row by row.
 * @param after those after this place, else from the newest on
 */
export async function listIntents({ sql }: Database, owner: IntentOwner, filter: IntentFilter, after: Position | null, limit: number): Promise<readonly PaymentIntent[]> {
  // Not prepared: which index serves depends on the values.
  const { rows } = await sql.query<{ state: string }>(intentsStatement(owner, filter, after, limit));
  return rows.map(({ state }) => decodeIntent(state));
}

/** Every intent has one of these: an account's whole list is two runs of an index, merged. */
const DIRECTIONS: readonly Direction[] = ['request', 'send'];
const ORDER = 'ORDER BY created_at DESC, id DESC';

/** The columns that are filtered by, each with the values it may have and an index of its own in the list's order. */
function choicesOf(filter: IntentFilter): readonly (readonly [column: string, values: readonly string[]])[] {
  const choices: [string, readonly string[]][] = [];
  const choose = (column: string, values: readonly string[] | undefined): void => {
    if (values !== undefined) choices.push([column, [...new Set(values)]]);
  };
  const only = (value: string | undefined): readonly string[] | undefined => (value === undefined ? undefined : [value]);
  choose('status', filter.states);
  choose('token_address', filter.tokens);
  choose('chain', only(filter.chain));
  choose('direction', only(filter.direction));
  choose('requestor', only(filter.requestor));
  choose('fulfiller', only(filter.fulfiller));
  choose('reference', only(filter.reference));
  choose('tx_signature', only(filter.txSignature));
  return choices.length > 0 ? choices : [['direction', DIRECTIONS]];
}

/**
 * The statement behind listIntents. There is no index of an account's whole list on purpose: Postgres would take it for a
 * value that most intents have, and read all those in front that do not have it.
 */
export function intentsStatement({ accountId, livemode }: IntentOwner, filter: IntentFilter, after: Position | null, limit: number): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const account = parameter(accountId);
  const common = [`account_id = ${account}`, `livemode = ${parameter(livemode)}`];
  if (filter.createdAfter !== undefined) common.push(`created_at > ${parameter(new Date(filter.createdAfter))}`);
  if (filter.createdBefore !== undefined) common.push(`created_at < ${parameter(new Date(filter.createdBefore))}`);
  if (after !== null) common.push(`(created_at, id) < (${parameter(new Date(after.createdAt))}, ${parameter(after.id)})`);
  const choices = choicesOf(filter);
  const few = `LIMIT ${parameter(limit)}`;

  if (filter.metadata === undefined) {
    // One of several values: each has its own run of an index, and the runs are merged as they are read.
    const runs = choices.reduce((before, [column, of]) => of.flatMap((value) => before.map((run) => `${run} AND ${column} = ${parameter(value)}`)), [common.join(' AND ')]);
    const rows = runs.map((run) => `(SELECT created_at, id, state FROM ledger.intents WHERE ${run} ${ORDER} ${few})`);
    return { text: `SELECT * FROM (${rows.join(' UNION ALL ')}) AS runs ${ORDER} ${few}`, values };
  }
  // All that match are read before they are sorted: asked for a few in order, Postgres would rather look for them through the whole list.
  const matches = `jsonb_set('{}'::jsonb, ARRAY[account_id], metadata) @> jsonb_build_object(${account}::text, ${parameter(JSON.stringify(filter.metadata))}::jsonb)`;
  const conditions = [...common, ...choices.map(([column, of]) => `${column} = ANY(${parameter(of)})`), matches].join(' AND ');
  const text = `
    WITH matching AS MATERIALIZED (SELECT created_at, id FROM ledger.intents WHERE ${conditions}),
    page AS MATERIALIZED (SELECT id FROM matching ${ORDER} ${few})
    SELECT created_at, id, state FROM ledger.intents WHERE id IN (SELECT id FROM page) ${ORDER}`;
  return { text, values };
}
