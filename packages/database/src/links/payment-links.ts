import {
  LINK_INTENTS_MAX,
  type Listed,
  newPaymentLinkId,
  type Position,
  paymentLinkEvent,
  type ShownOffer,
  type ShownPaymentLink,
} from '@pf/contracts';
import {
  type AccountId,
  type FollowedLink,
  instantOf,
  type IntentId,
  isoTime,
  type LinkedIntent,
  type Metadata,
} from '@pf/domain';
import type pg from 'pg';
import type { IntentOwner } from '../ledger/intents.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { isCut, withinPage } from '../postgres/page-bytes.ts';
import { insertDeliveries, type NewDelivery } from '../webhooks/new-deliveries.ts';

/** An intent that a payer of a link has begun. */
interface BegunIntent extends LinkedIntent {
  /** The number of the offer, from 0. */
  readonly offer: number;
  readonly createdAt: number;
}

/** Several ways to pay one amount. */
export interface PaymentLink extends FollowedLink {
  readonly id: string;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly amount: string;
  /** That of its intents; null: their reference alone. */
  readonly attribution: 'amount' | null;
  /** That of its intents; null: exactly their amount. */
  readonly accept: 'at_least' | null;
  readonly offers: readonly ShownOffer[];
  readonly ttlSeconds: number;
  readonly metadata: Metadata | null;
  readonly createdAt: number;
  readonly intents: readonly BegunIntent[];
}

type LinkTime = 'createdAt' | 'expiresAt' | 'paidAt' | 'cancelledAt';

/** As Postgres has it. */
type Row = Omit<PaymentLink, LinkTime | 'intents'> & {
  readonly [Time in LinkTime]: null extends PaymentLink[Time] ? Date | null : Date;
} & {
  readonly intents: readonly (Omit<BegunIntent, 'createdAt'> & { readonly createdAt: string })[];
};

/** Of the alias `l`. */
export const LINK_COLUMNS = `l.id, l.account_id AS "accountId", l.livemode, l.amount, l.attribution, l.accept, l.offers,
  l.ttl_seconds AS "ttlSeconds", l.metadata, l.state, l.paid_by AS "paidBy", l.created_at AS "createdAt",
  l.expires_at AS "expiresAt", l.paid_at AS "paidAt", l.cancelled_at AS "cancelledAt",
  coalesce((SELECT json_agg(json_build_object('intentId', i.intent_id, 'offer', i.offer, 'version', i.version,
      'paid', i.paid, 'open', i.open, 'createdAt', i.created_at) ORDER BY i.created_at, i.intent_id)
    FROM service.payment_link_intents i WHERE i.link_id = l.id), '[]') AS intents`;

export const linkOf = ({ createdAt, expiresAt, paidAt, cancelledAt, intents, ...row }: Row): PaymentLink => ({
  ...row,
  createdAt: createdAt.getTime(),
  expiresAt: expiresAt.getTime(),
  paidAt: paidAt?.getTime() ?? null,
  cancelledAt: cancelledAt?.getTime() ?? null,
  intents: intents.map((intent) => ({ ...intent, createdAt: instantOf(intent.createdAt) })),
});

/** A link as the API and webhooks show it. */
export const shownLink = (link: PaymentLink): ShownPaymentLink => ({
  id: link.id,
  amount: link.amount,
  ...(link.attribution && { attribution: link.attribution }),
  ...(link.accept && { accept: link.accept }),
  offers: [...link.offers],
  state: link.state,
  intents: link.intents.map(({ offer, intentId, paid, createdAt }) => ({
    offer,
    intentId,
    paid,
    createdAt: isoTime(createdAt),
  })),
  paidBy: link.paidBy,
  metadata: link.metadata === null ? null : { ...link.metadata },
  ttlSeconds: link.ttlSeconds,
  expiresAt: isoTime(link.expiresAt),
  createdAt: isoTime(link.createdAt),
  paidAt: link.paidAt === null ? null : isoTime(link.paidAt),
  cancelledAt: link.cancelledAt === null ? null : isoTime(link.cancelledAt),
  livemode: link.livemode,
});

interface NewLink extends Pick<PaymentLink, 'amount' | 'offers' | 'ttlSeconds' | 'metadata'> {
  readonly attribution?: PaymentLink['attribution'];
  readonly accept?: PaymentLink['accept'];
}

/** Creates a link, within the caller's transaction. */
export async function createPaymentLink(
  client: pg.PoolClient,
  { accountId, livemode }: IntentOwner,
  { amount, attribution = null, accept = null, offers, ttlSeconds, metadata }: NewLink,
  at: Date,
): Promise<PaymentLink> {
  const { rows } = await client.query<Row>(
    `INSERT INTO service.payment_links AS l
            (id, account_id, livemode, amount, attribution, accept, offers, ttl_seconds, metadata, created_at,
             expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${LINK_COLUMNS}`,
    [
      newPaymentLinkId(),
      accountId,
      livemode,
      amount,
      attribution,
      accept,
      JSON.stringify(offers),
      ttlSeconds,
      metadata && JSON.stringify(metadata),
      at,
      new Date(at.getTime() + ttlSeconds * 1_000),
    ],
  );
  return linkOf(rows[0] as Row);
}

/** Null if the account has no such link in this mode. */
export const findPaymentLink = (
  { sql }: Pick<Database, 'sql'>,
  owner: IntentOwner,
  id: string,
): Promise<PaymentLink | null> => readLink(sql, owner, id);

async function readLink(
  client: pg.Pool | pg.PoolClient,
  { accountId, livemode }: IntentOwner,
  id: string,
): Promise<PaymentLink | null> {
  const { rows } = await client.query<Row>(
    `SELECT ${LINK_COLUMNS} FROM service.payment_links l WHERE l.id = $1 AND l.account_id = $2 AND l.livemode = $3`,
    [id, accountId, livemode],
  );
  return rows[0] ? linkOf(rows[0]) : null;
}

/**
 * The links of an account and mode, newest first; large ones end a page early.
 * @param after where the page before ended
 */
export async function listPaymentLinks(
  { sql }: Pick<Database, 'sql'>,
  { accountId, livemode }: IntentOwner,
  after: Position | null,
  limit: number,
): Promise<Listed<PaymentLink>> {
  const values: unknown[] = [accountId, livemode, limit];
  if (after) values.push(new Date(after.createdAt), after.id);
  const { rows } = await sql.query<Row & { readonly bytes: number; readonly bytes_before: string | null }>(
    withinPage(
      `SELECT ${LINK_COLUMNS}, coalesce(octet_length(l.metadata::text), 0) AS bytes
         FROM service.payment_links l WHERE l.account_id = $1 AND l.livemode = $2
          ${after ? 'AND (l.created_at, l.id) < ($4::timestamptz, $5)' : ''}
        ORDER BY l.created_at DESC, l.id DESC LIMIT $3`,
      'ORDER BY "createdAt" DESC, id DESC',
    ),
    values,
  );
  return { rows: rows.map(({ bytes, bytes_before, ...row }) => linkOf(row)), isCut: isCut(rows, limit) };
}

/** Locks the link until the end of the transaction; null if the account has none with this id in this mode. */
async function lockLink(client: pg.PoolClient, owner: IntentOwner, id: string): Promise<PaymentLink | null> {
  // Read after the lock was granted: the statement that waits for it would not see the intents that were added.
  await client.query('SELECT FROM service.payment_links WHERE id = $1 FOR UPDATE', [id]);
  return readLink(client, owner, id);
}

/** What a payer gets for choosing an offer: the link, and its intent, or why there is none. */
type Choice =
  | { readonly kind: 'begun'; readonly link: PaymentLink; readonly intentId: IntentId; readonly isNew: boolean }
  | { readonly kind: 'ended'; readonly link: PaymentLink }
  | { readonly kind: 'no_such_offer'; readonly link: PaymentLink }
  | { readonly kind: 'too_many'; readonly max: number };

/** Which offer of which link is chosen, and when. */
interface Choosing {
  readonly id: string;
  readonly offer: number;
  readonly at: Date;
}

/**
 * Assigns an intent to an offer, before it is created: whoever asks again gets the same one, until it has ended unpaid.
 * Only where an intent is to be assigned, the link is locked: who asks often does not wait with a connection each.
 * @param newIntentId the id of a new intent
 * @param inTurn runs what locks the link; it may have it wait, or throw
 * @returns null if the account has no such link in this mode
 */
export async function chooseOffer(
  database: Database,
  owner: IntentOwner,
  { newIntentId, ...choosing }: Choosing & { readonly newIntentId: IntentId },
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result> = (work) => work(),
): Promise<Choice | null> {
  const { id, offer, at } = choosing;
  const link = await readLink(database.sql, owner, id);
  if (!link) return null;
  const known = await knownChoice(database.sql, link, choosing);
  if (known) return known;
  return inTurn(() =>
    inTransaction(database, async (client) => {
      const locked = await lockLink(client, owner, id);
      if (!locked) return null;
      const chosen = await knownChoice(client, locked, choosing);
      if (chosen) return chosen;
      await client.query(
        'INSERT INTO service.payment_link_intents (intent_id, link_id, offer, created_at) VALUES ($1, $2, $3, $4)',
        [newIntentId, id, offer, at],
      );
      return { kind: 'begun', link: locked, intentId: newIntentId, isNew: true };
    }),
  );
}

/** Null where an intent is to be assigned. */
async function knownChoice(
  client: pg.Pool | pg.PoolClient,
  link: PaymentLink,
  { offer, at }: Choosing,
): Promise<Choice | null> {
  if (offer >= link.offers.length) return { kind: 'no_such_offer', link };
  const last = link.intents.findLast((intent) => intent.offer === offer);
  if (last && !(await hasEndedUnpaid(client, last.intentId)))
    return { kind: 'begun', link, intentId: last.intentId, isNew: false };
  if (link.state !== 'open' || at.getTime() >= link.expiresAt) return { kind: 'ended', link };
  if (link.intents.length >= LINK_INTENTS_MAX) return { kind: 'too_many', max: LINK_INTENTS_MAX };
  return null;
}

/** As the projection has it, which shows what the payer was told last. */
async function hasEndedUnpaid(client: pg.Pool | pg.PoolClient, intentId: IntentId): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM ledger.intents WHERE id = $1 AND status IN ('failed', 'expired', 'cancelled')`,
    [intentId],
  );
  return rows.length > 0;
}

/** What cancelling a link did. */
interface CancelledLink {
  /** As it is now: only an open link is cancelled. */
  readonly link: PaymentLink;
  readonly deliveries: readonly NewDelivery[];
}

/** Cancels an open link, and tells its account. @returns null if the account has no such link in this mode */
export function cancelPaymentLink(
  database: Database,
  owner: IntentOwner,
  id: string,
  at: Date,
): Promise<CancelledLink | null> {
  return inTransaction(database, async (client) => {
    const link = await lockLink(client, owner, id);
    if (link?.state !== 'open') return link && { link, deliveries: [] };
    const cancelled = { ...link, state: 'cancelled', cancelledAt: at.getTime() } as const;
    await client.query(`UPDATE service.payment_links SET state = 'cancelled', cancelled_at = $2 WHERE id = $1`, [
      id,
      at,
    ]);
    return { link: cancelled, deliveries: await endLinks(client, [cancelled], 'payment_link.cancelled', at) };
  });
}

/** The intents of links that have ended unpaid are to be cancelled, and their accounts are told. */
export async function endLinks(
  client: pg.PoolClient,
  links: readonly PaymentLink[],
  type: 'payment_link.cancelled' | 'payment_link.expired',
  at: Date,
): Promise<readonly NewDelivery[]> {
  await client.query(
    'UPDATE service.payment_link_intents SET cancel_at = $2 WHERE link_id = ANY($1) AND open AND cancel_at IS NULL',
    [links.map(({ id }) => id), at],
  );
  const news = links.map((link) => {
    const { eventId, body } = paymentLinkEvent(type, shownLink(link), at);
    const { accountId, livemode } = link;
    const none = { intentId: null, version: null, traceparent: null, requestId: null };
    return { eventId, eventType: type, body, accountId, livemode, ...none };
  });
  return insertDeliveries(client, news, at);
}
