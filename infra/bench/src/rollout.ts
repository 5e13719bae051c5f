import { addWebhookEndpoint } from '@pf/database';
import { commandLine, count } from '@pf/local/command';
import { apiClient, startCluster, webhookReceiver } from '@pf/testing';
import { startAnvil } from '@pf/testing/chains';
import { evmWallet, newWallet } from '@pf/testing/wallets';
import { Fleet } from './rollout/fleet.ts';
import { startFronts } from './rollout/front.ts';
import { startLoad } from './rollout/load.ts';
import { peopleAt } from './rollout/people.ts';
import { Requests } from './rollout/requests.ts';
import { judge } from './rollout/verdict.ts';

/**
 * Rolling restarts under load: two replicas of each service, all services at once as `kubectl apply` does it, again
 * and again. Every request must be answered as if nothing happened, and nothing may be lost or happen twice.
 * Exits with 1 where that is not so. Needs a running stack, as all tests do (STACK_FILE).
 *
 *   npm run bench:rollout -- --restarts 20
 */
const {
  values: { restarts },
} = commandLine({
  name: 'npm run bench:rollout',
  about: 'Counts failed requests of rolling restarts of all services under load.',
  options: { restarts: count('Restarts of each service', 100, { most: 10_000 }) },
});
const BLOCK_MS = 500;
const SHOWN = 20;

const chain = await startAnvil({ blockMs: BLOCK_MS });
const cluster = await startCluster(undefined, [chain]);
const fronts = await startFronts();
const receiver = await webhookReceiver();
try {
  await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url: receiver.url });
  const fleet = new Fleet(cluster, fronts, { NODE_ENV: 'production' });
  await fleet.start();

  const requests = new Requests((failure) => console.log(failure));
  const api = apiClient(`${fronts.gateway.url}/v1`, cluster.apiKeys.test);
  const merchant = newWallet(chain);
  const load = startLoad(api, chain, merchant.address, requests, { people: await peopleAt(cluster, fronts) });
  const began = performance.now();
  const elapsed = (): number => Math.round((performance.now() - began) / 1000);
  for (let round = 1; round <= restarts; round++) {
    await Promise.all(fleet.services.map((service) => fleet.restart(service)));
    if (round % 10 === 0)
      console.log(`${round} restarts of each service, ${elapsed()} s, ${requests.failures.length} failed requests`);
  }
  await load.stop();
  const seconds = elapsed();
  const received = await evmWallet(chain, merchant).tokenBalance(chain.tokens['USDC'] ?? '');
  const verdict = await judge({ cluster, promised: load.promised, receiver, received, archived: true });

  console.log('\n| request | responses | p50 ms | p99 ms | worst ms |\n| --- | ---: | ---: | ---: | ---: |');
  const summary = requests.summary();
  for (const { kind, count, p50, p99, worst } of summary)
    console.log(`| ${kind} | ${count} | ${p50.toFixed(0)} | ${p99.toFixed(0)} | ${worst.toFixed(0)} |`);
  console.log('\n| service | restarts | slowest start ms | slowest end ms |\n| --- | ---: | ---: | ---: |');
  for (const service of fleet.services) {
    const { done, worstStartMs, worstEndMs } = fleet.restartsOf(service);
    console.log(`| ${service} | ${done} | ${worstStartMs.toFixed(0)} | ${worstEndMs.toFixed(0)} |`);
  }
  const { created, paid, waiting } = load.promised;
  const reopened = [...paid.values(), ...waiting].reduce((total, { opened }) => total + opened() - 1, 0);
  const problems = [...verdict.problems, ...fleet.services.flatMap((service) => fleet.restartsOf(service).badEnds)];
  const totals = [
    `${created.size} intents, ${paid.size} of them paid on chain and finalized`,
    `${verdict.events} events`,
    `${receiver.received.length} webhooks (${verdict.repeatedWebhooks} repeated)`,
    `streams were reopened ${reopened} times`,
  ];
  console.log(`\n${totals.join(', ')}; ${seconds} s`);
  const findings = [
    `failed requests: ${requests.failures.length}`,
    `sent again after a 503: ${requests.repeats}`,
    `worst latency: ${Math.max(...summary.map(({ worst }) => worst)).toFixed(0)} ms`,
    `lost or doubled: ${verdict.problems.length}`,
    `bad ends: ${problems.length - verdict.problems.length}`,
  ];
  console.log(findings.join('; '));
  for (const problem of problems.slice(0, SHOWN)) console.log(problem);
  process.exitCode = requests.failures.length + problems.length === 0 ? 0 : 1;
} finally {
  for (const front of Object.values(fronts)) front.close();
  await receiver.close();
  await cluster.close();
  await chain.stop();
}
