import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import { Fleet, type Front, judge, Requests, startFront, startLoad } from '@pf/bench/rollout';
import {
  type Anvil,
  apiClient,
  type Cluster,
  evmWallet,
  newWallet,
  startAnvil,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';

const BLOCK_MS = 500;
/** Payments that are finished by each release. */
const PAID = 4;
/** Release 1.0.0 from git; a shallow clone has none. */
const RELEASE = process.env['EARLIER_RELEASE'];

(RELEASE ? describe : describe.skip)('an upgrade from release 1.0.0 that is taken back', () => {
  const release = RELEASE ?? '';
  let chain: Anvil;
  let cluster: Cluster;
  let front: Front;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    [chain, front, receiver] = await Promise.all([startAnvil({ blockMs: BLOCK_MS }), startFront(), webhookReceiver()]);
    // Migrated, and with all topics, as docs/operations/deploy.md asks before the new release is started.
    cluster = await startCluster(undefined, [chain]);
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
  });
  afterAll(async () => {
    front.close();
    await Promise.all([receiver.close(), cluster.close()]);
    await chain.stop();
  });

  it('loses nothing and repeats nothing under load', async () => {
    // 1.0.0 knows one login of the database, and cannot read zstd.
    const earlier = { release, env: { DATABASE_URL: cluster.databaseUrl } };
    const fleet = new Fleet(cluster, front, { KAFKA_COMPRESSION: 'gzip' });
    await fleet.start(earlier);
    const requests = new Requests();
    const merchant = newWallet(chain);
    const load = startLoad(apiClient(`${front.url}/v1`, cluster.apiKeys.test), chain, merchant.address, requests);
    const payMore = (): Promise<unknown> => {
      const enough = load.promised.paid.size + PAID;
      return until(`${enough} payments`, () => load.promised.paid.size >= enough, 120_000);
    };

    await payMore();
    await fleet.replaceAll();
    await payMore();
    await fleet.replaceAll(earlier);
    await payMore();
    await load.stop();

    const received = await evmWallet(chain, merchant).tokenBalance(chain.tokens['USDC'] ?? '');
    const { problems } = await judge({ cluster, promised: load.promised, receiver, received });
    expect({ failures: requests.failures, problems }).toEqual({ failures: [], problems: [] });
    const bad = Object.values(fleet.restarts).flatMap(({ badEnds }) => badEnds);
    expect(bad).toEqual([]);
  }, 600_000);
});
