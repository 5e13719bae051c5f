import type { Listed } from '@pf/contracts';
import type { IntentId, PaymentIntent } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { isCut, withinPage } from '../postgres/page-bytes.ts';
import { decodeStateOrNull } from './decoding.ts';

/** A public event as it is projected. */
export interface StoredEvent {
  readonly version: number;
  readonly type: string;
  /** The webhook's bytes: UTF-8 of this. */
  readonly body: string;
}

/**
 * An intent's public events above version `after`, oldest first; large ones end a page early. The caller has checked
 * who owns the intent.
 */
export async function intentEvents(
  { sql }: Database,
  id: IntentId,
  after: number,
  limit: number,
): Promise<Listed<StoredEvent>> {
  const { rows } = await sql.query<StoredEvent & { readonly bytes: number }>({
    name: 'intent-events',
    text: EVENTS,
    values: [id, after, limit],
  });
  return { rows: rows.map(({ version, type, body }) => ({ version, type, body })), isCut: isCut(rows, limit) };
}

const EVENTS = withinPage(
  `SELECT version, type, body, octet_length(body) AS bytes FROM ledger.intent_events
    WHERE intent_id = $1 AND version > $2 ORDER BY version LIMIT $3`,
  'ORDER BY version',
);

/** A query for one intent: its state if its version is above `known`, and its events above version `after`. */
export interface IntentLook {
  readonly id: IntentId;
  readonly known: number;
  readonly after: number;
}
export interface IntentSeen {
  /** Null where the intent is still at `known`, where its row cannot be decoded, or where nothing of it was read. */
  readonly intent: PaymentIntent | null;
  /** Oldest first. */
  readonly events: readonly StoredEvent[];
  /**
   * True if there may be more events than were read: look again after the last one. Without any event, other intents
   * took the room of this look.
   */
  readonly more: boolean;
}

/** Events of one intent in memory at once. */
const EVENTS_A_LOOK = 100;
/**
 * Bytes of these: a connection that takes one large event at a time does not make all the others be read each time. A
 * larger event comes by itself.
 */
const INTENT_BYTES_A_LOOK = 256 * 1024;
/** Bytes of the events and states of all intents in one statement, in UTF-8. A larger event comes by itself. */
const BYTES_A_LOOK = 8 * 1024 * 1024;

interface LookRow {
  readonly id: IntentId;
  readonly state: string | null;
  readonly version: number | null;
  readonly type: string | null;
  readonly body: string | null;
  /** Of the intent, at most EVENTS_A_LOOK. */
  readonly found: number;
  /** False where there is no room for the row. */
  readonly kept: boolean;
}

/**
 * Reads many intents in one statement: an intent and its events come from one snapshot, so no event is missing between
 * them. Intents that are not projected are left out. All get their first event before any gets a second one, in the
 * order of `looks`, while there is room: whoever looks again puts those first that got nothing.
 */
export async function lookAtIntents(
  { sql }: Database,
  looks: readonly IntentLook[],
): Promise<ReadonlyMap<IntentId, IntentSeen>> {
  const { rows } = await sql.query<LookRow>({
    name: 'look-at-intents',
    // LATERAL reads the events of each intent by itself: two index probes an intent, whatever number of rows the
    // planner expects. Lengths are known without the texts, so what has no room is never read.
    text: `
      WITH row AS (
        SELECT look.nth, look.id, e.version, e.type, e.body, coalesce(e.found, 0) AS found,
               coalesce(e.place, 1) AS place,
               CASE WHEN i.version > look.known AND coalesce(e.place, 1) = 1 THEN i.state END AS state
          FROM unnest($1::text[], $2::int[], $3::int[]) WITH ORDINALITY AS look (id, known, after, nth)
          JOIN ledger.intents i ON i.id = look.id
          LEFT JOIN LATERAL (
            SELECT * FROM (
              SELECT version, type, body, row_number() OVER (ORDER BY version) AS place,
                     sum(octet_length(body)) OVER (ORDER BY version) AS bytes, count(*) OVER ()::int AS found
                FROM (SELECT version, type, body FROM ledger.intent_events
                       WHERE intent_id = look.id AND version > look.after ORDER BY version LIMIT $4) AS event
            ) AS event WHERE place = 1 OR bytes <= $5) e ON true
      ), sized AS (
        SELECT *, coalesce(octet_length(body), 0) + coalesce(octet_length(state), 0) AS bytes FROM row
      ), summed AS (
        SELECT *, sum(bytes) OVER (ORDER BY place, nth) AS total FROM sized
      ), bounded AS (
        SELECT *, total <= $6 OR total = bytes AS kept FROM summed
      )
      SELECT id, version, type, found, kept,
             CASE WHEN kept THEN body END AS body, CASE WHEN kept THEN state END AS state
        FROM bounded WHERE kept OR place = 1 ORDER BY nth, version`,
    values: [
      looks.map(({ id }) => id),
      looks.map(({ known }) => known),
      looks.map(({ after }) => after),
      EVENTS_A_LOOK,
      INTENT_BYTES_A_LOOK,
      BYTES_A_LOOK,
    ],
  });
  const seen = new Map<IntentId, { intent: PaymentIntent | null; events: StoredEvent[]; more: boolean }>();
  for (const { id, state, version, type, body, found, kept } of rows) {
    let one = seen.get(id);
    if (!one)
      seen.set(id, (one = { intent: state === null ? null : decodeStateOrNull(state), events: [], more: false }));
    if (version !== null && type !== null && body !== null) one.events.push({ version, type, body });
    one.more = !kept || one.events.length < found || found === EVENTS_A_LOOK;
  }
  return seen;
}
