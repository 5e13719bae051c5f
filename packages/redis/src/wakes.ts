import type { Logger } from '@pf/runtime';
import { within } from '@pf/runtime';
import { Queue, Worker } from 'bullmq';
import { z } from 'zod';
import { openConnection, type RedisConnection } from './connection.ts';
import { isResponsive } from './health.ts';

const NAME = 'wakes';
/** Jobs in one round trip to Redis. */
const CHUNK = 1_000;
const COMMAND_TIMEOUT_MS = 5_000;
const CLOSE_MS = 1_000;
/** More than a worker's blocking command of BullMQ waits for a job: 5 s, at most 10. */
const WORKER_COMMAND_TIMEOUT_MS = 20_000;
/** Jobs that a process takes at once: handling one takes no time. */
const CONCURRENCY = 64;

/** The prefix of the webhook service's keys. In braces: a Redis cluster keeps all keys of a queue on one node. */
const prefixOf = (prefix: string): string => `${prefix}{pf-webhook}`;

const wake = z.object({ endpointId: z.string() });
type Wake = z.infer<typeof wake>;

export interface WakesOptions {
  readonly redisUrl: string;
  /** REDIS_PREFIX: several stacks can share one server. */
  readonly prefix: string;
  readonly log: Logger;
}

/**
 * Tells the webhook services that a URL has something due: BullMQ hands each wake to one process, now or at its time.
 * Only a hint: Postgres knows what is due, and the services look there every 10 s.
 */
export class WakeQueue {
  readonly #redis: RedisConnection;
  readonly #queue: Queue<Wake>;

  /** @param onReady called when Redis is available, at the start and after each outage */
  constructor({ redisUrl, prefix, log }: WakesOptions, onReady: () => void = () => undefined) {
    // Adding jobs fails at once while Redis is unavailable.
    this.#redis = openConnection(redisUrl, {
      log,
      withoutRedis: 'what is due is sent when it is back',
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
    });
    this.#redis.on('ready', onReady);
    this.#queue = new Queue(NAME, {
      connection: this.#redis,
      prefix: prefixOf(prefix),
      skipWaitingForReady: true,
      skipVersionCheck: true,
      skipMetasUpdate: true,
      streams: { events: { maxLen: 100 } },
      defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
    });
    this.#queue.on('error', (error) => log.debug({ err: error }, 'queue of wakes'));
  }

  /** Wakes URLs now. @throws if Redis is unavailable */
  async wake(endpointIds: readonly string[]): Promise<void> {
    await this.#add(endpointIds.map((endpointId) => ({ name: 'wake', data: { endpointId } })));
  }

  /**
   * Wakes URLs now, as a client asks for it: once in a second, however often that is, so that Redis does not keep a job
   * for each request while no process takes them.
   * @throws if Redis is unavailable
   */
  async wakeForClient(endpointIds: readonly string[]): Promise<void> {
    const second = Math.floor(Date.now() / 1_000);
    await this.#add(
      endpointIds.map((endpointId) => ({
        name: 'wake',
        data: { endpointId },
        opts: { jobId: `${endpointId}-now-${second}` },
      })),
    );
  }

  /**
   * Wakes URLs at their times. The job's id is made of both, so several processes may do this at once.
   * @param now milliseconds since 1970, by the clock of `at`
   * @throws if Redis is unavailable
   */
  async wakeAt(wakes: readonly (Wake & { readonly at: Date })[], now: number): Promise<void> {
    await this.#add(
      wakes.map(({ endpointId, at }) => ({
        name: 'wake',
        data: { endpointId },
        opts: { jobId: `${endpointId}-${at.getTime()}`, delay: Math.max(0, at.getTime() - now) },
      })),
    );
  }

  /** True if Redis responds in time. */
  ready(timeoutMs: number): Promise<boolean> {
    return isResponsive(this.#redis, timeoutMs);
  }

  async close(): Promise<void> {
    await within(CLOSE_MS, this.#queue.close());
    this.#redis.disconnect();
  }

  async #add(jobs: Parameters<Queue<Wake>['addBulk']>[0]): Promise<void> {
    for (let start = 0; start < jobs.length; start += CHUNK)
      await this.#queue.addBulk(jobs.slice(start, start + CHUNK));
  }
}

/** The wakes that BullMQ hands to this process. */
export class WakeWorker {
  readonly #redis: RedisConnection;
  readonly #worker: Worker<Wake>;

  /** @param onWake must neither throw nor take time */
  constructor({ redisUrl, prefix, log }: WakesOptions, onWake: (endpointId: string) => void) {
    // It waits for Redis as long as it takes; a command without a response is repeated after the timeout.
    this.#redis = openConnection(redisUrl, {
      log,
      withoutRedis: 'what is due is found every 10 s',
      maxRetriesPerRequest: null,
      commandTimeout: WORKER_COMMAND_TIMEOUT_MS,
    });
    this.#worker = new Worker<Wake>(NAME, (job) => Promise.resolve(onWake(wake.parse(job.data).endpointId)), {
      connection: this.#redis,
      prefix: prefixOf(prefix),
      concurrency: CONCURRENCY,
      skipVersionCheck: true,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    this.#worker.on('failed', (_job, error) => log.warn({ err: error }, 'a wake cannot be understood'));
    this.#worker.on('error', (error) => log.debug({ err: error }, 'worker of wakes'));
  }

  /** Takes no more wakes. BullMQ itself would wait forever. */
  async close(): Promise<void> {
    await within(CLOSE_MS, this.#worker.close());
    this.#redis.disconnect();
  }
}
