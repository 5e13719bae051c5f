import type { Database } from '@pf/database';
import type { EventLog } from '@pf/event-log';
import type { Logger } from '@pf/runtime';
import { watchBacklog } from './backlog.ts';
import { createRetention } from './retention.ts';
import { Deliverer } from './deliverer.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { DueNotices } from './due-notices.ts';
import { EventConsumer } from './event-consumer.ts';
import { EndpointConcurrency } from './endpoint-concurrency.ts';
import { Scheduler } from './scheduler.ts';
import { createSecretCache } from './secret-cache.ts';
import { createSender } from './sender.ts';

const GROUP = 'webhook';
/** Attempts under way in a process, and those of one URL among them: fifty URLs that hang slow nobody else down. */
const CONCURRENCY = 400;
const LANE_WIDTH = 8;
/** Well within the promise of 60 s after a loss of Redis. */
const SWEEP_MS = 10_000;
/** How far ahead of its time a delivery is scheduled: some sweeps may fail meanwhile. */
const AHEAD_MS = 30_000;
const PATIENCE_MS = 60_000;
/** An attempt takes 15 s at most; the whole shutdown has 25 s. */
const CLOSE_MS = 17_000;
/** Without a sign of life for so long the process is taken for stuck. */
const STUCK_MS = 60_000;

export interface WebhookServiceOptions {
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  /** 32 bytes: encrypts the webhook secrets. */
  readonly secretsKey: Buffer;
  readonly allowPrivateHosts: boolean;
  readonly log: Logger;
  /** The consumer cannot go on: the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
  /** For one request in all, milliseconds. Default 15 s. */
  readonly sendTimeoutMs?: number;
}

export interface WebhookService {
  /** Schedules what is outstanding now, as it happens every 10 s by itself. */
  sweep(): Promise<number>;
  live(): boolean;
  redisReady(): Promise<boolean>;
  /** Stops reading the log, then sending; waits for what is under way. */
  stop(): Promise<void>;
}

/** Starts the whole service on parts that are given: the log's consumer, the sweeps, and the workers that send. */
export async function startWebhookService(options: WebhookServiceOptions): Promise<WebhookService> {
  const { database, log, now = Date.now } = options;
  const queue = new DeliveryQueue({
    redisUrl: options.redisUrl,
    prefix: options.redisPrefix,
    concurrency: CONCURRENCY,
    log,
    now,
    onReady: () => scheduler.hurry(),
  });
  const scheduler = new Scheduler({
    database,
    queue,
    log,
    now,
    sweepMs: SWEEP_MS,
    aheadMs: AHEAD_MS,
    patienceMs: PATIENCE_MS,
  });
  const sender = createSender({
    allowPrivate: options.allowPrivateHosts,
    ...(options.sendTimeoutMs !== undefined && { timeoutMs: options.sendTimeoutMs }),
  });
  const deliverer = new Deliverer({
    database,
    sender,
    secrets: createSecretCache(database, options.secretsKey),
    log,
    now,
  });
  const lanes = new EndpointConcurrency(LANE_WIDTH);
  const notices = new DueNotices(options.redisUrl, (due) => scheduler.announce([due]), log);
  const cleaning = createRetention(database, log, now);
  const consumer = options.eventLog.group(
    GROUP,
    'intent.events',
    new EventConsumer({ database, log, now, announce: (deliveries) => scheduler.announce(deliveries) }),
    options.onCrash,
  );
  let stopping = false;

  queue.start(({ deliveryId, endpointId }) =>
    lanes.run(
      endpointId,
      () => deliverer.attempt({ deliveryId }),
      async () => !stopping && deliverer.attempt({ endpointId }),
    ),
  );
  scheduler.start();
  notices.open();
  cleaning.start();
  const backlog = watchBacklog(database, log, now);
  await consumer.start();

  return {
    sweep: () => scheduler.sweep(),
    live: () => consumer.idleMs() < STUCK_MS && scheduler.idleMs() < STUCK_MS,
    redisReady: () => queue.ready(1_000),
    async stop() {
      stopping = true;
      notices.close();
      await consumer.stop();
      await cleaning.stop();
      await backlog.stop();
      await scheduler.stop();
      await queue.close(CLOSE_MS);
      await sender.close();
    },
  };
}
