import { newWebhookEndpointId } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type pg from 'pg';
import { type Database, inTransaction } from '../postgres/database.ts';

/** Why a URL is disabled: the account removed it, or it returned 410 Gone. */
export type EndpointDisabledBy = 'account' | 'gone';

/** A URL to which the service sends an account's events of one mode. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly url: string;
  readonly createdAt: Date;
  readonly disabledAt: Date | null;
  readonly disabledBy: EndpointDisabledBy | null;
}

interface Row extends Omit<WebhookEndpoint, 'accountId' | 'disabledBy'> {
  readonly accountId: string;
  readonly disabledBy: string | null;
}

const fromRow = ({ id, accountId, livemode, url, createdAt, disabledAt, disabledBy }: Row): WebhookEndpoint => ({
  id,
  accountId: accountId as AccountId,
  livemode,
  url,
  createdAt,
  disabledAt,
  disabledBy: disabledBy === null ? null : disabledBy === 'gone' ? 'gone' : 'account',
});

/**
 * Adds a URL, which gets events from now on. If the account has it in this mode already, returns that one.
 * @returns null if there is no such account
 */
export async function addWebhookEndpoint(
  { prisma }: Database,
  { accountId, livemode, url }: { readonly accountId: string; readonly livemode: boolean; readonly url: string },
): Promise<WebhookEndpoint | null> {
  return prisma.$transaction(async (tx) => {
    // The lock of the account's row serializes concurrent calls: the second finds what the first has added.
    const accounts = await tx.$queryRaw<
      unknown[]
    >`SELECT id FROM service.accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
    if (accounts.length === 0) return null;
    const known = await tx.webhookEndpoint.findFirst({ where: { accountId, livemode, url, disabledAt: null } });
    return fromRow(
      known ?? (await tx.webhookEndpoint.create({ data: { id: newWebhookEndpointId(), accountId, livemode, url } })),
    );
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
): Promise<boolean> {
  const known = await database.prisma.webhookEndpoint.findMany({
    where: { accountId, livemode, url, disabledAt: null },
  });
  for (const { id } of known)
    await inTransaction(database, (client) => disableWebhookEndpoint(client, id, 'account', at));
  return known.length > 0;
}

/**
 * Disables a URL within the caller's transaction; its outstanding deliveries fail. It locks the endpoint's row first,
 * as insertDeliveries() does, so no delivery is added meanwhile.
 */
export async function disableWebhookEndpoint(
  client: pg.PoolClient,
  endpointId: string,
  by: EndpointDisabledBy,
  at: Date,
): Promise<void> {
  await client.query(
    'UPDATE service.webhook_endpoints SET disabled_at = $2, disabled_by = $3 WHERE id = $1 AND disabled_at IS NULL',
    [endpointId, at, by],
  );
  await client.query(
    `UPDATE service.deliveries SET status = 'failed', failed_at = $2, next_attempt_at = NULL, error = $3
      WHERE endpoint_id = $1 AND next_attempt_at IS NOT NULL`,
    [endpointId, at, by === 'gone' ? 'The URL was disabled: it returned 410 Gone.' : 'The URL was removed.'],
  );
}
