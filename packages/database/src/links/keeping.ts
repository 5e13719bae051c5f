import type { AccountId, IntentId } from '@pf/domain';
import { type Database, inTransaction, isDatabaseUnavailable } from '../postgres/database.ts';
import type { NewDelivery } from '../webhooks/new-deliveries.ts';
import { endLinks, LINK_COLUMNS, linkOf } from './payment-links.ts';

/** An intent of a link that has ended, to be cancelled. */
interface IntentToCancel {
  readonly intentId: IntentId;
  readonly accountId: AccountId;
  readonly livemode: boolean;
}

/**
 * A cancel that was refused, because a transaction was submitted or the intent does not exist yet, is tried again after
 * a quarter of the time since its link ended, within these limits.
 */
const CANCEL_AGAIN_MS = { least: 10_000, most: 60_000 } as const;
/** An intent of which nothing was seen by then was never created: a command is not decided that late. */
const NEVER_CREATED_MS = 60 * 60_000;

/**
 * Takes intents that are to be cancelled, longest due first: they are due again after a while, until their end is read
 * from the log. Several processes may do so at once, each with others.
 */
export async function takeIntentsToCancel(
  { sql }: Pick<Database, 'sql'>,
  now: Date,
  limit: number,
): Promise<readonly IntentToCancel[]> {
  const { rows } = await sql.query<IntentToCancel>({
    name: 'intents-to-cancel',
    text: `UPDATE service.payment_link_intents i
              SET cancel_at = CASE WHEN i.created_at > $3
                                     OR EXISTS (SELECT FROM ledger.intents x WHERE x.id = i.intent_id)
                                   THEN $1::timestamptz + least(greatest(
                                     ($1 - coalesce(l.paid_at, l.cancelled_at, l.expires_at)) / 4,
                                     $4::interval), $5::interval) END
             FROM service.payment_links l
            WHERE l.id = i.link_id AND i.intent_id IN
                  (SELECT intent_id FROM service.payment_link_intents WHERE cancel_at <= $1
                    ORDER BY cancel_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING i.intent_id AS "intentId", l.account_id AS "accountId", l.livemode`,
    values: [
      now,
      limit,
      new Date(now.getTime() - NEVER_CREATED_MS),
      `${CANCEL_AGAIN_MS.least} ms`,
      `${CANCEL_AGAIN_MS.most} ms`,
    ],
  });
  return rows;
}

/** Links whose time has run out. */
export interface ExpiredLinks {
  /** The deliveries that tell of those that have ended. */
  readonly told: readonly NewDelivery[];
  /** Why the others could not be ended, by their ids. */
  readonly failed: ReadonlyMap<string, unknown>;
}

/**
 * Ends links whose time has run out, and tells their accounts. Several processes may do so at once. One that cannot be
 * ended holds up no other.
 * @param except links that are left alone: those that have just failed
 */
export async function expirePaymentLinks(
  database: Database,
  now: Date,
  limit: number,
  except: readonly string[] = [],
): Promise<ExpiredLinks> {
  const { rows } = await database.sql.query<{ id: string }>({
    name: 'links-expiring',
    text: `SELECT id FROM service.payment_links WHERE state = 'open' AND expires_at <= $1 AND id <> ALL($3)
            ORDER BY expires_at LIMIT $2`,
    values: [now, limit, except],
  });
  const due = rows.map(({ id }) => id);
  if (due.length === 0) return { told: [], failed: new Map() };
  try {
    return { told: await expire(database, due, now), failed: new Map() };
  } catch {
    // One of them: each by itself.
    const told: NewDelivery[] = [];
    const failed = new Map<string, unknown>();
    let waited = 0;
    for (const id of due) {
      try {
        told.push(...(await expire(database, [id], now)));
      } catch (error) {
        failed.set(id, error);
        // Two that wait in vain are enough for one run: it may be Postgres, and each takes seconds.
        if (isDatabaseUnavailable(error) && ++waited === 2) break;
      }
    }
    return { told, failed };
  }
}

function expire(database: Database, ids: readonly string[], now: Date): Promise<readonly NewDelivery[]> {
  return inTransaction(database, async (client) => {
    const { rows: due } = await client.query<{ id: string }>({
      name: 'links-to-expire',
      text: `SELECT id FROM service.payment_links WHERE id = ANY($1) AND state = 'open' AND expires_at <= $2
              ORDER BY id FOR UPDATE SKIP LOCKED`,
      values: [ids, now],
    });
    if (due.length === 0) return [];
    const { rows } = await client.query<Parameters<typeof linkOf>[0]>(
      `UPDATE service.payment_links l SET state = 'expired' WHERE l.id = ANY($1) RETURNING ${LINK_COLUMNS}`,
      [due.map(({ id }) => id)],
    );
    return endLinks(client, rows.map(linkOf), 'payment_link.expired', now);
  });
}
