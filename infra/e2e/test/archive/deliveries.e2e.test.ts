import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FolderStore, Ledger } from '@pf/archive';
import { addWebhookEndpoint } from '@pf/database';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';

let cluster: Cluster;
let api: ApiClient;
let archive: Instance;
let accepting: WebhookReceiver;
let gone: WebhookReceiver;

beforeAll(async () => {
  cluster = await startCluster();
  [accepting, gone] = await Promise.all([webhookReceiver(), webhookReceiver()]);
  gone.respond = 410;
  let gateway: Instance;
  [gateway, archive] = await Promise.all([
    cluster.start('gateway'),
    cluster.start('archive'),
    cluster.start('intent'),
    cluster.start('webhook'),
  ]);
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
  for (const { url } of [accepting, gone]) await enable(url);
});
afterAll(async () => {
  await cluster.close();
  await Promise.all([accepting.close(), gone.close()]);
});

const enable = (url: string): Promise<unknown> =>
  addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url });

/** What `pf ledger query` shows of the deliveries of an intent. */
async function outcomes(intentId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const ledger = await Ledger.open(new FolderStore(cluster.archive));
  try {
    const { rows } = await ledger.query(
      `SELECT delivery_id, event_type, outcome, attempts, response_status FROM deliveries
        WHERE intent_id = '${intentId}' ORDER BY outcome, attempts`,
    );
    return rows;
  } finally {
    ledger.close();
  }
}

it('the view deliveries shows how each webhook ended, also one that was retried while no archive ran', async () => {
  const { body } = await api.create({
    chain: 'eip155:84532',
    token: 'USDC',
    amount: '1',
    requestor: `0x${'11'.repeat(20)}`,
  });
  const { id } = body.intent;
  await until('both deliveries to be archived', async () => (await outcomes(id)).length === 2);
  const first = await outcomes(id);
  expect(first).toMatchObject([
    { event_type: 'intent.created', outcome: 'delivered', attempts: 1, response_status: 200 },
    { event_type: 'intent.created', outcome: 'failed', attempts: 1, response_status: 410 },
  ]);

  archive.kill('SIGKILL');
  await archive.exited;
  gone.respond = 200;
  await enable(gone.url);
  const failed = String(first[1]?.['delivery_id']);
  expect((await api.retry(failed)).status).toBe(200);
  await until('it to arrive', () => gone.received.length === 2);
  await cluster.start('archive');
  await until('its new end to be archived', async () =>
    (await outcomes(id)).every((one) => one['outcome'] === 'delivered'),
  );
  expect(await outcomes(id)).toMatchObject([
    { attempts: 1 },
    { delivery_id: failed, attempts: 2, response_status: 200 },
  ]);
});
