import { paymentLinkEvent } from '@pf/contracts';
import { concernsLink, followPayment, type IntentId, toBeCancelled } from '@pf/domain';
import type pg from 'pg';
import type { DeliverableEvent, News } from '../webhooks/news.ts';
import { LINK_COLUMNS, linkOf, type PaymentLink, shownLink } from './payment-links.ts';

/**
 * Brings payment links up to these events of intents, in the transaction that moves the position in the log. What an
 * ended link has left open is to be cancelled.
 * @returns what the accounts of the links are told
 */
export async function followPayments(
  client: pg.PoolClient,
  events: readonly DeliverableEvent[],
  at: Date,
): Promise<readonly News[]> {
  const concerning = events.filter(({ eventType }) => concernsLink(eventType));
  if (concerning.length === 0) return [];
  const { rows } = await client.query<{ intent_id: string; link_id: string }>({
    name: 'links-of-intents',
    text: 'SELECT intent_id, link_id FROM service.payment_link_intents WHERE intent_id = ANY($1)',
    values: [[...new Set(concerning.map(({ intentId }) => intentId))]],
  });
  if (rows.length === 0) return [];
  const linkOfIntent = new Map(rows.map(({ intent_id, link_id }) => [intent_id, link_id]));
  const links = await lockLinks(client, [...new Set(linkOfIntent.values())]);
  const told: News[] = [];
  for (const event of concerning) {
    const before = links.get(linkOfIntent.get(event.intentId) ?? '');
    const { eventType, intentId, version } = event;
    if (!before || !concernsLink(eventType)) continue;
    const { link, news } = followPayment(
      before,
      { type: eventType, intentId: intentId as IntentId, version },
      at.getTime(),
    );
    links.set(link.id, link);
    if (news === null) continue;
    const { eventId, type, body } = paymentLinkEvent(news, shownLink(link), at, intentId);
    told.push({ ...event, eventId, eventType: type, body });
  }
  await store(client, [...links.values()], at);
  return told;
}

/** In one order, so that two transactions do not wait for each other. */
async function lockLinks(client: pg.PoolClient, ids: readonly string[]): Promise<Map<string, PaymentLink>> {
  await client.query('SELECT FROM service.payment_links WHERE id = ANY($1) ORDER BY id FOR UPDATE', [ids]);
  // Read after the lock was granted: the statement that waits for it would not see the intents that were added.
  const { rows } = await client.query<Parameters<typeof linkOf>[0]>(
    `SELECT ${LINK_COLUMNS} FROM service.payment_links l WHERE l.id = ANY($1)`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, linkOf(row)]));
}

async function store(client: pg.PoolClient, links: readonly PaymentLink[], at: Date): Promise<void> {
  await client.query(
    `UPDATE service.payment_links l SET state = n.state, paid_by = n.paid_by, paid_at = n.paid_at
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS n (id, state, paid_by, paid_at)
      WHERE l.id = n.id`,
    [
      links.map(({ id }) => id),
      links.map(({ state }) => state),
      links.map(({ paidBy }) => paidBy),
      links.map(({ paidAt }) => (paidAt === null ? null : new Date(paidAt))),
    ],
  );
  const intents = links.flatMap((link) => {
    const cancelled = toBeCancelled(link);
    return link.intents.map((intent) => ({ ...intent, cancel: cancelled.includes(intent.intentId) }));
  });
  await client.query(
    `UPDATE service.payment_link_intents i SET version = n.version, paid = n.paid, open = n.open,
            cancel_at = CASE WHEN n.cancel THEN coalesce(i.cancel_at, $6::timestamptz) END
       FROM unnest($1::text[], $2::int[], $3::boolean[], $4::boolean[], $5::boolean[])
         AS n (intent_id, version, paid, open, cancel)
      WHERE i.intent_id = n.intent_id`,
    [
      intents.map(({ intentId }) => intentId),
      intents.map(({ version }) => version),
      intents.map(({ paid }) => paid),
      intents.map(({ open }) => open),
      intents.map(({ cancel }) => cancel),
      at,
    ],
  );
}
