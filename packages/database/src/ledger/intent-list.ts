import type { Position } from '@pf/contracts';
import { decodeIntent } from '@pf/contracts';
import type {
  Address,
  Direction,
  Instant,
  IntentStatus,
  Metadata,
  PaymentIntent,
  Reference,
  TokenAddress,
  TransactionHash,
} from '@pf/domain';
import { INTENT_STATUSES } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import type { IntentOwner } from './intents.ts';

/** What listed intents must be, all of it; everything is canonical already. */
export interface IntentFilter {
  /** One of these. */
  readonly states?: readonly IntentStatus[];
  /**
   * One of these. No two chains of a mode have a token address in common, so all tokens of a chain are its whole list.
   */
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
 * An owner's intents, newest first. A page of any single filter but `metadata` costs the same in a list of any length:
 * it reads its own rows, from an index in the list's order. By `metadata` all matching intents of the account are read
 * from theirs, and sorted. Of several filters one is taken from its index, the others are checked row by row.
 * @param after those after this place, else from the newest on
 */
export async function listIntents(
  { sql }: Database,
  owner: IntentOwner,
  filter: IntentFilter,
  after: Position | null,
  limit: number,
): Promise<readonly PaymentIntent[]> {
  // Not prepared: which index serves depends on the values.
  const { rows } = await sql.query<{ state: string }>(intentsStatement(owner, filter, after, limit));
  return rows.map(({ state }) => decodeIntent(state));
}

const DIRECTIONS: readonly Direction[] = ['request', 'send'];
const ORDER = 'ORDER BY created_at DESC, id DESC';

/** Columns and the values that each may have: their combinations are the runs of an index that make the list. */
type Choices = readonly (readonly [column: string, values: readonly string[]])[];

/**
 * What is asked for, completed to the columns of an index in the list's order. An account's whole list, too, is runs of
 * an index, one for each direction and state: one of the whole would tempt Postgres to take it for a value that most
 * intents have, and to read all those in front that do not have it.
 */
function choicesOf({ states, tokens, direction, requestor, fulfiller, reference, txSignature }: IntentFilter): Choices {
  const asked: [column: string, values: readonly string[]][] = [];
  for (const [column, value] of Object.entries({ requestor, fulfiller, reference, tx_signature: txSignature }))
    if (value !== undefined) asked.push([column, [value]]);
  if (tokens !== undefined) asked.push(['token_address', [...new Set(tokens)]]);
  if (asked.length > 0 && states === undefined && direction === undefined) return asked;
  return [
    ...asked,
    ['direction', direction === undefined ? DIRECTIONS : [direction]],
    ['status', [...new Set(states ?? INTENT_STATUSES)]],
  ];
}

/** The statement behind listIntents: its runs, merged as they are read. */
export function intentsStatement(
  { accountId, livemode }: IntentOwner,
  filter: IntentFilter,
  after: Position | null,
  limit: number,
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const account = parameter(accountId);
  const common = [`account_id = ${account}`, `livemode = ${parameter(livemode)}`];
  if (filter.createdAfter !== undefined) common.push(`created_at > ${parameter(new Date(filter.createdAfter))}`);
  if (filter.createdBefore !== undefined) common.push(`created_at < ${parameter(new Date(filter.createdBefore))}`);
  if (after !== null)
    common.push(`(created_at, id) < (${parameter(new Date(after.createdAt))}, ${parameter(after.id)})`);
  const choices = choicesOf(filter);
  const few = `LIMIT ${parameter(limit)}`;

  if (filter.metadata === undefined) {
    const runs = choices.reduce(
      (before, [column, of]) =>
        of.flatMap((value) => before.map((run) => `${run} AND ${column} = ${parameter(value)}`)),
      [common.join(' AND ')],
    );
    const rows = runs.map((run) => `(SELECT created_at, id, state FROM ledger.intents WHERE ${run} ${ORDER} ${few})`);
    return { text: `SELECT * FROM (${rows.join(' UNION ALL ')}) AS runs ${ORDER} ${few}`, values };
  }
  // All that match are read before they are sorted: asked for a few in order, Postgres would rather look for them
  // through the whole list.
  const metadata = parameter(JSON.stringify(filter.metadata));
  const indexed = `jsonb_set('{}'::jsonb, ARRAY[account_id], metadata)`;
  const matches = `${indexed} @> jsonb_build_object(${account}::text, ${metadata}::jsonb)`;
  const conditions = [...common, ...choices.map(([column, of]) => `${column} = ANY(${parameter(of)})`), matches].join(
    ' AND ',
  );
  const text = `
    WITH matching AS MATERIALIZED (SELECT created_at, id FROM ledger.intents WHERE ${conditions}),
    page AS MATERIALIZED (SELECT id FROM matching ${ORDER} ${few})
    SELECT created_at, id, state FROM ledger.intents WHERE id IN (SELECT id FROM page) ${ORDER}`;
  return { text, values };
}
