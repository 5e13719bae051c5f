import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { API_VERSIONS, DELIVERY_DAYS } from '@pf/contracts';
import type { AccountId } from '@pf/domain';
import { openRoleLogins } from '@pf/testing';
import {
  acquireLanes,
  addWebhookEndpoint,
  createManagedEndpoint,
  type Database,
  disableFailingEndpoint,
  forgetDeliveries,
  forgetRemovedEndpoints,
  grantRights,
  inTransaction,
  openAccount,
  openDatabase,
  recordDeliveries,
  removeManagedEndpoint,
  webhookPositions,
} from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { deliverableEvent } from './deliverable-event.ts';

const REMOVED = 2_000;
const DELIVERIES = 5_000;
const PARTITION = 7;
const DAY_MS = 86_400_000;
const SECRETS_KEY = randomBytes(32);
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

describe('A removed webhook URL', () => {
  let own: OwnDatabase;
  let service: Database;
  let filling: Database;
  let accountId: AccountId;
  let usedId: string;
  const owner = () => ({ accountId, livemode: false });
  beforeAll(async () => {
    own = await createOwnDatabase();
    await grantRights(own.url);
    const logins = await openRoleLogins(own.url);
    // One connection each, whose statistics can be asked for.
    service = openDatabase({ url: logins?.pf_webhook ?? '', applicationName: 'webhook', maxConnections: 1 });
    filling = openDatabase({ url: own.url, applicationName: 'filling', maxConnections: 1 });
    ({ id: accountId } = await openAccount(own.database, SECRETS_KEY, { name: 'removed' }));
    usedId = (await addWebhookEndpoint(own.database, { ...owner(), url: 'https://shop.example/hooks' }))?.id ?? '';
    await webhookPositions(own.database, [PARTITION]);
    await filling.sql.query(
      `INSERT INTO service.webhook_endpoints (id, account_id, livemode, url, disabled_at, disabled_by)
       SELECT 'whe_' || n, $1, false, 'https://shop.example/' || n, now() - interval '40 days', 'account'
         FROM generate_series(1, ${REMOVED}) n`,
      [accountId],
    );
    await filling.sql.query(
      `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status)
       SELECT 'whd_' || n, $1, $2, false, 'evt_' || n, 'intent.created', 'https://shop.example/hooks', 'delivered'
         FROM generate_series(1, ${DELIVERIES}) n`,
      [usedId, accountId],
    );
    await filling.sql.query('ANALYZE service.webhook_endpoints, service.deliveries');
  });
  afterAll(async () => {
    await Promise.all([service.close(), filling.close()]);
    await own.close();
  });

  async function statistics<Row extends object>(query: string): Promise<readonly Row[]> {
    for (const { sql } of [filling, service]) await sql.query('SELECT pg_stat_force_next_flush()');
    return (await filling.sql.query<Row>(query)).rows;
  }
  const urlsRead = async (): Promise<number> => {
    const [row] = await statistics<{ read: number }>(
      `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables WHERE relname = 'webhook_endpoints'`,
    );
    return row?.read ?? NaN;
  };
  const record = (from: bigint) =>
    recordDeliveries(
      service,
      [{ partition: PARTITION, from, next: from + 1n, events: [deliverableEvent(owner())] }],
      new Date(),
    );
  /** A URL with a secret and a lane, that was removed so many days ago. */
  const removed = async (days: number, { delivered = false } = {}): Promise<string> => {
    const url = `https://${randomBytes(6).toString('hex')}.example`;
    const created = await inTransaction(own.database, (client) =>
      createManagedEndpoint(client, SECRETS_KEY, owner(), {
        url,
        name: null,
        eventTypes: null,
        apiVersion: API_VERSIONS[0],
        at: daysAgo(days),
      }),
    );
    if (created.kind !== 'created') throw new Error(created.kind);
    const { id } = created.endpoint;
    await acquireLanes(service, [id], { holder: 'me', now: daysAgo(days), until: daysAgo(days) });
    if (delivered)
      await filling.sql.query(
        `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, status)
         VALUES ('whd_' || $1, $1, $2, false, 'evt_' || $1, 'intent.created', $3, 'delivered')`,
        [id, accountId, url],
      );
    await removeManagedEndpoint(own.database, id, daysAgo(days));
    return id;
  };
  const has = async (table: string, column: string, id: string): Promise<boolean> =>
    (await own.database.sql.query(`SELECT FROM service.${table} WHERE ${column} = $1`, [id])).rowCount !== 0;
  const isKnown = (id: string): Promise<boolean> => has('webhook_endpoints', 'id', id);

  it('is not read for the events of its account', async () => {
    const before = await urlsRead();
    expect((await record(0n)).due).toMatchObject([{ endpointId: usedId }]);
    expect((await urlsRead()) - before).toBeLessThan(10);
  });

  it('is deleted a batch at a time, and no delivery of another is read for it', async () => {
    const scans = () =>
      statistics<{ name: string; scans: number }>(
        `SELECT indexrelname AS name, idx_scan::int AS scans FROM pg_stat_user_indexes WHERE relname = 'deliveries'
          ORDER BY indexrelname`,
      );
    const before = new Map((await scans()).map(({ name, scans: count }) => [name, count]));
    expect(await forgetRemovedEndpoints(service, REMOVED - 500)).toBe(REMOVED - 500);
    expect(await forgetRemovedEndpoints(service, REMOVED)).toBe(500);
    const used = (await scans()).filter(({ name, scans: count }) => count > (before.get(name) ?? 0));
    expect(used.map(({ name }) => name)).toEqual(['deliveries_by_endpoint']);
  });

  it('is deleted with its secrets and its lane, once its last delivery is gone and could not come back', async () => {
    const gone = await removed(DELIVERY_DAYS + 2);
    const delivered = await removed(DELIVERY_DAYS + 2, { delivered: true });
    const young = await removed(DELIVERY_DAYS);
    expect(await forgetRemovedEndpoints(service, 10)).toBe(1);
    expect(await Promise.all([gone, delivered, young, usedId].map(isKnown))).toEqual([false, true, true, true]);
    expect(await has('webhook_secrets', 'endpoint_id', gone)).toBe(false);
    expect(await has('webhook_lanes', 'endpoint_id', gone)).toBe(false);
    expect(await has('webhook_secrets', 'endpoint_id', young)).toBe(true);
    const later = daysAgo(-1);
    await forgetDeliveries(service, { createdBefore: later, endedBefore: later }, DELIVERIES * 2);
    expect(await forgetRemovedEndpoints(service, 10)).toBe(1);
    expect(await Promise.all([delivered, young, usedId].map(isKnown))).toEqual([false, true, true]);
  });

  it('is not one that is disabled because it failed, however long ago', async () => {
    const url = 'https://failing.example';
    const { id = '' } = (await addWebhookEndpoint(own.database, { ...owner(), url })) ?? {};
    await disableFailingEndpoint(own.database, { endpointId: id, by: 'gone', at: daysAgo(400) });
    await forgetRemovedEndpoints(service, 10);
    expect(await isKnown(id)).toBe(true);
  });
});
