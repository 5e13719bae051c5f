import type { AccountId, IntentId } from '@pf/domain';
import { type Database, inTransaction } from '../postgres/database.ts';
import type { NewDelivery } from '../webhooks/new-deliveries.ts';
import { endLinks, LINK_COLUMNS, linkOf } from './payment-links.ts';

/** An intent of a link that has ended, to be cancelled. */
interface IntentToCancel {
  readonly intentId: IntentId;
  readonly accountId: AccountId;
  readonly livemode: boolean;
}

/** A cancel that was refused, because a transaction was submitted or the intent does not exist yet, is tried again. */
const CANCEL_AGAIN_MS = 10_000;
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
                                   THEN $4::timestamptz END
             FROM service.payment_links l
            WHERE l.id = i.link_id AND i.intent_id IN
                  (SELECT intent_id FROM service.payment_link_intents WHERE cancel_at <= $1
                    ORDER BY cancel_at LIMIT $2 FOR UPDATE SKIP LOCKED)
        RETURNING i.intent_id AS "intentId", l.account_id AS "accountId", l.livemode`,
    values: [now, limit, new Date(now.getTime() - NEVER_CREATED_MS), new Date(now.getTime() + CANCEL_AGAIN_MS)],
  });
  return rows;
}

/** Ends links whose time has run out, and tells their accounts. Several processes may do so at once. */
export function expirePaymentLinks(database: Database, now: Date, limit: number): Promise<readonly NewDelivery[]> {
  return inTransaction(database, async (client) => {
    const { rows: due } = await client.query<{ id: string }>({
      name: 'links-expiring',
      text: `SELECT id FROM service.payment_links WHERE state = 'open' AND expires_at <= $1
              ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
      values: [now, limit],
    });
    if (due.length === 0) return [];
    const { rows } = await client.query<Parameters<typeof linkOf>[0]>(
      `UPDATE service.payment_links l SET state = 'expired' WHERE l.id = ANY($1) RETURNING ${LINK_COLUMNS}`,
      [due.map(({ id }) => id)],
    );
    return endLinks(client, rows.map(linkOf), 'payment_link.expired', now);
  });
}
