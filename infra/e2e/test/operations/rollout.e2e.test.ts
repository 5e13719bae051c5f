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
/** Payments before and after the rollout. */
const PAID = 4;

/** `npm run bench:rollout` repeats this a hundred times. */
describe('a rollout under load', () => {
  let chain: Anvil;
  let cluster: Cluster;
  let front: Front;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    [chain, front, receiver] = await Promise.all([startAnvil({ blockMs: BLOCK_MS }), startFront(), webhookReceiver()]);
    cluster = await startCluster(undefined, [chain]);
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
  });
  afterAll(async () => {
    front.close();
    await Promise.all([receiver.close(), cluster.close()]);
    await chain.stop();
  });

  /** Applies what a migration may do to tables in use to all tables; prisma/releases.json has the rules. */
  async function expandSchema(): Promise<number> {
    const { rows } = await cluster.database.sql.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('service', 'ledger')",
    );
    for (const { name } of rows)
      await cluster.database.sql.query(
        `ALTER TABLE ${name} ADD COLUMN next_text text, ADD COLUMN next_flag boolean NOT NULL DEFAULT false`,
      );
    return rows.length;
  }

  it('responds to every request, loses nothing and repeats nothing while each service is replaced', async () => {
    const fleet = new Fleet(cluster, front, {});
    await fleet.start();
    const requests = new Requests();
    const merchant = newWallet(chain);
    const load = startLoad(apiClient(`${front.url}/v1`, cluster.apiKeys.test), chain, merchant.address, requests);
    const paying = (count: number): Promise<unknown> =>
      until(`${count} payments`, () => load.promised.paid.size >= count, 120_000);

    await paying(PAID);
    expect(await expandSchema()).toBeGreaterThan(10);
    await Promise.all(fleet.services.map((service) => fleet.restart(service)));
    await paying(load.promised.paid.size + PAID);
    await load.stop();

    const received = await evmWallet(chain, merchant).tokenBalance(chain.tokens['USDC'] ?? '');
    const { problems } = await judge({ cluster, promised: load.promised, receiver, received });
    expect({ failures: requests.failures, problems }).toEqual({ failures: [], problems: [] });
    expect(Object.values(fleet.restarts).map(({ done, badEnds }) => ({ done, badEnds }))).toEqual(
      fleet.services.map(() => ({ done: 1, badEnds: [] })),
    );
    // Clients with an open event stream moved to another gateway without noticing.
    expect(load.promised.waiting.some(({ opened }) => opened() > 1)).toBe(true);
  }, 360_000);
});
