import type { OutstandingDelivery } from '@pf/database';
import { isResponsive, openConnection, type RedisConnection } from '@pf/redis';
import { type Logger, within } from '@pf/runtime';
import { Queue, Worker } from 'bullmq';
import { z } from 'zod';

const NAME = 'deliveries';
/** Jobs in one round trip to Redis. */
const CHUNK = 1_000;
const COMMAND_TIMEOUT_MS = 5_000;
const CLOSE_MS = 1_000;
/** More than a worker's blocking command of BullMQ waits for a job: 5 s, at most 10. */
const WORKER_COMMAND_TIMEOUT_MS = 20_000;

const jobData = z.object({ deliveryId: z.string(), endpointId: z.string() });
/** The data of a job: a delivery that should be due. Postgres decides whether it is. */
export type DueDelivery = z.infer<typeof jobData>;

export interface DeliveryQueueOptions {
  readonly redisUrl: string;
  /** Prefix of all keys: several stacks can share one server. */
  readonly prefix: string;
  /** Jobs under way at once in this process. */
  readonly concurrency: number;
  readonly log: Logger;
  readonly now: () => number;
  /** Called when Redis is available, at the start and after each outage. */
  readonly onReady: () => void;
}

/**
 * BullMQ as a timer: it tells one process at a time when a delivery is due. All its data can be lost; a job that fails
 * or finds nothing to do is dropped.
 */
export class DeliveryQueue {
  readonly #options: DeliveryQueueOptions;
  readonly #redis: RedisConnection;
  readonly #workerRedis: RedisConnection;
  readonly #queue: Queue<DueDelivery>;
  #worker: Worker<DueDelivery> | null = null;

  constructor(options: DeliveryQueueOptions) {
    this.#options = options;
    // Adding jobs fails at once while Redis is unavailable: the next sweep adds them.
    this.#redis = openConnection(options.redisUrl, {
      log: options.log,
      withoutRedis: 'deliveries are scheduled when it is back',
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
    });
    // The worker waits for Redis as long as it takes; a command without a response is repeated after the timeout.
    this.#workerRedis = openConnection(options.redisUrl, {
      log: options.log,
      withoutRedis: 'no delivery is attempted until it is back',
      maxRetriesPerRequest: null,
      commandTimeout: WORKER_COMMAND_TIMEOUT_MS,
    });
    this.#redis.on('ready', options.onReady);
    this.#queue = new Queue(NAME, {
      connection: this.#redis,
      prefix: options.prefix,
      skipWaitingForReady: true,
      skipVersionCheck: true,
      skipMetasUpdate: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', (error) => options.log.debug({ err: error }, 'queue'));
  }

  /** Starts the worker: `handle` is called when a delivery is due, for up to `concurrency` deliveries at once. */
  start(handle: (due: DueDelivery) => Promise<unknown>): void {
    const { prefix, concurrency, log } = this.#options;
    this.#worker = new Worker<DueDelivery>(NAME, (job) => handle(jobData.parse(job.data)), {
      connection: this.#workerRedis,
      prefix,
      concurrency,
      skipVersionCheck: true,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('failed', (_job, error) =>
      log.warn({ err: error }, 'a delivery could not be attempted: a sweep schedules it again'),
    );
    this.#worker.on('error', (error) => log.debug({ err: error }, 'queue worker'));
  }

  /**
   * Schedules each delivery for when it is due. The job's id is made of the delivery, the attempt and the time, so
   * adding it again changes nothing, and a delivery with a new due time gets another job.
   * @throws if Redis is unavailable
   */
  async schedule(deliveries: readonly OutstandingDelivery[]): Promise<void> {
    const now = this.#options.now();
    for (let start = 0; start < deliveries.length; start += CHUNK) {
      await this.#queue.addBulk(
        deliveries.slice(start, start + CHUNK).map(({ id, endpointId, attemptCount, nextAttemptAt }) => ({
          name: 'deliver',
          data: { deliveryId: id, endpointId },
          opts: {
            jobId: `${id}-${attemptCount + 1}-${nextAttemptAt.getTime()}`,
            delay: Math.max(0, nextAttemptAt.getTime() - now),
          },
        })),
      );
    }
  }

  /** True if Redis responds in time. */
  ready(timeoutMs: number): Promise<boolean> {
    return isResponsive(this.#redis, timeoutMs);
  }

  /** Takes no more jobs and waits for those under way, at most `timeoutMs`: BullMQ itself would wait forever. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#worker) await within(timeoutMs, this.#worker.close());
    await within(CLOSE_MS, this.#queue.close());
    this.#redis.disconnect();
    this.#workerRedis.disconnect();
  }
}
