import { randomBytes } from 'node:crypto';
import { startNameServer, until } from '@pf/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import { createLogger } from '@pf/runtime';
import { Harness, status } from './harness.ts';

const DAY = 24 * 3_600_000;

describe('A fault', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.open();
  });
  afterEach(() => harness.close());

  it('uses up no attempt where a secret cannot be read, and raises an alarm', async () => {
    const alarms: string[] = [];
    const log = createLogger('webhook', 'silent');
    log.error = (fields: unknown) => alarms.push((fields as { alarm?: string }).alarm ?? '');
    const { account, receiver } = await harness.account(status(200));
    const wrong = await harness.start({ secretsKey: randomBytes(32), log });
    await harness.emit(account.id);
    await until('the alarm', () => alarms.includes('unreadable_secret'));
    harness.clock += 120_000;
    await wrong.sweep();
    await until('another', () => alarms.length > 1);
    expect(await harness.deliveries(account.id)).toMatchObject([{ status: 'pending', attemptCount: 0, error: null }]);
    await wrong.stop();

    await (await harness.start()).sweep();
    await until('it to arrive', () => receiver.received.length === 1);
    expect(receiver.received[0]?.headers['x-pf-attempt']).toBe('1');
  });

  it('uses up no attempt while the egress proxy is unavailable', async () => {
    const { account, receiver } = await harness.account(status(200));
    const service = await harness.start({ egress: { allowPrivate: true, proxy: new URL('http://127.0.0.1:1/') } });
    await harness.emit(account.id);
    await until('it to be recorded', async () => (await harness.deliveries(account.id)).length === 1);
    harness.clock += 120_000;
    await service.sweep();
    await service.stop();
    expect(await harness.deliveries(account.id)).toMatchObject([{ status: 'pending', attemptCount: 0, error: null }]);
    await (await harness.start()).sweep();
    await until('it to arrive', () => receiver.received.length === 1);
  });

  it('uses up no attempt where the API version of the endpoint is one of newer code', async () => {
    const warnings: string[] = [];
    const log = createLogger('webhook', 'silent');
    log.warn = (fields: unknown) => warnings.push(String((fields as { err?: Error }).err?.message));
    const { account, receiver } = await harness.account(status(200));
    const setVersion = (version: string) =>
      harness.cluster.database.sql.query(
        'UPDATE service.webhook_endpoints SET api_version = $2 WHERE account_id = $1',
        [account.id, version],
      );
    await setVersion('2099-01-01');
    const older = await harness.start({ log });
    await harness.emit(account.id);
    await until('it to be refused', () => warnings.some((message) => message.includes('2099-01-01')));
    await older.stop();
    expect(receiver.received).toEqual([]);
    expect(await harness.deliveries(account.id)).toMatchObject([{ status: 'pending', attemptCount: 0, error: null }]);

    await setVersion('2026-11-21');
    await (await harness.start()).sweep();
    await until('it to arrive', () => receiver.received.length === 1);
    expect(receiver.received[0]?.headers).toMatchObject({ 'x-pf-attempt': '1', 'x-pf-api-version': '2026-11-21' });
  });

  it('is described in words when it is the receiver’s', async () => {
    const { account } = await harness.account(status(200));
    const servers = await startNameServer((name) => (name.startsWith('dead') ? 'silent' : 'absent'));
    harness.onClose(() => servers.close());
    for (const url of [
      'http://dead.example/',
      'http://missing.example/',
      'http://127.0.0.1:1/',
      'https://127.0.0.1:1/',
    ])
      await addWebhookEndpoint(harness.cluster.database, { accountId: account.id, livemode: false, url });
    await harness.start({ egress: { allowPrivate: true, nameServers: [servers.address] } });
    await harness.emit(account.id);
    const all = await until('all to be attempted', async () => {
      const deliveries = await harness.deliveries(account.id);
      return deliveries.length === 5 && deliveries.every(({ attemptCount }) => attemptCount === 1) ? deliveries : null;
    });
    const reasons = await harness.cluster.database.prisma.deliveryAttempt.findMany({
      where: { deliveryId: { in: all.map(({ id }) => id) } },
    });
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(
      new Set([
        null,
        'The name servers of the host do not respond.',
        'The host name does not exist.',
        'The connection was refused.',
      ]),
    );
  });

  it('disables a URL when it lasts 5 days, and the other URLs are told', async () => {
    let code = 500;
    const { account, receiver } = await harness.account((received, response) => status(code)(received, response));
    const service = await harness.start();
    await harness.emit(account.id);
    const failing = await until('it to fail', async () =>
      (await harness.deliveries(account.id)).find(({ error }) => error),
    );
    const other = await harness.receiver(account.id, status(200));
    const since = failing.lastAttemptedAt ?? new Date(0);

    harness.clock = since.getTime() + 5 * DAY - 1;
    const { event } = await harness.emit(account.id);
    await until('the next to fail', async () =>
      (await harness.deliveries(account.id)).some((one) => one.eventId === event.eventId && one.error !== null),
    );
    await until('the other URL to receive it', () => other.received.length === 1);
    expect(other.received.map(({ raw }) => (JSON.parse(raw) as { type: string }).type)).toEqual(['intent.detected']);

    harness.clock += 60_000;
    await harness.emit(account.id);
    const told = await until('the other URL to be told', () =>
      other.received.find(({ raw }) => raw.includes('webhook_endpoint.disabled')),
    );
    expect(JSON.parse(told.raw)).toMatchObject({
      data: {
        endpoint: { url: receiver.url, disabledBy: 'failing', failingSince: since.toISOString() },
      },
    });
    const before = receiver.received.length;
    code = 200;
    harness.clock += DAY;
    await service.sweep();
    await harness.emit(account.id);
    await until('the other URL to receive it', () => other.received.length === 4);
    expect(receiver.received).toHaveLength(before);
  });
});
