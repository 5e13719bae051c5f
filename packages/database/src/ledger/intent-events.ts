import type { IntentId, PaymentIntent } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decodeStateOrNull } from './decoding.ts';

/** A public event as it is projected. */
export interface StoredEvent {
  readonly version: number;
  readonly type: string;
  /** The webhook's bytes: UTF-8 of this. */
  readonly body: string;
}

/** An intent's public events above version `after`, oldest first. The caller has checked who owns the intent. */
export async function intentEvents(
  { sql }: Database,
  id: IntentId,
  after: number,
  limit: number,
): Promise<readonly StoredEvent[]> {
  const { rows } = await sql.query<StoredEvent>({
    name: 'intent-events',
    text: `SELECT version, type, body FROM ledger.intent_events WHERE intent_id = $1 AND version > $2
            ORDER BY version LIMIT $3`,
    values: [id, after, limit],
  });
  return rows;
}

/** A query for one intent: its state if its version is above `known`, and its events above version `after`. */
export interface IntentLook {
  readonly id: IntentId;
  readonly known: number;
  readonly after: number;
}
export interface IntentSeen {
  /** Null where the intent is still at `known`, or where its row cannot be decoded. */
  readonly intent: PaymentIntent | null;
  /** Oldest first. */
  readonly events: readonly StoredEvent[];
  /** True if there may be more events than were read: look again after the last one. */
  readonly more: boolean;
}

/** Events of one intent in memory at once. */
const EVENTS_A_LOOK = 100;

interface LookRow {
  readonly id: IntentId;
  readonly state: string | null;
  readonly version: number | null;
  readonly type: string | null;
  readonly body: string | null;
}

/**
 * Reads many intents in one statement: an intent and its events come from one snapshot, so no event is missing between
 * them. Intents that are not projected are left out.
 */
export async function lookAtIntents(
  { sql }: Database,
  looks: readonly IntentLook[],
): Promise<ReadonlyMap<IntentId, IntentSeen>> {
  const { rows } = await sql.query<LookRow>({
    name: 'look-at-intents',
    // LATERAL reads the events of each intent by itself: two index probes an intent, whatever number of rows the
    // planner expects.
    text: `SELECT look.id, e.version, e.type, e.body,
                  CASE WHEN i.version > look.known AND (e.version IS NULL OR e.place = 1) THEN i.state END AS state
             FROM unnest($1::text[], $2::int[], $3::int[]) AS look (id, known, after)
             JOIN ledger.intents i ON i.id = look.id
             LEFT JOIN LATERAL (
               SELECT version, type, body, row_number() OVER (ORDER BY version) AS place FROM ledger.intent_events
                WHERE intent_id = look.id AND version > look.after ORDER BY version LIMIT $4) e ON true
            ORDER BY look.id, e.version`,
    values: [
      looks.map(({ id }) => id),
      looks.map(({ known }) => known),
      looks.map(({ after }) => after),
      EVENTS_A_LOOK,
    ],
  });
  const seen = new Map<IntentId, { intent: PaymentIntent | null; events: StoredEvent[]; more: boolean }>();
  for (const { id, state, version, type, body } of rows) {
    let one = seen.get(id);
    if (!one)
      seen.set(id, (one = { intent: state === null ? null : decodeStateOrNull(state), events: [], more: false }));
    if (version !== null && type !== null && body !== null)
      one.more = one.events.push({ version, type, body }) === EVENTS_A_LOOK;
  }
  return seen;
}
