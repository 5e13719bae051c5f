import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import {
  apiClient,
  type Cluster,
  type Instance,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { z } from 'zod';
import { type Pf, pfOn } from '../pf-on.ts';
import { webhooksOf } from './webhooks-of.ts';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const INTENTS = 12;
const report = z.object({
  partitions: z.array(z.object({ partition: z.number(), before: z.number(), imported: z.number() })),
});
const checked = z.object({ partitions: z.array(z.object({ events: z.number(), problems: z.array(z.string()) })) });

// The section "Kafka is lost" of docs/operations/log-set-back.md, step by step.
describe('a cluster whose log is lost', () => {
  let cluster: Cluster;
  let receiver: WebhookReceiver;
  let pf: Pf['run'];
  let closePf: Pf['close'];
  const running = new Map<'intent' | 'webhook' | 'archive', Instance>();
  let api: ReturnType<typeof apiClient>;

  beforeAll(async () => {
    cluster = await startCluster();
    receiver = await webhookReceiver();
    const { accountId } = cluster;
    await addWebhookEndpoint(cluster.database, { accountId, livemode: false, url: receiver.url });
    ({ run: pf, close: closePf } = await pfOn(cluster));
    const [gateway] = await Promise.all([cluster.start('gateway'), start()]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  });
  afterAll(async () => {
    await closePf();
    await receiver.close();
    await cluster.close();
  });

  async function start(): Promise<void> {
    const started = (['intent', 'webhook', 'archive'] as const).map(
      async (name) => [name, await cluster.start(name)] as const,
    );
    for (const [name, instance] of await Promise.all(started)) running.set(name, instance);
  }
  async function stop(): Promise<void> {
    await Promise.all(
      [...running.values()].map(async (instance) => {
        instance.kill('SIGTERM');
        await instance.exited;
      }),
    );
  }
  const create = (): Promise<string> =>
    until(
      'an intent',
      async () => {
        const { status, body } = await api.create(good);
        return status === 201 && body.intent.id;
      },
      60_000,
    );
  const events = async (...command: string[]): Promise<number> => {
    const { partitions } = checked.parse((await pf(...command)).answer);
    expect(partitions.flatMap(({ problems }) => problems)).toEqual([]);
    return partitions.reduce((sum, one) => sum + one.events, 0);
  };
  it('has every event again, sends none a second time, and continues, in the archive too', async () => {
    const began = new Date(Date.now() - 60_000).toISOString();
    const ids: string[] = [];
    while (ids.length < INTENTS) ids.push(await create());
    await api.cancel(ids[0] ?? '');
    await webhooksOf(receiver, ids);
    await until('the archive to have all', async () => (await events('ledger', 'verify')) === INTENTS + 1);
    await stop();

    await cluster.log.deleteTopics();
    await cluster.log.createTopics();
    const { partitions } = report.parse((await pf('log', 'import')).answer);
    expect(partitions.every(({ before }) => before === 0)).toBe(true);
    expect(partitions.reduce((sum, { imported }) => sum + imported, 0)).toBe(INTENTS + 1);
    const entries = await cluster.database.prisma.auditEntry.findMany({ where: { action: 'ledger.imported' } });
    expect(entries.map(({ after }) => after)).toEqual(partitions.map((one) => ({ ...one, sealed: false })));
    expect(await pf('log', 'rebuild', '--all', '--accept-log')).toMatchObject({ code: 0 });
    expect(await pf('positions', 'reset', '--since', began)).toMatchObject({ code: 0 });
    await start();

    const later = await create();
    await webhooksOf(receiver, [later]);
    for (const [n, id] of ids.entries())
      expect((await api.get(id)).body.intent).toMatchObject({ id, state: n === 0 ? 'cancelled' : 'created' });
    expect(await events('log', 'verify')).toBe(INTENTS + 2);
    await until('the archive to go on', async () => (await events('ledger', 'verify')) === INTENTS + 2);
    const eventIds = receiver.received.map(({ body }) => body.eventId);
    expect(eventIds).toEqual([...new Set(eventIds)]);
    const again = report.parse((await pf('log', 'import')).answer).partitions;
    expect(again.map(({ imported }) => imported)).toEqual(again.map(() => 0));
  });

  it('gets no events from an archive that is not its own', async () => {
    const other = await pf('log', 'import', '--key', Buffer.alloc(32, 1).toString('base64'));
    expect(other).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is not signed by the given key') as unknown,
    });
  });
});

// The section "Events from before" of docs/operations/privacy.md, step by step.
describe('a log with events from before they were sealed', () => {
  const CANARY = 'canary-of-a-person';
  let cluster: Cluster;
  let pf: Pf['run'];
  let closePf: Pf['close'];
  beforeAll(async () => {
    cluster = await startCluster();
    ({ run: pf, close: closePf } = await pfOn(cluster, { SECRETS_KEY: cluster.secretsKey.toString('base64') }));
  });
  afterAll(async () => {
    await closePf();
    await cluster.close();
  });

  const records = async (): Promise<string> => {
    const reader = await cluster.log.reader('sealing');
    const values: (string | null)[] = [];
    for (const [partition, end] of (await reader.endOffsets('intent.events')).entries())
      for await (const batch of reader.read('intent.events', partition, 0n, end))
        values.push(...batch.records.map(({ value }) => value));
    await reader.close();
    return values.join('\n');
  };
  const verified = async (...command: string[]): Promise<number> => {
    const { partitions } = checked.parse((await pf(...command)).answer);
    expect(partitions.flatMap(({ problems }) => problems)).toEqual([]);
    return partitions.reduce((sum, one) => sum + one.events, 0);
  };

  it('is imported sealed: the same intents, of which each can be erased', async () => {
    const [gateway, intent, archive] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('intent'),
      cluster.start('archive'),
    ]);
    const api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    const metadata = { name: CANARY };
    const [kept, erased] = await Promise.all(
      [1, 2].map(async (n) => {
        const { body } = await until('an intent', async () => {
          const response = await api.create({ ...good, metadata, idempotencyKey: `${CANARY} ${n}` });
          return response.status === 201 && response;
        });
        return body.intent.id;
      }),
    );
    await api.cancel(kept ?? '');
    expect((await records()).split(CANARY).length).toBeGreaterThan(8);
    await until('the archive to have all', async () => (await verified('ledger', 'verify')) === 3);
    for (const instance of [intent, archive]) {
      instance.kill('SIGTERM');
      await instance.exited;
    }
    await cluster.log.deleteTopics();
    await cluster.log.createTopics();
    expect(await pf('log', 'import', '--seal')).toMatchObject({ code: 0 });
    expect(await pf('log', 'import', '--seal')).toMatchObject({ code: 0 });
    expect(await records()).not.toContain(CANARY);
    expect(await pf('log', 'rebuild', '--all', '--accept-log')).toMatchObject({ code: 0 });
    expect(await verified('log', 'verify')).toBe(3);

    await cluster.start('intent', { env: { SEAL_PERSONAL_DATA: 'true' } });
    const shown = await api.get(kept ?? '');
    expect(shown.body.intent).toMatchObject({ state: 'cancelled', metadata, idempotencyKey: `${CANARY} 1` });
    expect((await pf('privacy', 'erase', '--intent', erased ?? '', '--yes')).answer).toMatchObject({
      requested: 1,
      unsealed: 0,
    });
    await until('the erasure', async () => (await api.get(erased ?? '')).body.intent.erasedAt !== undefined);
    const { rows } = await cluster.database.sql.query<{ intent_id: string }>(
      'SELECT intent_id FROM service.intent_keys',
    );
    expect(rows).toEqual([{ intent_id: kept }]);
    expect(await verified('log', 'verify')).toBe(4);

    // Step 3: a new archive, beside the old one, which it refuses to go on with.
    const folder = `${cluster.archive}-sealed`;
    const ARCHIVE_URL = pathToFileURL(folder).href;
    await cluster.start('archive', { env: { ARCHIVE_URL } });
    const { run: pfAfter, close } = await pfOn(cluster, {
      SECRETS_KEY: cluster.secretsKey.toString('base64'),
      ARCHIVE_URL,
    });
    try {
      const proven = async (): Promise<number> => {
        const { partitions } = checked.parse((await pfAfter('ledger', 'verify')).answer);
        expect(partitions.flatMap(({ problems }) => problems)).toEqual([]);
        return partitions.reduce((sum, { events }) => sum + events, 0);
      };
      await until('the new archive to have all', async () => (await proven()) === 4);
      const { answer } = await pfAfter('ledger', 'query', 'SELECT event FROM events');
      expect(answer).toHaveLength(4);
      expect(JSON.stringify(answer)).not.toContain(CANARY);
      expect(JSON.stringify((await pf('ledger', 'query', 'SELECT event FROM events')).answer)).toContain(CANARY);
    } finally {
      await close();
    }
  });
});
