import { setTimeout as delay } from 'node:timers/promises';
import { eventIdOf } from '@pf/contracts';
import { addWebhookEndpoint, openAccount, removeWebhookEndpoint } from '@pf/database';
import type { IntentId } from '@pf/domain';
import { type Cluster, startCluster, startNameServer, until } from '@pf/testing';
import { z } from 'zod';
import { type Receivers, startReceivers } from './processes.ts';

/** URLs that do harm, ten to an account. */
const HANGING = 200;
const DEAD_NAMES = 50;
const DRIBBLING = 20;
const URLS_PER_ACCOUNT = 10;
/** Creates a second: those of the account that is measured, and those of all others together. */
const MEASURED_RATE = 10;
const OTHERS_RATE = 10;
const WARM_UP_S = 10;

const created = z.object({ intent: z.object({ id: z.string(), createdAt: z.string() }) });

/** Milliseconds: half and 99 of 100 are below. */
interface Latencies {
  readonly p50: number;
  readonly p99: number;
}
/** What a healthy account sees: how long its creates take, and from an event to the first attempt at its URL. */
export interface Seen {
  readonly creates: Latencies;
  readonly firstAttempts: Latencies;
}

interface Samples {
  readonly creates: number[];
  readonly firstAttempts: number[];
}

/** @returns the same load alone, and beside 270 URLs that hang, dribble, or whose name servers are dead; in turns */
export async function measureIsolation(
  seconds: number,
  rounds: number,
): Promise<{ readonly alone: Seen; readonly beside: Seen }> {
  const receivers = await startReceivers({ quick: 1, hanging: HANGING, dribbling: DRIBBLING });
  const names = await startNameServer(() => 'silent');
  const cluster = await startCluster();
  try {
    const { database, accountId, secretsKey } = cluster;
    const dead = Array.from({ length: DEAD_NAMES }, (_, index) => `http://dead-${index}.example/hooks`);
    const harmful = [...receivers.hanging, ...dead, ...receivers.dribbling];
    const others = await Promise.all(
      Array.from({ length: harmful.length / URLS_PER_ACCOUNT }, async (_, index) => ({
        ...(await openAccount(database, secretsKey, { name: `other ${index}` })),
        urls: harmful.slice(index * URLS_PER_ACCOUNT, (index + 1) * URLS_PER_ACCOUNT),
      })),
    );
    const urls = others.flatMap((other) => other.urls.map((url) => ({ accountId: other.id, livemode: false, url })));
    for (const url of receivers.quick) await addWebhookEndpoint(database, { accountId, livemode: false, url });
    const env = { LOG_LEVEL: 'warn', NODE_ENV: 'production' };
    const [gateway] = await Promise.all([
      cluster.start('gateway', { env }),
      cluster.start('intent', { env }),
      cluster.start('webhook', { env: { ...env, WEBHOOK_NAME_SERVERS: names.address } }),
    ]);
    const keys = others.map(({ apiKeys }) => apiKeys.test);
    const load = (forSeconds: number) => sample(cluster, gateway.url, keys, receivers, forSeconds);
    await load(WARM_UP_S);
    const [alone, beside] = [emptySamples(), emptySamples()];
    for (let round = 0; round < rounds; round++) {
      collect(alone, await load(seconds));
      for (const url of urls) await addWebhookEndpoint(database, url);
      collect(beside, await load(seconds));
      for (const url of urls) await removeWebhookEndpoint(database, { ...url, at: new Date() });
    }
    return { alone: summarize(alone), beside: summarize(beside) };
  } finally {
    await cluster.close();
    await names.close();
    await receivers.close();
  }
}

const emptySamples = (): Samples => ({ creates: [], firstAttempts: [] });
function collect(into: Samples, { creates, firstAttempts }: Samples): void {
  into.creates.push(...creates);
  into.firstAttempts.push(...firstAttempts);
}
const summarize = ({ creates, firstAttempts }: Samples): Seen => ({
  creates: latencies(creates),
  firstAttempts: latencies(firstAttempts),
});
function latencies(samples: readonly number[]): Latencies {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Creates at a steady rate, and waits for the webhooks of the account that is measured. */
async function sample(
  { apiKeys }: Cluster,
  url: string,
  others: readonly string[],
  receivers: Receivers,
  seconds: number,
): Promise<Samples> {
  await receivers.forget();
  const creates: number[] = [];
  const events: { readonly id: string; readonly at: number }[] = [];
  const create = async (key: string): Promise<void> => {
    const began = performance.now();
    const response = await fetch(`${url}/v1/intents`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        chain: 'eip155:84532',
        token: 'USDC',
        amount: '12.50',
        requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      }),
    });
    const { intent } = created.parse(await response.json());
    creates.push(performance.now() - began);
    const at = Date.parse(intent.createdAt);
    if (key === apiKeys.test) events.push({ id: eventIdOf(intent.id as IntentId, 1, at), at });
  };
  const work: Promise<void>[] = [];
  const began = performance.now();
  const ticks = seconds * (MEASURED_RATE + OTHERS_RATE);
  for (let tick = 0; tick < ticks; tick++) {
    const measured = tick % (MEASURED_RATE + OTHERS_RATE) < MEASURED_RATE;
    work.push(create(measured ? apiKeys.test : (others[tick % others.length] ?? apiKeys.test)));
    // By the clock, not by the responses: a slow service must not lower its own load.
    await delay(Math.max(0, began + ((tick + 1) * seconds * 1_000) / ticks - performance.now()));
  }
  await Promise.all(work);
  const arrivals = await until(
    'the webhooks of the healthy account',
    async () => {
      const [times = []] = await receivers.times();
      const known = new Map(times);
      return events.every(({ id }) => known.has(id)) ? known : null;
    },
    120_000,
  );
  return { creates, firstAttempts: events.map(({ id, at }) => Math.max(0, (arrivals.get(id) ?? Number.NaN) - at)) };
}
