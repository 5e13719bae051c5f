import { newIntentId, UNDELIVERED_MAX } from '@pf/contracts';
import { addWebhookEndpoint, enableWebhookEndpoint, managedEndpoints, openAccount } from '@pf/database';
import type { AccountId, IntentId } from '@pf/domain';
import { until } from '@pf/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Harness, type Receiver, status } from './harness.ts';

const EVENTS = 20;
/** More than an endpoint has outstanding that fails, and keeps up. */
const OUTSTANDING = 32;
const DAY_MS = 86_400_000;

describe('An endpoint that does not keep up, of an account with too much undelivered', () => {
  let harness: Harness;
  let accountId: AccountId;
  let accepts = false;
  let failing: Receiver;
  let healthy: Receiver;
  beforeAll(async () => {
    harness = await Harness.open();
    await harness.start({ now: Date.now });
    ({ id: accountId } = await openAccount(harness.cluster.database, harness.cluster.secretsKey, { name: 'many' }));
    failing = await harness.receiver(accountId, (_received, response) => {
      response.writeHead(accepts ? 200 : 500).end();
    });
    healthy = await harness.receiver(accountId, status(200));
    await fill(accountId, failing.url, 'failed', UNDELIVERED_MAX - OUTSTANDING);
    await fill(accountId, failing.url, 'pending', OUTSTANDING);
    await harness.cluster.database.sql.query(
      'UPDATE service.webhook_endpoints SET failing_since = now() WHERE account_id = $1 AND url = $2',
      [accountId, failing.url],
    );
  });
  afterAll(() => harness.close());

  const owner = () => ({ accountId, livemode: false });
  const endpointOf = async ({ url }: Pick<Receiver, 'url'>) => {
    const found = (await managedEndpoints(harness.cluster.database, owner())).find((one) => one.url === url);
    if (!found) throw new Error(`no endpoint has the URL ${url}`);
    return found;
  };
  /** Deliveries of events that say all by themselves. */
  const fill = async (of: AccountId, url: string, state: 'failed' | 'pending', count: number): Promise<void> => {
    await harness.cluster.database.sql.query(
      `INSERT INTO service.deliveries (id, endpoint_id, account_id, livemode, event_id, event_type, url, body, status,
                                       failed_at, next_attempt_at)
       SELECT 'whd_' || gen_random_uuid(), id, account_id, false, 'evt_' || gen_random_uuid(),
              'webhook_endpoint.disabled', url, '{}', $2,
              CASE WHEN $2 = 'failed' THEN now() END, CASE WHEN $2 = 'pending' THEN $5::timestamptz END
         FROM service.webhook_endpoints, generate_series(1, $3) n WHERE account_id = $1 AND url = $4`,
      [of, state, count, url, new Date(Date.now() + DAY_MS)],
    );
  };
  const idsAt = ({ received }: Receiver, from: readonly string[]): readonly string[] =>
    received.map(({ headers }) => String(headers['webhook-id'])).filter((id) => from.includes(id));
  const emit = async (of: AccountId, intentId: IntentId, versions: readonly number[]): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (const version of versions) ids.push((await harness.emit(of, { intentId, version })).event.eventId);
    return ids;
  };
  const versions = Array.from({ length: EVENTS }, (_none, index) => index + 1);
  const deliveredTo = async (endpointId: string, eventIds: readonly string[]): Promise<number> =>
    harness.cluster.database.prisma.delivery.count({ where: { endpointId, eventId: { in: [...eventIds] } } });

  it('gets no delivery, while its account and others get theirs, and all it has missed once it accepts', async () => {
    const other = await harness.account(status(200));
    const events = await emit(accountId, newIntentId(0), versions);
    const [ofOther] = await emit(other.account.id, newIntentId(0), [1]);
    await until('all events at the other endpoint', () => idsAt(healthy, events).length === EVENTS);
    await until('the event of the other account', () => other.receiver.received.length === 1);
    expect(idsAt(other.receiver, [ofOther ?? ''])).toHaveLength(1);
    const { id } = await endpointOf(failing);
    expect(await deliveredTo(id, events)).toBe(0);
    expect(await endpointOf(failing)).toMatchObject({ missedSince: expect.any(Date), missedCount: EVENTS });
    expect(await endpointOf(healthy)).toMatchObject({ missedSince: null, missedCount: 0 });

    accepts = true;
    await harness.cluster.database.sql.query(
      'UPDATE service.deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND next_attempt_at IS NOT NULL',
      [id],
    );
    await until('what it has missed', () => idsAt(failing, events).length === EVENTS, 30_000);
    expect(idsAt(failing, events)).toEqual(events);
    expect(await endpointOf(failing)).toMatchObject({ missedSince: null, missedCount: 0 });
    expect((await harness.cluster.database.sql.query('SELECT FROM service.missed_events')).rowCount).toBe(0);
    const [next] = await emit(accountId, newIntentId(0), [1]);
    await until('the next event', () => idsAt(failing, [next ?? '']).length === 1);
  });

  it('gets what it has missed when it is enabled with a replay, and does not without one', async () => {
    const urls = ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'] as const;
    const ids: string[] = [];
    for (const url of urls) {
      const endpoint = await addWebhookEndpoint(harness.cluster.database, { ...owner(), url });
      ids.push(endpoint?.id ?? '');
    }
    await harness.cluster.database.sql.query(
      `UPDATE service.webhook_endpoints SET disabled_at = now(), disabled_by = 'failing' WHERE id = ANY($1)`,
      [ids],
    );
    await fill(accountId, failing.url, 'failed', OUTSTANDING);
    const [event] = await emit(accountId, newIntentId(0), [1]);
    await until('the event at the healthy endpoint', () => idsAt(healthy, [event ?? '']).length === 1);
    for (const url of urls) expect(await endpointOf({ url })).toMatchObject({ missedCount: 1 });
    for (const [index, url] of urls.entries())
      await enableWebhookEndpoint(harness.cluster.database, {
        ...owner(),
        url,
        replay: index === 0,
        at: new Date(),
      });
    const [replayed, skipped] = ids;
    await until('its delivery', async () => (await deliveredTo(replayed ?? '', [event ?? ''])) === 1, 30_000);
    expect(await deliveredTo(skipped ?? '', [event ?? ''])).toBe(0);
    expect(await endpointOf({ url: urls[1] })).toMatchObject({ missedSince: null, missedCount: 0 });
  });

  it('gets everything at once while it accepts, whatever waits to be tried again', async () => {
    await fill(accountId, healthy.url, 'pending', OUTSTANDING);
    const events = await emit(accountId, newIntentId(0), [1, 2]);
    await until('both events', () => idsAt(healthy, events).length === 2);
    expect(await endpointOf(healthy)).toMatchObject({ missedSince: null });
  });

  it('goes on missing events, in their order, until it has all of them', async () => {
    const { sql } = harness.cluster.database;
    const { id } = await endpointOf(failing);
    const intentId = newIntentId(0);
    await fill(accountId, failing.url, 'pending', OUTSTANDING);
    await sql.query('UPDATE service.webhook_endpoints SET paused_at = now(), failing_since = now() WHERE id = $1', [
      id,
    ]);
    const first = await emit(accountId, intentId, [1]);
    await until('the first event at the healthy endpoint', () => idsAt(healthy, first).length === 1);
    await sql.query(
      `UPDATE service.deliveries SET status = 'failed', next_attempt_at = NULL
        WHERE endpoint_id = $1 AND next_attempt_at IS NOT NULL`,
      [id],
    );
    const second = await emit(accountId, intentId, [2]);
    await until('the second event at the healthy endpoint', () => idsAt(healthy, second).length === 1);
    expect(await endpointOf(failing)).toMatchObject({ missedCount: 2 });
    await sql.query('UPDATE service.webhook_endpoints SET paused_at = NULL WHERE id = $1', [id]);
    await until('both', () => idsAt(failing, [...first, ...second]).length === 2, 30_000);
    expect(idsAt(failing, [...first, ...second])).toEqual([...first, ...second]);
  });
});
