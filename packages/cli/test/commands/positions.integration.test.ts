import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import { apiClient, type Cluster, startCluster, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';
import { z } from 'zod';
import { PARTITIONS, type Pf, pfOn } from '../pf-on.ts';
import { webhooksOf } from './webhooks-of.ts';

const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};
const shown = z.object({ partitions: z.array(z.object({ beyond: z.array(z.string()) })) });
const verified = z.object({ partitions: z.array(z.object({ problems: z.array(z.string()) })) });

// The pages docs/operations/log-set-back.md and docs/operations/database-set-back.md, step by step.
describe('a running stack', () => {
  let cluster: Cluster;
  let receiver: WebhookReceiver;
  let pf: Pf['run'];
  let closePf: Pf['close'];
  let api: ReturnType<typeof apiClient>;
  beforeAll(async () => {
    cluster = await startCluster();
    receiver = await webhookReceiver();
    const { accountId } = cluster;
    await addWebhookEndpoint(cluster.database, { accountId, livemode: false, url: receiver.url });
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('webhook')]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    ({ run: pf, close: closePf } = await pfOn(cluster));
  });
  afterAll(async () => {
    await closePf();
    await receiver.close();
    await cluster.close();
  });

  const problems = async (): Promise<readonly string[]> =>
    verified.parse((await pf('log', 'verify')).answer).partitions.flatMap((one) => one.problems);
  const beyond = async (): Promise<readonly string[]> =>
    shown.parse((await pf('positions', 'show')).answer).partitions.flatMap((one) => one.beyond);
  const run = (text: string) => cluster.database.sql.query(text);
  /** Creates until each partition has decided one: meanwhile some may be refused. */
  const createEverywhere = (): Promise<readonly string[]> => {
    const made = new Map<number, string>();
    return until(
      'a create in every partition',
      async () => {
        const { status, body } = await api.create(good);
        if (status !== 201) return false;
        const { rows } = await cluster.database.sql.query<{ partition: number }>(
          'SELECT partition FROM ledger.intents WHERE id = $1',
          [body.intent.id],
        );
        if (rows[0]) made.set(rows[0].partition, body.intent.id);
        return made.size === PARTITIONS && [...made.values()];
      },
      90_000,
    );
  };
  const eventIds = (): readonly string[] => receiver.received.map(({ body }) => body.eventId);

  it('continues after its log has lost its end, and sends no event again', async () => {
    await webhooksOf(receiver, await createEverywhere());
    // To the services a log that ends before the positions is the same, whichever of them moved.
    await run('UPDATE ledger.checkpoints SET position = position + 1000');
    await run('UPDATE service.webhook_positions SET position = position + 1000');
    expect(await beyond()).toHaveLength(2 * PARTITIONS);
    expect(await problems()).toHaveLength(PARTITIONS);
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const rebuild = ['log', 'rebuild', '--partition', String(partition)];
      expect(await pf(...rebuild)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('--accept-log') as unknown,
      });
      expect(await pf(...rebuild, '--accept-log')).toMatchObject({ code: 0 });
    }
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    expect(await pf('positions', 'reset', '--since', hourAgo)).toMatchObject({ code: 0, errors: '' });
    expect(await beyond()).toEqual([]);

    await webhooksOf(receiver, await createEverywhere());
    expect(await problems()).toEqual([]);
    expect(eventIds()).toEqual([...new Set(eventIds())]);
  });

  it('refuses to deliver again what it has forgotten', async () => {
    expect(await pf('positions', 'reset', '--since', '2020-01-01T00:00:00Z')).toMatchObject({
      code: 1,
      errors: expect.stringContaining('more than 29 days ago') as unknown,
    });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    expect(await pf('positions', 'reset', '--since', tomorrow, '--partition', '3')).toMatchObject({ code: 0 });
    const { answer } = await pf('positions', 'show');
    expect(answer).toMatchObject({
      partitions: expect.arrayContaining([expect.objectContaining({ partition: 3 })]) as unknown,
    });
  });

  it('heals after its database was set back, and delivers with the same event ids', async () => {
    const before = await createEverywhere();
    await webhooksOf(receiver, before);
    const tables = ['ledger.intents', 'ledger.intent_events', 'ledger.checkpoints', 'service.command_outcomes'];
    tables.push('service.webhook_positions', 'service.deliveries');
    const copies = tables.map((name) => [name, `public.${name.replace('.', '_')}`] as const);
    const copying = copies.map(([from, to]) => `CREATE TABLE ${to} AS TABLE ${from};`);
    await run(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${copying.join(' ')} COMMIT`);
    const after = await createEverywhere();
    for (const id of before) await until('a cancel', async () => (await api.cancel(id)).status === 200);
    await webhooksOf(receiver, after);
    const told = eventIds();
    await run(
      `BEGIN; ${copies.map(([from, to]) => `DELETE FROM ${from}; INSERT INTO ${from} TABLE ${to};`).join(' ')} COMMIT`,
    );

    await webhooksOf(receiver, await createEverywhere());
    expect(await problems()).toEqual([]);
    for (const id of after) expect((await api.get(id)).status).toBe(200);
    for (const id of before) expect((await api.get(id)).body).toMatchObject({ intent: { state: 'cancelled' } });
    // At least once, under the same ids: nothing that was told before has become another event.
    await until('the events to be delivered again', () => told.every((id) => eventIds().includes(id)));
    const perId = Map.groupBy(receiver.received, ({ body }) => body.eventId);
    for (const [, same] of perId) expect(new Set(same.map(({ raw }) => raw)).size).toBe(1);
  });
});
