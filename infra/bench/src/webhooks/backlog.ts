import { addWebhookEndpoint } from '@pf/database';
import { readBackingStack, startCluster, until } from '@pf/testing';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { median } from '../percentiles.ts';
import { outstand, sentEvents } from './events.ts';
import { end, type Receivers, run, startReceivers } from './processes.ts';

/** Attempts at once to one URL, as in services/webhook. */
const PER_URL = 8;
const WITHIN_MS = 600_000;

/** Deliveries a second, the medians of all rounds. */
export interface Drained {
  readonly urls: number;
  readonly ours: number;
  readonly bare: number;
  /** The median of the rounds' ratios. */
  readonly ratio: number;
}

/** Drains a backlog to so many URLs of one account: our service and a bare loop in turns. */
export async function drain(urls: number, deliveries: number, rounds: number): Promise<Drained> {
  const receivers = await startReceivers({ quick: urls });
  try {
    const runs: { ours: number; bare: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const ours = await drainOurs(receivers, deliveries);
      runs.push({ ours, bare: await drainBare(receivers, deliveries) });
    }
    return {
      urls,
      ours: median(runs.map(({ ours }) => ours)),
      bare: median(runs.map(({ bare }) => bare)),
      ratio: median(runs.map(({ ours, bare }) => ours / bare)),
    };
  } finally {
    await receivers.close();
  }
}

/** Waits for all of them. @returns how many a second arrived, from the first to the last */
async function rate(receivers: Receivers, deliveries: number): Promise<number> {
  const { count, first, last } = await until(
    'all deliveries to arrive',
    async () => {
      const arrived = await receivers.arrived();
      return arrived.count >= deliveries ? arrived : null;
    },
    WITHIN_MS,
  );
  await receivers.forget();
  return (count / (last - first)) * 1_000;
}

async function drainOurs(receivers: Receivers, deliveries: number): Promise<number> {
  const cluster = await startCluster();
  try {
    const { database, accountId } = cluster;
    for (const url of receivers.quick) await addWebhookEndpoint(database, { accountId, livemode: false, url });
    await outstand(database, sentEvents(deliveries / receivers.quick.length, accountId));
    // A database that has run for a while knows its tables.
    await database.sql.query('ANALYZE');
    await cluster.start('webhook', { env: { LOG_LEVEL: 'warn', NODE_ENV: 'production' }, wait: false });
    const perSecond = await rate(receivers, deliveries);
    await until(
      'all results to be recorded',
      async () => (await database.prisma.delivery.count({ where: { status: 'delivered' } })) === deliveries,
      WITHIN_MS,
    );
    return perSecond;
  } finally {
    await cluster.close();
  }
}

async function drainBare(receivers: Receivers, deliveries: number): Promise<number> {
  const { redis: redisUrl } = readBackingStack();
  const prefix = `bench-${process.pid}-${Date.now()}`;
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue('bare', { connection: redis, prefix });
  const events = sentEvents(deliveries / receivers.quick.length, 'acct_bare');
  const jobs = events.flatMap(({ event: { eventId }, body }) =>
    receivers.quick.map((url) => ({
      name: 'deliver',
      data: { url, eventId, body },
      opts: { removeOnComplete: true, removeOnFail: true },
    })),
  );
  for (let start = 0; start < jobs.length; start += 1_000) await queue.addBulk(jobs.slice(start, start + 1_000));
  const loop = run(
    'bare-loop.ts',
    redisUrl,
    prefix,
    String(PER_URL * receivers.quick.length),
    `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  );
  try {
    return await rate(receivers, deliveries);
  } finally {
    await end(loop);
    await queue.obliterate({ force: true });
    await queue.close();
    redis.disconnect();
  }
}
