import type { DeliveryStatus, Position } from '@pf/contracts';
import type { Database } from '../postgres/database.ts';
import type { IntentOwner } from '../ledger/intents.ts';

/** A delivery as its account sees it. */
export interface ListedDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  /** Null for an event of no intent. */
  readonly intentId: string | null;
  readonly url: string;
  /** Of the last attempt; null if there was no HTTP response. */
  readonly responseStatus: number | null;
  readonly attemptCount: number;
  readonly createdAt: Date;
  readonly lastAttemptedAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly failedAt: Date | null;
  readonly nextAttemptAt: Date | null;
}

export interface DeliveryFilters {
  readonly intentId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: DeliveryStatus | undefined;
}

const COLUMN_OF: Readonly<Record<keyof DeliveryFilters, string>> = {
  intentId: 'intent_id',
  eventId: 'event_id',
  type: 'event_type',
  status: 'status',
};

/** The columns of a ListedDelivery, named as its properties. */
export const LISTED_COLUMNS =
  // The events of deposits are found by their ids in the place of an intent's.
  'id, event_id AS "eventId", event_type AS "type", ' +
  `CASE WHEN intent_id LIKE 'pi%' THEN intent_id END AS "intentId", url, ` +
  'response_status AS "responseStatus", attempt_count AS "attemptCount", ' +
  'created_at AS "createdAt", last_attempted_at AS "lastAttemptedAt", delivered_at AS "deliveredAt", ' +
  'failed_at AS "failedAt", next_attempt_at AS "nextAttemptAt"';

/** The statement of listDeliveries. Each filter has an index in the list's order, so no rows are sorted. */
export function deliveriesStatement(
  { accountId, livemode }: IntentOwner,
  filters: DeliveryFilters,
  after: Position | null,
  limit: number,
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [accountId, livemode];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['account_id = $1', 'livemode = $2'];
  for (const [name, column] of Object.entries(COLUMN_OF)) {
    const value = filters[name as keyof DeliveryFilters];
    if (value !== undefined) conditions.push(`${column} = ${parameter(value)}`);
  }
  if (after)
    conditions.push(
      `(created_at, id) < (${parameter(new Date(after.createdAt))}::timestamptz, ${parameter(after.id)})`,
    );
  return {
    text: `SELECT ${LISTED_COLUMNS} FROM service.deliveries WHERE ${conditions.join(' AND ')}
            ORDER BY created_at DESC, id DESC LIMIT ${parameter(limit)}`,
    values,
  };
}

/**
 * The deliveries of an account and mode that match all filters, newest first.
 * @param after where the page before ended; null: begins with the newest
 */
export async function listDeliveries(
  { sql }: Database,
  owner: IntentOwner,
  filters: DeliveryFilters,
  after: Position | null,
  limit: number,
): Promise<readonly ListedDelivery[]> {
  return (await sql.query<ListedDelivery>(deliveriesStatement(owner, filters, after, limit))).rows;
}
