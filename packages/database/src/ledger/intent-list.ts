import type { Listed, Position } from '@pf/contracts';
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
import { isCut, withinPage } from '../postgres/page-bytes.ts';
import { decodeStateOrNull } from './decoding.ts';
import type { IntentOwner } from './intents.ts';

/** The conditions that a listed intent meets, all of them. Addresses and hashes are in canonical form. */
export interface IntentFilter {
  /** Any of these. */
  readonly states?: readonly IntentStatus[];
  /**
   * Any of these. No two chains of a mode share a token address, so all tokens of a chain select the whole chain.
   */
  readonly tokens?: readonly TokenAddress[];
  readonly direction?: Direction;
  readonly requestor?: Address;
  readonly fulfiller?: Address;
  readonly reference?: Reference;
  readonly txSignature?: TransactionHash;
  /** Exclusive. */
  readonly createdAfter?: Instant;
  /** Exclusive. */
  readonly createdBefore?: Instant;
  /** The intent has these keys and values; it may have others. */
  readonly metadata?: Metadata;
}

/**
 * An owner's intents, newest first. With one filter other than `metadata`, a page costs the same in a list of any
 * length: only its own rows are read, from an index in the list's order. With `metadata`, the matching intents of the
 * account are read from its index and sorted if they are few; of many, the newest are soon met by reading the list in
 * its order. With several filters, one uses its index and the others are checked row by row. Large intents end a page
 * early.
 * @param after where the page before ended; null: begins with the newest
 */
export async function listIntents(
  { sql, scans }: Pick<Database, 'sql' | 'scans'>,
  owner: IntentOwner,
  filter: IntentFilter,
  after: Position | null,
  limit: number,
): Promise<Listed<PaymentIntent>> {
  const found: PaymentIntent[] = [];
  for (let from = after; ;) {
    const wanted = limit - found.length;
    // Not prepared: which index serves depends on the values.
    const list = async (queryable: typeof sql, how: 'sorted' | 'in order') => {
      const statement = intentsStatement(owner, filter, from, wanted, how);
      return (await queryable.query<IntentRow>(statement)).rows;
    };
    let rows = await list(filter.metadata === undefined ? sql : scans, 'sorted');
    if ((rows[0]?.matches ?? 0) > MOST_SORTED) rows = await list(scans, 'in order');
    // Without those that cannot be decoded: they must not make the list of their account unreadable.
    found.push(...rows.flatMap(({ state }) => decodeStateOrNull(state) ?? []));
    const last = rows.at(-1);
    const cut = isCut(rows, wanted);
    if (last === undefined || found.length === limit || (cut ? found.length > 0 : rows.length < wanted))
      return { rows: found, isCut: cut };
    from = { createdAt: last.created_at.getTime(), id: last.id };
  }
}

interface IntentRow {
  readonly created_at: Date;
  readonly id: string;
  readonly state: string;
  readonly bytes: number;
  readonly matches?: number;
}

/** So many matches of `metadata` are read and sorted at most. */
const MOST_SORTED = 5_000;

const DIRECTIONS: readonly Direction[] = ['request', 'send'];
const ORDER = 'ORDER BY created_at DESC, id DESC';
const COLUMNS = 'created_at, id, state, octet_length(state) AS bytes';

/** Columns and the values that each may have. Each combination is one range of an index; together they are the list. */
type Choices = readonly (readonly [column: string, values: readonly string[]])[];

/**
 * Completes the filter to the columns of an index in the list's order. An account's whole list, too, is read from
 * ranges of an index, one for each direction and state. With an index of the whole list Postgres would choose it for a
 * value that most intents have, and read all newer intents that do not have it.
 */
function choicesOf({ states, tokens, direction, requestor, fulfiller, reference, txSignature }: IntentFilter): Choices {
  const filtered: [column: string, values: readonly string[]][] = [];
  for (const [column, value] of Object.entries({ requestor, fulfiller, reference, tx_signature: txSignature }))
    if (value !== undefined) filtered.push([column, [value]]);
  if (tokens !== undefined) filtered.push(['token_address', [...new Set(tokens)]]);
  if (filtered.length > 0 && states === undefined && direction === undefined) return filtered;
  return [
    ...filtered,
    ['direction', direction === undefined ? DIRECTIONS : [direction]],
    ['status', [...new Set(states ?? INTENT_STATUSES)]],
  ];
}

/**
 * The statement of listIntents: it merges the ranges as it reads them.
 * @param how 'sorted': matches of `metadata` are read from their index and sorted; the rows then have `matches`, and
 *   are the list only if it is at most MOST_SORTED. 'in order': the list is read in its order, and `metadata` checked
 */
export function intentsStatement(
  { accountId, livemode }: IntentOwner,
  filter: IntentFilter,
  after: Position | null,
  limit: number,
  how: 'sorted' | 'in order' = 'sorted',
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

  if (filter.metadata === undefined || how === 'in order') {
    // Not by the expression of the index, which Postgres would choose.
    if (filter.metadata !== undefined) common.push(`metadata @> ${parameter(JSON.stringify(filter.metadata))}::jsonb`);
    const runs = choices.reduce(
      (before, [column, of]) =>
        of.flatMap((value) => before.map((run) => `${run} AND ${column} = ${parameter(value)}`)),
      [common.join(' AND ')],
    );
    const rows = runs.map((run) => `(SELECT ${COLUMNS} FROM ledger.intents WHERE ${run} ${ORDER} ${few})`);
    return { text: withinPage(`SELECT * FROM (${rows.join(' UNION ALL ')}) AS runs ${ORDER} ${few}`, ORDER), values };
  }
  // Materialized: all matches are read, then sorted. With a LIMIT in the same query Postgres would scan the whole list
  // in order instead.
  const metadata = parameter(JSON.stringify(filter.metadata));
  const indexed = `jsonb_set('{}'::jsonb, ARRAY[account_id], metadata)`;
  const matches = `${indexed} @> jsonb_build_object(${account}::text, ${metadata}::jsonb)`;
  const conditions = [...common, ...choices.map(([column, of]) => `${column} = ANY(${parameter(of)})`), matches].join(
    ' AND ',
  );
  const text = `
    WITH matching AS MATERIALIZED (SELECT created_at, id FROM ledger.intents WHERE ${conditions}
      LIMIT ${MOST_SORTED + 1}),
    page AS MATERIALIZED (SELECT id FROM matching ${ORDER} ${few})
    ${withinPage(
      `SELECT ${COLUMNS}, (SELECT count(*)::int FROM matching) AS matches
         FROM ledger.intents WHERE id IN (SELECT id FROM page) ${ORDER}`,
      ORDER,
    )}`;
  return { text, values };
}
