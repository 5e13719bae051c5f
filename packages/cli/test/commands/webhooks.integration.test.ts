import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { webhooks } from '@pf/client';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { z } from 'zod';
import { runPf } from '../../src/index.ts';

const made = z.looseObject({ endpoint: z.looseObject({ id: z.string() }), secret: z.string().startsWith('whsec_') });
const listed = z.looseObject({ deliveries: z.array(z.looseObject({ id: z.string() })) });
const good = {
  chain: 'eip155:84532',
  token: 'USDC',
  amount: '12.50',
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
};

describe('pf webhooks', () => {
  const receivers: WebhookReceiver[] = [];
  let cluster: Cluster;
  let client: ApiClient;
  let data: string;
  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('webhook')]);
    const baseUrl = `${gateway.url}/v1`;
    client = apiClient(baseUrl, cluster.apiKeys.test);
    data = await mkdtemp(path.join(tmpdir(), 'pf-'));
    const { databaseUrl: database, accountId, apiKeys } = cluster;
    await writeFile(path.join(data, 'stack.json'), JSON.stringify({ database, accountId, baseUrl, apiKeys }));
  });
  afterAll(async () => {
    await rm(data, { recursive: true });
    await cluster.close();
    await Promise.all(receivers.map((receiver) => receiver.close()));
  });

  const run = async (...args: string[]): Promise<{ code: number; out: string; errors: string }> => {
    let out = '';
    let errors = '';
    const code = await runPf(['webhooks', ...args], {
      environment: { PF_DATA: data },
      write: (text) => (out += text),
      writeError: (text) => (errors += text),
    });
    return { code, out, errors };
  };
  /** What it answers; fails where it fails. */
  const pf = async (...args: string[]): Promise<string> => {
    const { code, out, errors } = await run(...args);
    expect([code, errors]).toEqual([0, '']);
    return out;
  };
  /** Why it fails. */
  const refusal = async (...args: string[]): Promise<string> => {
    const { code, out, errors } = await run(...args);
    expect([code, out]).toEqual([1, '']);
    return errors;
  };
  const endpoint = async (types: readonly string[] = ['intent.created']) => {
    const receiver = await webhookReceiver();
    receivers.push(receiver);
    const text = await pf('create', receiver.url, '--name', 'shop', '--json', '--events', ...types);
    const { endpoint: shown, secret } = made.parse(JSON.parse(text));
    return { receiver, id: shown.id, shown, secret };
  };
  const status = async (url: string): Promise<string> =>
    (await pf('list')).split('\n').find((line) => line.includes(url)) ?? '';

  it('create makes an endpoint for the types that it names, with a secret of its own', async () => {
    const { receiver, shown, secret } = await endpoint(['intent.created', 'intent.cancelled']);
    expect(shown).toMatchObject({
      url: receiver.url,
      name: 'shop',
      eventTypes: ['intent.created', 'intent.cancelled'],
      livemode: false,
    });
    const { id } = (await client.create(good)).body.intent;
    await client.cancel(id);
    await until('both events', () => receiver.received.length === 2);
    for (const { raw, headers } of receiver.received)
      expect(await webhooks.verify(raw, headers, secret)).toMatchObject({ data: { intent: { id } } });

    const text = await pf('create', 'https://shop.example/live', '--mode', 'live');
    expect(text).toMatch(/^whe_\w+ receives live events from now on\.\nThey are signed with whsec_\S+\n.* shown again/);
    expect(await refusal('create', receiver.url)).toContain('Update that endpoint, or remove it first.');
    expect(await refusal('create', 'http://shop.example/live', '--mode', 'live')).toContain('must start with https://');
    expect(await refusal('create', 'https://shop.example/other', '--events', 'intent.paid')).toContain('eventTypes');
  });

  it('pause holds the deliveries of an endpoint until resume', async () => {
    const { receiver, id } = await endpoint();
    expect(await pf('pause', id)).toBe(`${receiver.url} is paused: its deliveries wait.\n`);
    expect(await status(receiver.url)).toContain('paused');
    expect(await refusal('test', id)).toContain('paused or disabled');
    const { id: intentId } = (await client.create(good)).body.intent;
    await until('its delivery', async () => (await pf('deliveries', '--intent', intentId)).includes(receiver.url));
    expect(JSON.parse(await pf('resume', id, '--json'))).toMatchObject({ endpoint: { id, status: 'enabled' } });
    await until('what has waited', () => receiver.received.length === 1);
    expect(await status(receiver.url)).toContain('active');
    for (const verb of ['pause', 'resume', 'test']) expect(await refusal(verb, 'whe_1')).toContain('add --mode live');
  });

  it('test shows the response of the receiver, and attempts lists the attempts', async () => {
    const { receiver, id } = await endpoint();
    expect(await pf('test', id)).toMatch(/^The receiver accepted it with 200\.\nIt took \d+ ms\.\n$/);
    receiver.respond = 500;
    expect(JSON.parse(await pf('test', id, '--json'))).toMatchObject({ attempt: { number: 1, responseStatus: 500 } });
    expect(await pf('test', id)).toMatch(/^The response status was 500\.\n/);

    const filters = ['--type', 'webhook_endpoint.test', '--status', 'failed'];
    const [delivery] = listed.parse(JSON.parse(await pf('deliveries', ...filters, '--json'))).deliveries;
    const text = await pf('attempts', delivery?.id ?? '');
    expect(text).toMatch(/^ATTEMPT +AT +RESPONSE +MS +REASON\n1 .* 500 .*The response status was 500\.\n/);
    expect(text).toContain('No further attempt is scheduled.');
    expect(await refusal('attempts', 'whd_1')).toContain('add --mode live');
  });

  it('enable sends again what a disabled URL has missed', async () => {
    const { receiver } = await endpoint();
    expect(await refusal('enable', receiver.url)).toContain('is not a test URL that was disabled because it failed');
    receiver.respond = 410;
    await client.create(good);
    await until('it to be disabled', async () => (await status(receiver.url)).includes('disabled by 410 Gone'));
    receiver.respond = 200;
    expect(await pf('enable', receiver.url, '--replay')).toBe(
      `Test events go to ${receiver.url} again.\n1 missed deliveries are sent now.\n`,
    );
    await until('what it has missed', () => receiver.received.length === 2);
    expect(await status(receiver.url)).toContain('active');
  });
});
