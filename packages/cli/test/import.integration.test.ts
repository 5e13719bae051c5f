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
import { PARTITIONS, type Pf, pfOn } from './pf-on.ts';

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
  const told = (ids: readonly string[]): Promise<unknown> =>
    until(
      'the webhooks',
      () => {
        const intents = new Set(receiver.received.map(({ body }) => body.data.intent.id as string));
        return ids.every((id) => intents.has(id));
      },
      60_000,
    );

  it('has every event again, sends none a second time, and goes on, in the archive too', async () => {
    const began = new Date(Date.now() - 60_000).toISOString();
    const ids: string[] = [];
    while (ids.length < INTENTS) ids.push(await create());
    await api.cancel(ids[0] ?? '');
    await told(ids);
    await until('the archive to have all', async () => (await events('ledger', 'verify')) === INTENTS + 1);
    await stop();

    await cluster.log.deleteTopics();
    await cluster.log.createTopics();
    const { partitions } = report.parse((await pf('log', 'import')).answer);
    expect(partitions.every(({ before }) => before === 0)).toBe(true);
    expect(partitions.reduce((sum, { imported }) => sum + imported, 0)).toBe(INTENTS + 1);
    const entries = await cluster.database.prisma.auditEntry.findMany({ where: { action: 'ledger.imported' } });
    expect(entries.map(({ after }) => after)).toEqual(partitions);
    for (let partition = 0; partition < PARTITIONS; partition++)
      expect(await pf('log', 'rebuild', '--partition', String(partition), '--accept-log')).toMatchObject({ code: 0 });
    expect(await pf('positions', 'reset', '--since', began)).toMatchObject({ code: 0 });
    await start();

    const later = await create();
    await told([later]);
    for (const [n, id] of ids.entries())
      expect((await api.get(id)).body.intent).toMatchObject({ id, state: n === 0 ? 'cancelled' : 'created' });
    expect(await events('log', 'verify')).toBe(INTENTS + 2);
    await until('the archive to go on', async () => (await events('ledger', 'verify')) === INTENTS + 2);
    const eventIds = receiver.received.map(({ body }) => body.eventId);
    expect(eventIds).toEqual([...new Set(eventIds)]);
    const again = report.parse((await pf('log', 'import')).answer).partitions;
    expect(again.map(({ imported }) => imported)).toEqual(again.map(() => 0));
  }, 300_000);

  it('gets no events from an archive that is not its own', async () => {
    const other = await pf('log', 'import', '--key', Buffer.alloc(32, 1).toString('base64'));
    expect(other).toMatchObject({
      code: 1,
      errors: expect.stringContaining('is not signed by the given key') as unknown,
    });
  });
});
