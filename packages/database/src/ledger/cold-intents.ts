import { createHash } from 'node:crypto';
import type { ChainId, Instant, IntentId, PaymentIntent } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decodeStateOrNull } from './decoding.ts';
import type { StoredEvent } from './intent-events.ts';
import type { IntentOwner } from './intents.ts';
import { LEDGER, type ProjectionTables } from './projection.ts';

/** An intent's rows as JSON, as Postgres makes it and reads it again. */
export interface ColdRows {
  readonly intent: string;
  readonly events: string;
}

/** Where an intent's rows lie in the archive's store, and the key that they are encrypted with there. */
export interface ColdPlace {
  readonly id: IntentId;
  readonly bundle: string;
  readonly firstByte: number;
  readonly bytes: number;
  readonly key: Uint8Array;
}

/** An intent that has ended long ago. */
export interface OldIntent extends ColdRows {
  readonly id: IntentId;
  readonly partition: number;
  readonly version: number;
  readonly digest: Uint8Array;
  readonly closedAt: string;
}

/** Where a search for old intents ended. */
export type OldPlace = Pick<OldIntent, 'closedAt' | 'id'>;

/**
 * The SHA-256 of what a fold makes of an intent: its state, and the identity and bytes of its public events. Columns
 * that migrations add do not change it.
 * @param intent the alias of a row of `tables.intents`
 */
export const digestOf = (intent: string, { events }: Pick<ProjectionTables, 'events'>): string =>
  `sha256(convert_to(${intent}.state || coalesce((SELECT string_agg(
     event.version || ' ' || event.event_id || ' ' || event.body, E'\\n' ORDER BY event.version)
     FROM ${events} AS event WHERE event.intent_id = ${intent}.id), ''), 'UTF8'))`;

/**
 * Bytes of the texts that one search returns. Its answer has at most twice as many: they are JSON without line breaks,
 * so only quotes and backslashes are escaped when they become strings in JSON.
 */
const SEARCH_BYTES = 4 * 1024 * 1024;

/**
 * Intents of these partitions on a chain that had ended and did not change any more at `before`, the oldest first. None
 * that a webhook is still kept of, that has a payment for its account to look at, or whose original or refund is
 * younger. The state may have more reasons to stay (isAtRest).
 * @param after where the last search ended
 * @param limit in intents; less are returned where they have more than 8 MiB, but one at least: go on after the last
 *   one until there is none
 */
export async function findOldIntents(
  { sql }: Pick<Database, 'sql'>,
  chain: ChainId,
  partitions: readonly number[],
  before: Instant,
  after: OldPlace | null,
  limit: number,
): Promise<readonly OldIntent[]> {
  const { rows } = await sql.query<OldIntent>({
    name: 'find-old-intents',
    // Lengths are known without the texts, so only what is returned is read. LATERAL with a limit is one index probe an
    // intent, whatever number of rows the planner expects. The state has the metadata, and a column has it again.
    text: `
      WITH old AS MATERIALIZED (
        SELECT id, closed_at, 2 * octet_length(state) + (SELECT coalesce(sum(octet_length(event.body)), 0)
          FROM ${LEDGER.events} AS event WHERE event.intent_id = intent.id) AS bytes
        FROM ${LEDGER.intents} AS intent
        WHERE chain = $1 AND closed_at < $3 AND closed_at >= $4::timestamptz AND (closed_at, id) > ($4::timestamptz, $5)
          AND partition = ANY($2) AND updated_at < $3 AND status NOT IN ('created', 'pending', 'confirmed')
          AND NOT EXISTS (SELECT FROM ${LEDGER.events} AS event
            WHERE event.intent_id = intent.id AND (event.at >= $3 OR event.account_id IS NOT NULL))
          AND NOT EXISTS (SELECT FROM service.deliveries AS delivery WHERE delivery.intent_id = intent.id)
          AND NOT EXISTS (SELECT FROM ${LEDGER.intents} AS other
            WHERE other.id IN (intent.refund_of, intent.refunded_by)
              AND (other.closed_at IS NULL OR other.closed_at >= $3 OR other.updated_at >= $3))
        ORDER BY closed_at, id LIMIT $6
      ), summed AS (
        SELECT id, closed_at, bytes, sum(bytes) OVER (ORDER BY closed_at, id) AS total FROM old
      )
      SELECT summed.id, rows.*, summed.closed_at::text AS "closedAt"
      FROM summed CROSS JOIN LATERAL (
        SELECT intent.partition, intent.version, ${digestOf('intent', LEDGER)} AS digest,
          row_to_json(intent)::text AS intent,
          (SELECT coalesce(json_agg(event ORDER BY event.version), '[]')::text FROM ${LEDGER.events} AS event
            WHERE event.intent_id = intent.id) AS events
        FROM ${LEDGER.intents} AS intent WHERE intent.id = summed.id LIMIT 1
      ) AS rows
      WHERE total <= $7 OR total = bytes
      ORDER BY summed.closed_at, summed.id`,
    values: [chain, partitions, new Date(before), after?.closedAt ?? '-infinity', after?.id ?? '', limit, SEARCH_BYTES],
  });
  return rows;
}

/** Locks the checkpoint like a projection: nothing leaves or comes back while a rebuild writes. */
const TURN = `turn AS (
  SELECT partition FROM ${LEDGER.checkpoints} WHERE partition = $1 FOR UPDATE NOWAIT
)`;

/**
 * Deletes the rows of these intents, which lie in the archive's store now. Only for the owner of their partition, in
 * its turn: what it has decided about an intent is projected, and the next look-up sees that the intent has left.
 * @returns how many have left: not those whose rows are others than were written
 */
export async function leave(
  { sql }: Pick<Database, 'sql'>,
  partition: number,
  leaving: readonly (ColdPlace & Pick<OldIntent, 'version' | 'digest'>)[],
): Promise<number> {
  const { rows } = await sql.query<{ left: number }>({
    name: 'leave',
    text: `
      WITH ${TURN}, place AS MATERIALIZED (
        SELECT place.*
        FROM turn, unnest($2::text[], $3::int[], $4::bytea[], $5::text[], $6::int[], $7::int[], $8::bytea[])
          AS place (id, version, digest, bundle, first_byte, bytes, key)
      ), written AS MATERIALIZED (
        SELECT place.* FROM place JOIN ${LEDGER.intents} AS intent USING (id, version)
        WHERE ${digestOf('intent', LEDGER)} = place.digest
      ), gone AS (
        DELETE FROM ${LEDGER.intents} AS intent USING written
        WHERE intent.id = written.id AND intent.version = written.version
        RETURNING intent.id, intent.partition, intent.version, account_id, livemode, created_at
      ), events AS (
        DELETE FROM ${LEDGER.events} AS event USING gone WHERE event.intent_id = gone.id
      ), cold AS (
        INSERT INTO ledger.cold_intents
          (id, partition, version, account_id, livemode, created_at, digest, bundle, first_byte, bytes, key)
        SELECT id, gone.partition, gone.version, account_id, livemode, created_at,
          digest, bundle, first_byte, bytes, key
        FROM gone JOIN written USING (id)
        RETURNING id
      )
      SELECT count(*)::int AS left FROM cold`,
    values: [
      partition,
      leaving.map(({ id }) => id),
      leaving.map(({ version }) => version),
      leaving.map(({ digest }) => Buffer.from(digest)),
      leaving.map(({ bundle }) => bundle),
      leaving.map(({ firstByte }) => firstByte),
      leaving.map(({ bytes }) => bytes),
      leaving.map(({ key }) => Buffer.from(key)),
    ],
  });
  return rows[0]?.left ?? 0;
}

const PLACE = 'id, bundle, first_byte AS "firstByte", bytes, key';

/** Where those of these intents lie that have left. */
export async function findCold(
  { sql }: Pick<Database, 'sql'>,
  ids: readonly IntentId[],
): Promise<readonly ColdPlace[]> {
  const { rows } = await sql.query<ColdPlace>({
    name: 'find-cold',
    text: `SELECT ${PLACE} FROM ledger.cold_intents WHERE id = ANY($1::text[])`,
    values: [ids],
  });
  return rows;
}

/** What must be where an intent lies. */
export interface ColdClaim extends ColdPlace {
  readonly version: number;
  readonly digest: Uint8Array;
}

/** Places are read in pages; a bundle has fewer (200), so no page is without a whole one. */
const PLACES_AT_ONCE = 2_000;

/** All intents that have left, those of a bundle together. */
export async function* coldByBundle({ sql }: Pick<Database, 'sql'>): AsyncGenerator<readonly ColdClaim[]> {
  for (let after = ''; ;) {
    const { rows } = await sql.query<ColdClaim>(
      `SELECT ${PLACE}, version, digest FROM ledger.cold_intents WHERE bundle > $1
        ORDER BY bundle LIMIT ${PLACES_AT_ONCE}`,
      [after],
    );
    const last = rows.at(-1)?.bundle;
    if (last === undefined) return;
    // The last one may go on in the next page.
    const isEnd = rows.length < PLACES_AT_ONCE;
    const whole = isEnd ? rows : rows.filter(({ bundle }) => bundle !== last);
    yield whole;
    if (isEnd) return;
    after = whole.at(-1)?.bundle ?? last;
  }
}

/** The versions in which intents of a partition have left. */
export async function coldVersions(
  { sql }: Pick<Database, 'sql'>,
  partition: number,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql.query<{ id: string; version: number }>(
    'SELECT id, version FROM ledger.cold_intents WHERE partition = $1',
    [partition],
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** The same digest as Postgres makes of the rows that a bundle has. @throws SyntaxError */
export function digestOfRows({ intent, events }: ColdRows): Uint8Array {
  const { state } = JSON.parse(intent) as { readonly state: string };
  const stored = JSON.parse(events) as readonly { version: number; event_id: string; body: string }[];
  const lines = stored
    .toSorted((a, b) => a.version - b.version)
    .map(({ version, event_id: id, body }) => `${version} ${id} ${body}`);
  return createHash('sha256')
    .update(state + lines.join('\n'))
    .digest();
}

/** Where an intent of this owner lies; null if none with this id has left. */
export async function findColdOf(
  { sql }: Pick<Database, 'sql'>,
  id: IntentId,
  { accountId, livemode }: IntentOwner,
): Promise<ColdPlace | null> {
  const { rows } = await sql.query<ColdPlace>({
    name: 'find-cold-of',
    text: `SELECT ${PLACE} FROM ledger.cold_intents WHERE id = $1 AND account_id = $2 AND livemode = $3`,
    values: [id, accountId, livemode],
  });
  return rows[0] ?? null;
}

/** When the newest of this owner's intents that have left was created; null while none has. */
export async function newestCold(
  { sql }: Pick<Database, 'sql'>,
  { accountId, livemode }: IntentOwner,
): Promise<Instant | null> {
  const { rows } = await sql.query<{ created_at: Date }>({
    name: 'newest-cold',
    text: `SELECT created_at FROM ledger.cold_intents WHERE account_id = $1 AND livemode = $2
            ORDER BY created_at DESC LIMIT 1`,
    values: [accountId, livemode],
  });
  return rows[0]?.created_at.getTime() ?? null;
}

/**
 * Stores the rows of intents again that had left, byte for byte as they were. Only for the owner of their partition, in
 * its turn.
 */
export async function bringBack(
  { sql }: Pick<Database, 'sql'>,
  partition: number,
  intents: readonly (ColdRows & Pick<ColdPlace, 'id'>)[],
): Promise<void> {
  await sql.query({
    name: 'bring-back',
    text: `
      WITH ${TURN}, read AS MATERIALIZED (
        SELECT read.* FROM turn, unnest($2::text[], $3::text[], $4::text[]) AS read (id, intent, events)
      ), back AS (
        DELETE FROM ledger.cold_intents AS cold USING read WHERE cold.id = read.id RETURNING read.intent, read.events
      ), events AS (
        INSERT INTO ${LEDGER.events}
        SELECT event.* FROM back, json_populate_recordset(NULL::${LEDGER.events}, back.events::json) AS event
      )
      INSERT INTO ${LEDGER.intents}
      SELECT intent.* FROM back, json_populate_record(NULL::${LEDGER.intents}, back.intent::json) AS intent`,
    values: [
      partition,
      intents.map(({ id }) => id),
      intents.map(({ intent }) => intent),
      intents.map(({ events }) => events),
    ],
  });
}

/** The intent in these rows; null if it cannot be decoded. @throws SyntaxError */
export const intentIn = ({ intent }: ColdRows): PaymentIntent | null =>
  decodeStateOrNull((JSON.parse(intent) as { readonly state: string }).state);

/** The public events in these rows, oldest first. @throws SyntaxError */
export const eventsIn = ({ events }: ColdRows): readonly StoredEvent[] => JSON.parse(events) as readonly StoredEvent[];

/** True if any intent has left: what serves them is needed, whatever the policy says now. */
export async function hasCold({ sql }: Pick<Database, 'sql'>): Promise<boolean> {
  const { rowCount } = await sql.query('SELECT FROM ledger.cold_intents LIMIT 1');
  return (rowCount ?? 0) > 0;
}
