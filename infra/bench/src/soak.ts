import { setTimeout as delay } from 'node:timers/promises';
import { addWebhookEndpoint } from '@pf/database';
import { commandLine, count, flag } from '@pf/local/command';
import { startCluster } from '@pf/testing';
import { heapOf, memoryOf } from './memory.ts';
import { median, p99 } from './percentiles.ts';
import { growthOf, type Window } from './soak/flatness.ts';
import { startMix } from './soak/mix.ts';
import { startReceivers } from './webhooks/processes.ts';

/**
 * Mixed work for half an hour at 70 % of what the services can take: whether their memory grows, and whether p99 stays
 * flat. One round of work is a create with an idempotency key, a read of it, a simulated payment with its webhooks, and
 * a page of the list. Needs a running stack and /proc. Exits with 1 if a goal is missed or a request failed.
 *
 *   npm run bench:soak -- --minutes 30 --share 0.7 --clients 32 --json
 */
const {
  values: { minutes, share, clients, json },
} = commandLine({
  name: 'npm run bench:soak',
  about: 'Measures memory and p99 of mixed work that goes on for long.',
  options: {
    minutes: count('How long', 30, { least: 6, most: 1_440 }),
    share: count('Of what the services can take', 0.7, { least: 0.05, most: 0.95, step: null }),
    clients: count('Clients at once', 32, { most: 1_000 }),
    json: flag('Print the figures as JSON'),
  },
});

/** As many rounds as get done, to learn what the services can take, after as long to warm up. */
const CAPACITY_S = 30;
const MINUTE_MS = 60_000;
const MB = 1_000_000;
const SAMPLES_A_MINUTE = 6;
/** Of the last third beside the third before it: the first third fills heaps and caches. */
const GOALS = { memory: 1.05, p99: 1.25 } as const;
/** Those of a container of 512 MiB: with the memory of a whole machine V8 has no reason to collect what is garbage. */
const ENVIRONMENT = { LOG_LEVEL: 'warn', NODE_ENV: 'production', NODE_OPTIONS: heapOf(358) };
const SERVICES = ['gateway', 'intent', 'webhook', 'archive'] as const;

const say = (text: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

const [cluster, receivers] = await Promise.all([startCluster(), startReceivers({ quick: 1 })]);
try {
  for (const url of receivers.quick)
    await addWebhookEndpoint(cluster.database, { accountId: cluster.accountId, livemode: false, url });
  const instances = await Promise.all(SERVICES.map((service) => cluster.start(service, { env: ENVIRONMENT })));
  const mix = startMix({ url: instances[0]?.url ?? '', apiKey: cluster.apiKeys.test, clients });
  await delay(CAPACITY_S * 1_000);
  mix.take();
  await delay(CAPACITY_S * 1_000);
  const capacity = mix.take().rounds / CAPACITY_S;
  mix.pace(capacity * share);
  say(`${capacity.toFixed(0)} rounds a second are possible; ${(capacity * share).toFixed(0)} from here on`);

  const memory = SERVICES.map((): number[] => []);
  const latency = new Map<string, number[]>();
  let rounds = 0;
  for (let minute = 1; minute <= minutes; minute++) {
    const samples = SERVICES.map((): number[] => []);
    for (let sample = 0; sample < SAMPLES_A_MINUTE; sample++) {
      await delay(MINUTE_MS / SAMPLES_A_MINUTE);
      instances.forEach((instance, place) => samples[place]?.push(memoryOf(instance.pid).now / MB));
    }
    samples.forEach((all, place) => memory[place]?.push(median(all)));
    const taken = mix.take();
    rounds += taken.rounds;
    for (const [kind, all] of taken.latencies) latency.set(kind, [...(latency.get(kind) ?? []), p99(all)]);
    const mb = memory.map((all, place) => `${SERVICES[place]} ${all.at(-1)?.toFixed(0)} MB`);
    say(`minute ${minute}: ${taken.rounds} rounds, ${mb.join(', ')}`);
  }
  const failures = await mix.stop();

  const rows: (Window & { readonly what: string; readonly unit: string; readonly goal: number })[] = [
    ...memory.map((all, place) => ({
      what: `memory of ${SERVICES[place]}`,
      unit: 'MB',
      ...growthOf(all),
      goal: GOALS.memory,
    })),
    ...[...latency].map(([kind, all]) => ({ what: `p99 of ${kind}`, unit: 'ms', ...growthOf(all), goal: GOALS.p99 })),
  ];
  const perSecond = rounds / minutes / 60;
  if (json) console.log(JSON.stringify({ minutes, clients, capacity, perSecond, failures, rows }, null, 2));
  else {
    console.log(`\n${minutes} minutes of ${perSecond.toFixed(0)} rounds a second, of ${capacity.toFixed(0)} possible`);
    console.log(
      `\n| medians of minutes | before | last third | ratio | at most |\n| --- | ---: | ---: | ---: | ---: |`,
    );
    for (const { what, unit, before, after, ratio, goal } of rows)
      console.log(
        `| ${what} | ${before.toFixed(0)} ${unit} | ${after.toFixed(0)} ${unit} | ${ratio.toFixed(2)} | ${goal} |`,
      );
    for (const failure of failures) console.log(`\nFailed: ${failure}`);
  }
  if (failures.length > 0 || rows.some(({ ratio, goal }) => ratio > goal)) process.exitCode = 1;
} finally {
  await cluster.close();
  await receivers.close();
}
