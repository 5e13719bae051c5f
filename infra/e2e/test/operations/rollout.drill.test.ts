import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { addWebhookEndpoint } from '@pf/database';
import {
  Fleet,
  type Fronts,
  judge,
  type LoadOptions,
  PAYMENT_SERVICES,
  peopleAt,
  Requests,
  startFronts,
  startLoad,
} from '@pf/bench/rollout';
import {
  apiClient,
  type ApiClientOptions,
  type Cluster,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { evmWallet, newWallet } from '@pf/testing/wallets';

const BLOCK_MS = 500;
/** Payments before and after each step of a rollout. */
const PAID = 4;

/** 1.0.0 cannot read zstd, and its watchers sign nothing. */
const BESIDE_EARLIER = { KAFKA_COMPRESSION: 'gzip', ACCEPT_UNSIGNED_OBSERVATIONS: 'true' };
/** The folder of release 1.0.0, from git; none where the clone is shallow. */
const EARLIER = [process.env['EARLIER_RELEASE']].filter((folder) => folder !== undefined);

/** `npm run bench:rollout` repeats the first a hundred times. */
describe('a rollout under load', () => {
  let chain: Anvil;
  let cluster: Cluster;
  let fronts: Fronts;
  let receiver: WebhookReceiver;

  beforeEach(async () => {
    [chain, fronts, receiver] = await Promise.all([
      startAnvil({ blockMs: BLOCK_MS }),
      startFronts(),
      webhookReceiver(),
    ]);
    cluster = await startCluster(undefined, [chain]);
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
  });
  afterEach(async () => {
    for (const front of Object.values(fronts)) front.close();
    await Promise.all([receiver.close(), cluster.close()]);
    await chain.stop();
  });

  /** Applies what a migration may do to tables in use to all tables; prisma/releases.json has the rules. */
  async function expandSchema(): Promise<number> {
    const { rows } = await cluster.database.sql.query<{ name: string }>(
      // Partitions get the columns of their table.
      `SELECT oid::regclass::text AS name FROM pg_class
        WHERE relkind IN ('r', 'p') AND NOT relispartition
          AND relnamespace IN ('service'::regnamespace, 'ledger'::regnamespace)`,
    );
    for (const { name } of rows)
      await cluster.database.sql.query(
        `ALTER TABLE ${name} ADD COLUMN next_text text, ADD COLUMN next_flag boolean NOT NULL DEFAULT false`,
      );
    return rows.length;
  }

  /** Clients and payers, and what is wrong when they have ended. */
  function startClients(fleet: Fleet, beside: LoadOptions = {}, options: ApiClientOptions = {}) {
    const requests = new Requests();
    const merchant = newWallet(chain);
    const client = apiClient(`${fronts.gateway.url}/v1`, cluster.apiKeys.test, options);
    const load = startLoad(client, chain, merchant.address, requests, beside);
    return {
      promised: load.promised,
      /** Resolves when some more payments were made. */
      pay(): Promise<unknown> {
        const enough = load.promised.paid.size + PAID;
        return until(`${enough} payments`, () => load.promised.paid.size >= enough, 120_000);
      },
      async stop() {
        await load.stop();
        const received = await evmWallet(chain, merchant).tokenBalance(chain.tokens['USDC'] ?? '');
        const { problems } = await judge({
          cluster,
          promised: load.promised,
          receiver,
          received,
          archived: fleet.services.includes('archive'),
        });
        return { failures: requests.failures, problems };
      },
    };
  }

  it('responds to every request, loses nothing and repeats nothing while each service is replaced', async () => {
    const fleet = new Fleet(cluster, fronts, {});
    await fleet.start();
    const clients = startClients(fleet, { people: await peopleAt(cluster, fronts) });

    await clients.pay();
    expect(await expandSchema()).toBeGreaterThan(10);
    await Promise.all(fleet.services.map((service) => fleet.restart(service)));
    await clients.pay();

    expect(await clients.stop()).toEqual({ failures: [], problems: [] });
    expect(
      fleet.services.map((service) => fleet.restartsOf(service)).map(({ done, badEnds }) => ({ done, badEnds })),
    ).toEqual(fleet.services.map(() => ({ done: 1, badEnds: [] })));
    // Clients with an open event stream moved to another gateway without noticing.
    expect(clients.promised.waiting.some(({ opened }) => opened() > 1)).toBe(true);
  }, 360_000);

  for (const release of EARLIER)
    it('responds to every request and loses nothing from release 1.0.0 to this one and back', async () => {
      // 1.0.0 has one login of the database for all services.
      const earlier = { release, env: { DATABASE_URL: cluster.databaseUrl } };
      const fleet = new Fleet(cluster, fronts, BESIDE_EARLIER, PAYMENT_SERVICES);
      await fleet.start(earlier);
      const clients = startClients(fleet, {}, { ofAnyRelease: true });

      await clients.pay();
      await fleet.replaceAll();
      await clients.pay();
      await fleet.replaceAll(earlier);
      await clients.pay();

      expect(await clients.stop()).toEqual({ failures: [], problems: [] });
      expect(fleet.services.flatMap((service) => fleet.restartsOf(service).badEnds)).toEqual([]);
    }, 360_000);
});
