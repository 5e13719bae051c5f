import {
  type DisabledReason,
  endpointDisabledEvent,
  ENDPOINTS_MAX,
  UNDELIVERED_MAX,
  newDeliveryId,
  newWebhookEndpointId,
} from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type pg from 'pg';
import { type AuditSource, recordChange, shownUrl } from '../dashboard/audit.ts';
import { advisoryLock } from '../postgres/advisory-lock.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { forAll } from '../postgres/owners.ts';
import { endCatchUp, slowCatchUp } from './catch-ups.ts';

/** Why a URL is disabled: the account removed it, it returned 410 Gone, or nothing was accepted for days. */
export type EndpointDisabledBy = 'account' | DisabledReason;

/** A URL to which the service sends an account's events of one mode. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly url: string;
  readonly createdAt: Date;
  readonly pausedAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledBy: EndpointDisabledBy | null;
  /** The first failed attempt since the last successful one; null if the last one succeeded. */
  readonly failingSince: Date | null;
}

interface Row extends Omit<WebhookEndpoint, 'accountId' | 'disabledBy'> {
  readonly accountId: string;
  readonly disabledBy: string | null;
}

const DISABLED_BY: readonly string[] = ['account', 'gone', 'failing'] satisfies EndpointDisabledBy[];

const fromRow = ({
  id,
  accountId,
  livemode,
  url,
  createdAt,
  pausedAt,
  disabledAt,
  disabledBy,
  failingSince,
}: Row): WebhookEndpoint => ({
  id,
  accountId: accountId as AccountId,
  livemode,
  url,
  createdAt,
  pausedAt,
  disabledAt,
  disabledBy:
    disabledBy === null ? null : DISABLED_BY.includes(disabledBy) ? (disabledBy as EndpointDisabledBy) : 'account',
  failingSince,
});

/** Enabled, or disabled because it failed. */
const NOT_REMOVED = { OR: [{ disabledAt: null }, { disabledBy: { not: 'account' } }] };

/** The account has as many webhook endpoints in this mode as it may have. */
export class EndpointLimitReached extends Error {}

/**
 * Adds a URL, which gets events from now on. If the account has it in this mode already, returns that one, and enables
 * it if it was disabled because it failed.
 * @param by who does; without it, as for tests, the audit log has no entry
 * @returns null if there is no such account
 * @throws EndpointLimitReached
 */
export async function addWebhookEndpoint(
  { prisma }: Database,
  { accountId, livemode, url }: { readonly accountId: string; readonly livemode: boolean; readonly url: string },
  by?: AuditSource,
): Promise<WebhookEndpoint | null> {
  return prisma.$transaction(async (tx) => {
    await tx.$executeRaw(advisoryLock('webhook_endpoints', accountId));
    if ((await tx.account.count({ where: { id: accountId } })) === 0) return null;
    const [known] = await tx.webhookEndpoint.findMany({ where: { accountId, livemode, url, ...NOT_REMOVED } });
    if (!known && (await tx.webhookEndpoint.count({ where: { accountId, livemode, ...NOT_REMOVED } })) >= ENDPOINTS_MAX)
      throw new EndpointLimitReached();
    const enabled = { disabledAt: null, disabledBy: null, failingSince: null };
    if (known && !known.disabledAt) return fromRow(known);
    // It gets what comes from now on: what it has missed is for enableWebhookEndpoint() to give.
    if (known) await tx.$executeRaw`DELETE FROM service.webhook_catch_ups WHERE endpoint_id = ${known.id}`;
    const endpoint = known
      ? await tx.webhookEndpoint.update({ where: { id: known.id }, data: enabled })
      : await tx.webhookEndpoint.create({ data: { id: newWebhookEndpointId(), accountId, livemode, url } });
    if (by) {
      const action = known ? 'endpoint.enabled' : 'endpoint.created';
      const writer = { query: (text: string, values: readonly unknown[]) => tx.$executeRawUnsafe(text, ...values) };
      await recordChange(writer, by, {
        accountId,
        action,
        livemode,
        subject: endpoint.id,
        after: { url: shownUrl(url) },
      });
    }
    return fromRow(endpoint);
  });
}

/** The URLs of an account and mode, oldest first, including disabled ones. */
export async function listWebhookEndpoints(
  { prisma }: Database,
  { accountId, livemode }: { readonly accountId: string; readonly livemode: boolean },
): Promise<readonly WebhookEndpoint[]> {
  return (
    await prisma.webhookEndpoint.findMany({
      where: { accountId, livemode },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    })
  ).map(fromRow);
}

/**
 * Removes a URL; its outstanding deliveries fail.
 * @param by who does; without it, as for tests, the audit log has no entry
 * @returns false if the account has no such URL in this mode
 */
export async function removeWebhookEndpoint(
  database: Database,
  {
    accountId,
    livemode,
    url,
    at,
  }: { readonly accountId: string; readonly livemode: boolean; readonly url: string; readonly at: Date },
  by?: AuditSource,
): Promise<boolean> {
  const known = await database.prisma.webhookEndpoint.findMany({
    where: { accountId, livemode, url, ...NOT_REMOVED },
  });
  for (const { id } of known)
    await inTransaction(database, async (client) => {
      await disableWebhookEndpoint(client, id, 'account', at);
      const change = { accountId, action: 'endpoint.removed', livemode, subject: id } as const;
      if (by) await recordChange(client, by, { ...change, before: { url: shownUrl(url) } });
    });
  return known.length > 0;
}

/** A URL that has stopped to accept anything, or accepts again. */
export interface EndpointHealth {
  readonly endpointId: string;
  /** The first failed attempt since the last successful one; null if the last one succeeded. */
  readonly failingSince: Date | null;
}

/** Remembers since when URLs fail. */
export async function rememberHealth({ sql }: Database, endpoints: readonly EndpointHealth[]): Promise<void> {
  await sql.query(
    `UPDATE service.webhook_endpoints e SET failing_since = health.since
       FROM unnest($1::text[], $2::timestamptz[]) AS health (id, since) WHERE e.id = health.id`,
    [endpoints.map(({ endpointId }) => endpointId), endpoints.map(({ failingSince }) => failingSince)],
  );
}

/**
 * Disables a URL that nothing can be sent to; its outstanding deliveries fail. The account's other URLs of the mode get
 * `webhook_endpoint.disabled`.
 * @returns these others, which have something due now
 */
export function disableFailingEndpoint(
  database: Database,
  { endpointId, by, at }: { readonly endpointId: string; readonly by: DisabledReason; readonly at: Date },
): Promise<readonly string[]> {
  return inTransaction(database, async (client) => {
    const disabled = await disableWebhookEndpoint(client, endpointId, by, at);
    if (!disabled) return [];
    await slowCatchUp(client, endpointId);
    const { accountId, livemode } = disabled;
    const { eventId, type, body } = endpointDisabledEvent({ ...disabled, disabledAt: at, disabledBy: by });
    const { rows } = await client.query<{ id: string; url: string }>(
      `SELECT id, url FROM service.webhook_endpoints
        WHERE account_id = $1 AND livemode = $2 AND disabled_at IS NULL
          AND (event_types IS NULL OR $3 = ANY(event_types)) ORDER BY id FOR SHARE`,
      [accountId, livemode, type],
    );
    await client.query(
      `INSERT INTO service.deliveries
              (id, endpoint_id, url, account_id, livemode, event_id, event_type, body, created_at, next_attempt_at)
       SELECT other.*, $4, $5, $6, $7, $8, $9::timestamptz, $9::timestamptz
         FROM unnest($1::text[], $2::text[], $3::text[]) AS other`,
      [
        rows.map(() => newDeliveryId()),
        rows.map(({ id }) => id),
        rows.map(({ url }) => url),
        accountId,
        livemode,
        eventId,
        type,
        body,
        at,
      ],
    );
    return rows.map(({ id }) => id);
  });
}

/**
 * Disables a URL within the caller's transaction; its outstanding deliveries fail. It locks the endpoint's row first,
 * as insertDeliveries() does, so no delivery is added meanwhile.
 * @returns null if it was disabled already
 */
export async function disableWebhookEndpoint(
  client: pg.PoolClient,
  endpointId: string,
  by: EndpointDisabledBy,
  at: Date,
): Promise<{
  readonly id: string;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly url: string;
  readonly failingSince: Date | null;
} | null> {
  const { rows } = await client.query<{
    id: string;
    accountId: string;
    livemode: boolean;
    url: string;
    failingSince: Date | null;
  }>(
    `UPDATE service.webhook_endpoints SET disabled_at = $2, disabled_by = $3
      WHERE id = $1 AND (disabled_at IS NULL OR ($3 = 'account' AND disabled_by <> 'account'))
     RETURNING id, account_id AS "accountId", livemode, url, failing_since AS "failingSince"`,
    [endpointId, at, by],
  );
  await client.query(
    `UPDATE service.deliveries SET status = 'failed', failed_at = $2, next_attempt_at = NULL, error = $3
      WHERE id IN (SELECT id FROM service.deliveries WHERE endpoint_id = $1 AND next_attempt_at IS NOT NULL
                    ORDER BY id FOR UPDATE)`,
    [endpointId, at, ENDED_BECAUSE[by]],
  );
  return rows[0] ?? null;
}

/** Why deliveries ended without a further attempt, in words for the account. */
export const ENDED_BECAUSE: Readonly<Record<EndpointDisabledBy, string>> = {
  account: 'The URL was removed.',
  gone: 'The URL was disabled: it returned 410 Gone.',
  failing: 'The URL was disabled: it had accepted nothing for days.',
};

/** Rows of one statement: it takes a fraction of a second. */
const REPLAYED_AT_ONCE = 1_000;

/**
 * Enables a URL that was disabled because it failed, and, if asked to, makes due again what it has missed since it
 * began to fail: the deliveries that failed, and those of the events that came while it was disabled. Events of which
 * it has no delivery, as its account has too much undelivered, then follow by themselves; without a replay they do not.
 * @param by who does, if that is to be in the audit log
 * @returns its id, and how many deliveries are due again; null if the account has no such URL in this mode that failed
 */
export async function enableWebhookEndpoint(
  database: Database,
  {
    accountId,
    livemode,
    url,
    replay,
    at,
  }: {
    readonly accountId: string;
    readonly livemode: boolean;
    readonly url: string;
    readonly replay: boolean;
    readonly at: Date;
  },
  by?: AuditSource,
): Promise<{ readonly endpointId: string; readonly replayed: number } | null> {
  const enabled = await inTransaction(database, async (client) => {
    const { rows } = await client.query<{ id: string; since: Date }>(
      `UPDATE service.webhook_endpoints e SET disabled_at = NULL, disabled_by = NULL, failing_since = NULL
         FROM (SELECT id, least(failing_since, disabled_at) AS since FROM service.webhook_endpoints
                WHERE account_id = $1 AND livemode = $2 AND url = $3 AND disabled_by <> 'account'
                ORDER BY disabled_at DESC LIMIT 1 FOR UPDATE) failed
        WHERE e.id = failed.id RETURNING e.id, failed.since`,
      [accountId, livemode, url],
    );
    const [row] = rows;
    if (row && !replay) await endCatchUp(client, row.id);
    if (row && by) {
      const change = { accountId, action: 'endpoint.enabled', livemode, subject: row.id } as const;
      await recordChange(client, by, { ...change, after: { url: shownUrl(url), replay } });
    }
    return row;
  });
  if (!enabled) return null;
  if (!replay) return { endpointId: enabled.id, replayed: 0 };
  // What has begun ends, in no turn: who is refused between two pages could not ask for the others again.
  const replayed = await forAll(() => sendFailedAgain(database, { accountId, livemode, ...enabled }, at));
  return { endpointId: enabled.id, replayed };
}

/** @param since when what is sent again has failed, or later. @returns how many are */
async function sendFailedAgain(
  { sql }: Database,
  {
    accountId,
    livemode,
    id,
    since,
  }: { readonly accountId: string; readonly livemode: boolean; readonly id: string; readonly since: Date },
  at: Date,
): Promise<number> {
  for (let replayed = 0; ;) {
    const { rowCount } = await sql.query(
      // Due a millisecond after each other, so that they are sent in the order of their events, and before what the
      // endpoint has no deliveries of.
      `UPDATE service.deliveries d SET status = 'pending', failed_at = NULL,
              next_attempt_at = $5::timestamptz + (failed.place - ${UNDELIVERED_MAX}) * interval '1 ms'
         FROM (SELECT id, $7 + row_number() OVER (ORDER BY created_at, version, id) AS place FROM (
                 SELECT id, created_at, version FROM service.deliveries
                  WHERE account_id = $1 AND livemode = $2 AND status = 'failed' AND endpoint_id = $3
                    AND failed_at >= $4 ORDER BY created_at, version, id LIMIT $6 FOR UPDATE) page) failed
        WHERE d.id = failed.id`,
      [accountId, livemode, id, since, at, REPLAYED_AT_ONCE, replayed],
    );
    replayed += rowCount ?? 0;
    if (rowCount !== REPLAYED_AT_ONCE) return replayed;
  }
}
