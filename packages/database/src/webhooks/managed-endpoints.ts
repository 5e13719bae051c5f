import { endpointTestEvent, ENDPOINTS_MAX, newDeliveryId, newWebhookEndpointId, UNDELIVERED_MAX } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import type pg from 'pg';
import { advisoryLock } from '../postgres/advisory-lock.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { disableWebhookEndpoint, type EndpointDisabledBy } from './endpoints.ts';
import type { Keyring } from './keyring.ts';
import { ATTEMPTS_KEPT } from './sending.ts';
import { insertWebhookSecret, newWebhookSecret } from './secrets.ts';

/** An account and mode. */
interface Owner {
  readonly accountId: AccountId;
  readonly livemode: boolean;
}

/** A URL as its account manages it; one that the account has removed is none. */
export interface ManagedEndpoint {
  readonly id: string;
  readonly livemode: boolean;
  readonly url: string;
  readonly name: string | null;
  /** Null: all. */
  readonly eventTypes: readonly string[] | null;
  readonly apiVersion: string;
  readonly createdAt: Date;
  readonly pausedAt: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledBy: Exclude<EndpointDisabledBy, 'account'> | null;
  readonly failingSince: Date | null;
  /** Since when events have no delivery to it yet, because its account has too much undelivered; null: all have. */
  readonly missedSince: Date | null;
  /** How many of its account's events that are, up to UNDELIVERED_MAX. */
  readonly missedCount: number;
}

const COLUMNS =
  'id, livemode, url, name, event_types AS "eventTypes", api_version AS "apiVersion", created_at AS "createdAt", ' +
  'paused_at AS "pausedAt", disabled_at AS "disabledAt", disabled_by AS "disabledBy", ' +
  'failing_since AS "failingSince", ' +
  '(SELECT since FROM service.webhook_catch_ups WHERE endpoint_id = webhook_endpoints.id) AS "missedSince", ' +
  `(SELECT count(*)::int FROM (
      SELECT FROM service.webhook_catch_ups c JOIN service.missed_events m USING (account_id, livemode)
       WHERE c.endpoint_id = webhook_endpoints.id AND m.seq >= c.next_seq LIMIT ${UNDELIVERED_MAX}) missed)
    AS "missedCount"`;
const OWN = `account_id = $1 AND livemode = $2 AND (disabled_at IS NULL OR disabled_by <> 'account')`;

export type CreatedEndpoint =
  | { readonly kind: 'created'; readonly endpoint: ManagedEndpoint; readonly secret: string }
  | { readonly kind: 'exists'; readonly endpointId: string }
  | { readonly kind: 'too_many' };

/** Creates an endpoint with a secret of its own, within the caller's transaction. */
export async function createManagedEndpoint(
  client: pg.PoolClient,
  keyring: Keyring,
  { accountId, livemode }: Owner,
  {
    url,
    name,
    eventTypes,
    apiVersion,
    at,
  }: Pick<ManagedEndpoint, 'url' | 'name' | 'eventTypes'> & { readonly apiVersion: string; readonly at: Date },
): Promise<CreatedEndpoint> {
  await client.query(advisoryLock('webhook_endpoints', accountId));
  const known = await endpointsOf(client, accountId, livemode);
  const same = known.find((one) => one.url === url);
  if (same) return { kind: 'exists', endpointId: same.id };
  if (known.length >= ENDPOINTS_MAX) return { kind: 'too_many' };
  const id = newWebhookEndpointId();
  const { rows } = await client.query<ManagedEndpoint>(
    `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url, name, event_types, api_version, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${COLUMNS}`,
    [id, accountId, livemode, url, name, eventTypes, apiVersion, at],
  );
  const secret = newWebhookSecret();
  await insertWebhookSecret(client, keyring, { accountId, livemode, endpointId: id }, { secret, validFrom: at });
  return { kind: 'created', endpoint: rows[0] as ManagedEndpoint, secret };
}

async function endpointsOf(
  client: Pick<pg.PoolClient, 'query'>,
  accountId: string,
  livemode: boolean,
): Promise<readonly ManagedEndpoint[]> {
  const { rows } = await client.query<ManagedEndpoint>(
    `SELECT ${COLUMNS} FROM service.webhook_endpoints WHERE ${OWN} ORDER BY created_at, id`,
    [accountId, livemode],
  );
  return rows;
}

/** The endpoints of an account and mode, oldest first. */
export const managedEndpoints = ({ sql }: Database, { accountId, livemode }: Owner) =>
  endpointsOf(sql, accountId, livemode);

/** Null if the account has no such endpoint in this mode. */
export async function managedEndpoint(
  { sql }: Database,
  { accountId, livemode }: Owner,
  id: string,
): Promise<ManagedEndpoint | null> {
  const { rows } = await sql.query<ManagedEndpoint>(
    `SELECT ${COLUMNS} FROM service.webhook_endpoints WHERE ${OWN} AND id = $3`,
    [accountId, livemode, id],
  );
  return rows[0] ?? null;
}

/** Whether the account has, or had, this endpoint in this mode. */
export async function everHadEndpoint({ sql }: Database, { accountId, livemode }: Owner, id: string): Promise<boolean> {
  const { rowCount } = await sql.query(
    'SELECT FROM service.webhook_endpoints WHERE account_id = $1 AND livemode = $2 AND id = $3',
    [accountId, livemode, id],
  );
  return rowCount === 1;
}

/** Fields that are undefined stay as they are. */
export interface EndpointChange {
  readonly name?: string | null | undefined;
  readonly eventTypes?: readonly string[] | null | undefined;
  readonly apiVersion?: string | undefined;
  readonly paused?: boolean | undefined;
}

/** @returns null if the account has no such endpoint in this mode */
export async function updateManagedEndpoint(
  { sql }: Database,
  { accountId, livemode }: Owner,
  id: string,
  { name, eventTypes, apiVersion, paused }: EndpointChange,
  at: Date,
): Promise<ManagedEndpoint | null> {
  const values: unknown[] = [accountId, livemode, id];
  const set = (column: string, value: unknown): string => `${column} = $${values.push(value)}`;
  const changes = [
    ...(name === undefined ? [] : [set('name', name)]),
    ...(eventTypes === undefined ? [] : [set('event_types', eventTypes)]),
    ...(apiVersion === undefined ? [] : [set('api_version', apiVersion)]),
    ...(paused === undefined
      ? []
      : paused
        ? [`paused_at = coalesce(paused_at, $${values.push(at)})`]
        : [
            `resumed_at = CASE WHEN paused_at IS NULL THEN resumed_at ELSE $${values.push(at)} END`,
            'paused_at = NULL',
          ]),
  ];
  if (changes.length === 0) changes.push('url = url');
  const { rows } = await sql.query<ManagedEndpoint>(
    `UPDATE service.webhook_endpoints SET ${changes.join(', ')} WHERE ${OWN} AND id = $3 RETURNING ${COLUMNS}`,
    values,
  );
  return rows[0] ?? null;
}

/** Removes an endpoint; its outstanding deliveries fail. */
export function removeManagedEndpoint(database: Database, id: string, at: Date): Promise<unknown> {
  return inTransaction(database, (client) => disableWebhookEndpoint(client, id, 'account', at));
}

/** Adds the delivery of a test event, due now. */
export async function addTestDelivery(
  { sql }: Database,
  { accountId, livemode }: Owner,
  endpoint: Pick<ManagedEndpoint, 'id' | 'url'>,
  at: Date,
): Promise<{ readonly deliveryId: string; readonly eventId: string }> {
  const deliveryId = newDeliveryId();
  const { eventId, type, body } = endpointTestEvent(endpoint, { livemode, at });
  await sql.query(
    `INSERT INTO service.deliveries
            (id, endpoint_id, url, account_id, livemode, event_id, event_type, body, created_at, next_attempt_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
    [deliveryId, endpoint.id, endpoint.url, accountId, livemode, eventId, type, body, at],
  );
  return { deliveryId, eventId };
}

/** An attempt that was made, as its account sees it. */
export interface ListedAttempt {
  readonly number: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly reason: string | null;
  readonly responseBody: string | null;
}

export interface ListedAttempts {
  readonly attempts: readonly ListedAttempt[];
  readonly nextAttemptAt: Date | null;
  /** The bytes that each attempt sends; null until the projection has the event. */
  readonly requestBody: string | null;
}

/**
 * The attempts of a delivery, oldest first, what they send, and when the next one is due.
 * @returns null if the account has no such delivery in this mode
 */
export async function deliveryAttempts(
  { sql }: Database,
  { accountId, livemode }: Owner,
  deliveryId: string,
): Promise<ListedAttempts | null> {
  const {
    rows: [delivery],
  } = await sql.query<Omit<ListedAttempts, 'attempts'>>(
    `SELECT d.next_attempt_at AS "nextAttemptAt", coalesce(d.body, e.body) AS "requestBody"
       FROM service.deliveries d
       LEFT JOIN ledger.intent_events e ON e.intent_id = d.intent_id AND e.version = d.version
      WHERE d.id = $1 AND d.account_id = $2 AND d.livemode = $3`,
    [deliveryId, accountId, livemode],
  );
  if (!delivery) return null;
  const { rows } = await sql.query<ListedAttempt>(
    `SELECT number, at, duration_ms AS "durationMs", response_status AS "responseStatus", reason,
            response_start AS "responseBody"
       FROM service.delivery_attempts WHERE delivery_id = $1 ORDER BY number DESC LIMIT $2`,
    [deliveryId, ATTEMPTS_KEPT],
  );
  return { ...delivery, attempts: rows.toReversed() };
}
