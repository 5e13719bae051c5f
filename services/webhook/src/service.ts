import { createStore, type Database } from '@pf/database';
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
/** Attempts under way in a process, and those of one endpoint: up to 49 endpoints that hang leave room for others. */
const CONCURRENCY = 400;
const ENDPOINT_CONCURRENCY = 8;
/** Well within 60 s, in which deliveries must be scheduled again after Redis lost its data. */
const SWEEP_MS = 10_000;
/** How far ahead of its time a delivery is scheduled: some sweeps may fail in between. */
const AHEAD_MS = 30_000;
const VISIBLE_WITHIN_MS = 60_000;
/** An attempt takes 15 s at most; the whole shutdown has 25 s. */
const CLOSE_MS = 17_000;
/** Without progress for so long the process counts as stuck. */
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
  /** Called if the consumer cannot go on: the process should end and be restarted. */
  readonly onCrash: (error: Error) => void;
  /**
   * Milliseconds since 1970, by a clock that all processes share: by it deliveries are due, leased and signed. Default:
   * the system's clock.
   */
  readonly now?: () => number;
  /** For one whole request, milliseconds. Default 15 s. */
  readonly sendTimeoutMs?: number;
}

export interface WebhookService {
  /** Schedules what is outstanding now; this also happens every 10 s by itself. */
  sweep(): Promise<number>;
  live(): boolean;
  redisReady(): Promise<boolean>;
  /** Stops reading the log, then sending; waits for attempts under way. */
  stop(): Promise<void>;
}

/** Starts the service: the consumer of the log, the sweeps, and the workers that send. */
export async function startWebhookService(options: WebhookServiceOptions): Promise<WebhookService> {
  const { database, log, now = Date.now } = options;
  const queue = new DeliveryQueue({
    redisUrl: options.redisUrl,
    prefix: options.redisPrefix,
    concurrency: CONCURRENCY,
    log,
    now,
    onReady: () => scheduler.sweepNow(),
  });
  const scheduler = new Scheduler({
    database,
    queue,
    log,
    now,
    sweepMs: SWEEP_MS,
    aheadMs: AHEAD_MS,
    visibleWithinMs: VISIBLE_WITHIN_MS,
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
  const endpoints = new EndpointConcurrency(ENDPOINT_CONCURRENCY);
  const dueNotices = new DueNotices(options.redisUrl, (due) => scheduler.announce([due]), log);
  const retention = createRetention(database, log, now);
  const consumer = options.eventLog.group(
    GROUP,
    'intent.events',
    new EventConsumer({
      store: createStore(database).webhooks,
      log,
      now,
      announce: (deliveries) => scheduler.announce(deliveries),
    }),
    options.onCrash,
  );
  let stopping = false;

  queue.start(({ deliveryId, endpointId }) =>
    endpoints.run(
      endpointId,
      () => deliverer.attempt({ deliveryId }),
      async () => !stopping && deliverer.attempt({ endpointId }),
    ),
  );
  scheduler.start();
  dueNotices.open();
  retention.start();
  const backlog = watchBacklog(database, log, now);
  await consumer.start();

  return {
    sweep: () => scheduler.sweep(),
    live: () => consumer.idleMs() < STUCK_MS && scheduler.idleMs() < STUCK_MS,
    redisReady: () => queue.ready(1_000),
    async stop() {
      stopping = true;
      dueNotices.close();
      await consumer.stop();
      await retention.stop();
      await backlog.stop();
      await scheduler.stop();
      await queue.close(CLOSE_MS);
      await sender.close();
    },
  };
}
