import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseIntentId } from '@pf/contracts';
import { addWebhookEndpoint, listWebhookEndpoints } from '@pf/database';
import {
  apiClient,
  type Cluster,
  hasValidSignature,
  readBackingStack,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { z } from 'zod';
import { runPf } from '../../src/index.ts';

const line = z.looseObject({
  type: z.string().optional(),
  status: z.number().nullable().optional(),
  deliveryId: z.string().optional(),
  error: z.string().nullable().optional(),
  secret: z.string().optional(),
});
const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

describe('pf', () => {
  let cluster: Cluster;
  let receiver: WebhookReceiver;
  let data: string;
  let url: string;
  beforeAll(async () => {
    cluster = await startCluster();
    receiver = await webhookReceiver();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('webhook')]);
    url = `${gateway.url}/v1`;
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
    await writeFile(
      path.join(data, 'stack.json'),
      JSON.stringify({
        database: cluster.databaseUrl,
        accountId: cluster.accountId,
        baseUrl: url,
        apiKeys: cluster.apiKeys,
      }),
    );
    await writeFile(path.join(data, 'secrets-key'), cluster.secretsKey.toString('base64'));
  });
  afterAll(async () => {
    await rm(data, { recursive: true });
    await receiver.close();
    await cluster.close();
  });

  /** A command that goes on until `end` is called. */
  const begin = (...args: string[]) => {
    const ending = new AbortController();
    const output = { text: '', errors: '' };
    const environment = {
      PF_DATA: data,
      KAFKA_BROKERS: readBackingStack().kafka,
      KAFKA_PARTITIONS: '6',
      KAFKA_PREFIX: cluster.prefix,
    };
    const code = runPf(args, {
      environment,
      untilEnded: () => ending.signal,
      write: (text) => (output.text += text),
      writeError: (text) => (output.errors += text),
    });
    return {
      code,
      output,
      lines: () =>
        output.text
          .split('\n')
          .filter((text) => text !== '')
          .map((text) => line.parse(JSON.parse(text))),
      end: () => ending.abort(),
    };
  };
  const endpoints = async (): Promise<readonly string[]> =>
    (await listWebhookEndpoints(cluster.database, { accountId: cluster.accountId, livemode: false })).flatMap(
      ({ url: at, disabledAt }) => (disabledAt === null ? [at] : []),
    );

  it('listen forwards webhooks unchanged, has them resent and removes its endpoint', async () => {
    // An earlier one that was killed: no program listens on its port.
    await addWebhookEndpoint(cluster.database, {
      accountId: cluster.accountId,
      livemode: false,
      url: 'http://127.0.0.1:1/pf-listen/abandoned',
    });
    const listening = begin('listen', '--forward-to', receiver.url.replace('http://', ''), '--json');
    await until('it to be ready', () => listening.lines()[0]?.secret);
    expect(await endpoints()).toHaveLength(1);
    const client = apiClient(url, cluster.apiKeys.test);
    const { id } = (await client.create(good)).body.intent;
    await client.simulate(id, 'finalized');
    await until('all four', () => listening.lines().length === 5);
    expect(
      listening
        .lines()
        .slice(1)
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['intent.confirmed', 'intent.created', 'intent.finalized', 'intent.pending']);
    expect(receiver.received.every((webhook) => hasValidSignature(webhook, listening.lines()[0]?.secret ?? ''))).toBe(
      true,
    );
    expect(receiver.received.map(({ raw }) => JSON.parse(raw) as unknown)).toEqual(
      expect.arrayContaining([...(await client.events(id)).body.events]),
    );

    const { deliveryId = '' } = listening.lines()[1] ?? {};
    const resent = begin('webhooks', 'resend', deliveryId);
    expect([await resent.code, resent.output.errors]).toEqual([0, '']);
    expect(resent.output.text).toMatch(/^evt_\S+ is sent to .* again, as attempt 2/);
    await until('it to come again', () =>
      listening.lines().some((again) => again.deliveryId === deliveryId && again['attempt'] === 2),
    );
    const listed = begin('webhooks', 'deliveries', '--intent', id);
    expect([await listed.code, listed.output.text.match(/delivered|pending/g)?.length]).toEqual([0, 4]);

    listening.end();
    expect([await listening.code, listening.output.errors]).toEqual([0, '']);
    expect(await endpoints()).toEqual([]);
  });

  it('listen reports a program that does not respond, and forwards only the chosen events', async () => {
    const listening = begin('listen', '--forward-to', 'localhost:1/nothing', '--events', 'intent.cancelled');
    await until('it to be ready', () => listening.output.text.includes('Ready: test events'));
    const client = apiClient(url, cluster.apiKeys.test);
    const { id } = (await client.create(good)).body.intent;
    await client.cancel(id);
    await until('the line', () => listening.output.text.includes('no response from localhost:1'));
    expect(listening.output.text).toMatch(/intent\.cancelled .*Is it running\?/);
    expect(listening.output.text).not.toContain('intent.created');
    listening.end();
    expect(await listening.code).toBe(0);
    for (const wrong of [['listen'], ['listen', '--forward-to', 'http://']]) expect(await begin(...wrong).code).toBe(2);
  });

  it('log tail shows the events of the log, private ones too', async () => {
    const client = apiClient(url, cluster.apiKeys.test);
    const following = begin('log', 'tail', '--json');
    const { id } = (await client.create(good)).body.intent;
    await client.request('PATCH', `/intents/${id}`, {
      updatedAt: (await client.get(id)).body.intent.updatedAt,
      metadata: { order: '7' },
    });
    // A reader of the log sees a commit a moment later than the projection shows it.
    await until('both events', async () => {
      const once = begin('log', 'tail', '--intent', id, '--no-follow');
      expect([await once.code, once.output.errors]).toEqual([0, '']);
      return new RegExp(`${id} {2}v1 {2}intent.created .*\\n.*${id} {2}v2 {2}intent.updated `).test(once.output.text);
    });
    await until('what is written from now on', async () => {
      await client.create(good);
      return following.lines().length > 0;
    });
    following.end();
    expect([await following.code, following.output.errors]).toEqual([0, '']);
    const wrong = begin('log', 'tail', '--intent', 'nonsense');
    expect([await wrong.code, wrong.output.errors]).toEqual([
      1,
      expect.stringContaining('is not the id of a payment intent'),
    ]);
  });

  it('log verify finds a row that differs from the log, and log rebuild repairs it', async () => {
    const { id } = (await apiClient(url, cluster.apiKeys.test).create(good)).body.intent;
    await cluster.database.sql.query("UPDATE ledger.intents SET fulfiller = '0xsomebody' WHERE id = $1", [id]);
    const partition = String(parseIntentId(id, 6)?.partition);
    const found = begin('log', 'verify');
    expect([await found.code, found.output.errors]).toEqual([1, `The check failed for partition ${partition} of 6.\n`]);
    expect(found.output.text).toContain(`\n${id}\n`);
    expect(found.output.text).toContain(`Repair them with: pf log rebuild --partition ${partition}`);
    const rebuilt = begin('log', 'rebuild', '--partition', partition, '--json');
    expect([await rebuilt.code, JSON.parse(rebuilt.output.text)]).toEqual([
      0,
      expect.objectContaining({ partition: Number(partition), differing: [id] }),
    ]);
    const verified = begin('log', 'verify', '--partition', partition);
    expect([await verified.code, verified.output.errors]).toEqual([0, '']);
    expect(verified.output.text).toContain('The projection matches the log.');
    const all = begin('log', 'rebuild', '--all', '--json');
    expect([await all.code, JSON.parse(all.output.text)]).toEqual([
      0,
      { partitions: [0, 1, 2, 3, 4, 5].map((one) => expect.objectContaining({ partition: one, differing: [] })) },
    ]);
    for (const which of [[], ['--all', '--partition', '3']]) {
      const unclear = begin('log', 'rebuild', ...which);
      expect([await unclear.code, unclear.output.errors]).toEqual([1, expect.stringContaining('or pass --all')]);
    }
    const wrong = begin('log', 'verify', '--partition', '200');
    expect([await wrong.code, wrong.output.errors]).toEqual([
      1,
      expect.stringContaining('Partition 200 does not exist: the log has partitions 0 to'),
    ]);
  });

  it('log verify and log rebuild end where the log ends before the projection, and say so', async () => {
    const set = (position: string) =>
      cluster.database.sql.query('UPDATE ledger.checkpoints SET position = $1 WHERE partition = 5', [position]);
    await set('1000000');
    const found = begin('log', 'verify', '--partition', '5', '--json');
    expect(await found.code).toBe(1);
    expect(JSON.parse(found.output.text)).toMatchObject({
      partitions: [
        { projected: '1000000', problems: [expect.stringContaining('See docs/operations/log-set-back.md')] },
      ],
    });
    const refused = begin('log', 'rebuild', '--partition', '5');
    expect([await refused.code, refused.output.errors]).toEqual([1, expect.stringContaining('add --accept-log')]);
    const accepted = begin('log', 'rebuild', '--partition', '5', '--accept-log');
    expect([await accepted.code, accepted.output.errors]).toEqual([0, '']);
    expect(await begin('log', 'verify', '--partition', '5').code).toBe(0);
  });
});
