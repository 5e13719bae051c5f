import { isReplayId } from '@pf/contracts';
import { createStore, type Database, type Keyring, type Wake } from '@pf/database';
import { createSender, type EgressOptions } from '@pf/egress';
import type { EventLog } from '@pf/event-log';
import { accountChannels, type AccountMode, ChannelPublisher } from '@pf/redis';
import { WakeQueue, WakeWorker } from '@pf/redis/wakes';
import type { Logger } from '@pf/runtime';
import { watchBacklog } from './backlog.ts';
import { createCatchUp } from './catch-up.ts';
import { createRetention } from './retention.ts';
import { Deliverer } from './deliverer.ts';
import { EventConsumer } from './event-consumer.ts';
import { Lanes, type Shares } from './lanes.ts';
import { Replayer } from './replayer.ts';
import { createSecretCache } from './secret-cache.ts';
import { Sweeper } from './sweeper.ts';

const GROUP = 'webhook';
/**
 * Attempts under way in a process. URLs that are slow or fail have slots of their own, and so has each mode: none takes
 * any of the others'. A quarter is kept for accounts that have nothing under way.
 */
const SHARES: Shares = {
  live: {
    quick: { slots: 400, reserved: 100, perAccount: 32, aside: 800 },
    slow: { slots: 200, reserved: 50, perAccount: 16, aside: 0 },
    failing: { slots: 200, reserved: 50, perAccount: 32, aside: 0 },
  },
  test: {
    quick: { slots: 200, reserved: 50, perAccount: 32, aside: 400 },
    slow: { slots: 100, reserved: 25, perAccount: 16, aside: 0 },
    failing: { slots: 100, reserved: 25, perAccount: 32, aside: 0 },
  },
  perUrl: 8,
  perSlowUrl: 4,
  lateAfterMs: 2_000,
};
/** Well within 60 s, in which everything must be scheduled again after Redis lost its data. */
const SWEEP_MS = 10_000;
/** How far ahead of its time a lane is woken: some sweeps may fail in between. */
const AHEAD_MS = 30_000;
/** An attempt takes 15 s at most; the whole shutdown has 25 s. */
const CLOSE_MS = 17_000;
/** Without progress for so long the process counts as stuck. */
const STUCK_MS = 60_000;

export interface WebhookServiceOptions {
  readonly database: Database;
  readonly eventLog: EventLog;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  /** Decrypts the webhook secrets. */
  readonly secretsKey: Keyring;
  /** How receivers are reached. */
  readonly egress: EgressOptions;
  /** How many deliveries of an account and mode replays make due in a second. Default 100. */
  readonly replaysPerSecond?: number;
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
  /** From which time on a request is late, which makes its URL a slow one, milliseconds. Default 2 s. */
  readonly lateAfterMs?: number;
}

export interface WebhookService {
  /** Wakes what is outstanding now; this also happens every 10 s by itself. */
  sweep(): Promise<number>;
  live(): boolean;
  redisReady(): Promise<boolean>;
  /** Stops reading the log, then sending; waits for attempts under way. */
  stop(): Promise<void>;
}

/** Starts the service: the consumer of the log, the sweeps, and the lanes that send. */
export async function startWebhookService(options: WebhookServiceOptions): Promise<WebhookService> {
  const { database, log, now = Date.now } = options;
  const sender = createSender({
    ...options.egress,
    ...(options.sendTimeoutMs !== undefined && { timeoutMs: options.sendTimeoutMs }),
  });
  const deliverer = new Deliverer({
    sender,
    secrets: createSecretCache(database, options.secretsKey),
    log,
    now,
  });
  const announce = (endpointIds: readonly string[]): void =>
    void queue.wake(endpointIds).catch(() => endpointIds.forEach((id) => lanes.wake(id)));
  const publisher = new ChannelPublisher(options.redisUrl, { log, withoutRedis: 'pages show deliveries later' });
  /** Tells the pages of these accounts that there is something new. */
  const notice = (accounts: readonly AccountMode[]): void =>
    publisher.publish(accountChannels(accounts).map((channel) => ({ channel, text: '' })));
  const shares = { ...SHARES, lateAfterMs: options.lateAfterMs ?? SHARES.lateAfterMs };
  const lanes = new Lanes({ database, deliverer, log, now, shares, announce, attempted: notice });
  const redis = { redisUrl: options.redisUrl, prefix: options.redisPrefix, log };
  const queue = new WakeQueue(redis, () => sweeper.sweepNow());
  /** Lanes are handed out by BullMQ, one process each; without Redis this process takes them all. */
  const handOut = async (wakes: readonly Wake[]): Promise<void> => {
    try {
      await queue.wakeAt(wakes, now());
    } catch (error) {
      log.debug({ err: error }, 'lanes are woken without Redis');
      for (const { endpointId, at } of wakes) if (at.getTime() <= now()) lanes.wake(endpointId);
    }
  };
  const sweeper = new Sweeper({ database, wake: handOut, log, now, pauseMs: SWEEP_MS, aheadMs: AHEAD_MS });
  const replayer = new Replayer({ database, announce, log, now, perSecond: options.replaysPerSecond ?? 100 });
  const catchUp = createCatchUp({ database, announce, log, now });
  const retention = createRetention(database, log, now);
  const consumer = options.eventLog.group(
    GROUP,
    'intent.events',
    new EventConsumer({
      store: createStore(database).webhooks,
      log,
      now,
      announce(deliveries, events) {
        announce([...new Set(deliveries.map(({ endpointId }) => endpointId))]);
        notice(events);
      },
    }),
    options.onCrash,
  );
  const worker = new WakeWorker(redis, (id) => (isReplayId(id) ? replayer.wake() : lanes.wake(id)));
  sweeper.start();
  replayer.start();
  catchUp.start();
  retention.start();
  const backlog = watchBacklog(database, log, now);
  await consumer.start();

  return {
    sweep: () => sweeper.sweep(),
    live: () => consumer.idleMs() < STUCK_MS && sweeper.idleMs() < STUCK_MS,
    redisReady: () => queue.ready(1_000),
    async stop() {
      const tasks = [retention, backlog, sweeper, replayer, catchUp];
      const idle = Promise.all([worker.close(), ...tasks.map((task) => task.stop())]);
      await consumer.stop();
      await lanes.stop(CLOSE_MS);
      await idle;
      await queue.close();
      await publisher.close();
      await sender.close();
    },
  };
}
