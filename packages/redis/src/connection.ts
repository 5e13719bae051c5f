import type { Logger } from '@pf/runtime';
import { Redis, type RedisOptions } from 'ioredis';
import { OutageLog } from './outage-log.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 100;
export const LONGEST_RETRY_MS = 1_000;

/** A connection of ioredis. Only this package makes one. */
export type RedisConnection = Redis;

/**
 * How long to wait before the next attempt to connect: doubled each time up to 1 s, at random between half and all of
 * it, so that the processes of a cluster do not come back at the same moment.
 *
 * @param attempt counted from 1
 * @param random in [0, 1)
 * @returns milliseconds
 */
export function retryDelayMs(attempt: number, random = Math.random()): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LONGEST_RETRY_MS) * (0.5 + random / 2);
}

/** The caller reports the recovery: what counts as one depends on what the connection is for. */
export function connect(url: string, outage: OutageLog, options: RedisOptions): RedisConnection {
  const connection = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (attempt) => retryDelayMs(attempt),
    // It is read from a file of the library, which a bundle does not contain.
    disableClientInfo: true,
    ...options,
  });
  connection.on('error', (error: Error) => outage.failed(error));
  return connection;
}

export interface ConnectionOptions extends Omit<RedisOptions, 'retryStrategy'> {
  readonly log: Logger;
  /** What the process does without Redis: completes the log message "Redis is unavailable: …". */
  readonly withoutRedis: string;
}

/**
 * Opens a connection that reconnects until it is closed by `disconnect()`, and logs each outage once. For clients that
 * need the connection itself, such as BullMQ; others use `RedisClient`, `ChannelPublisher` or `ChannelSubscriber`.
 */
export function openConnection(url: string, { log, withoutRedis, ...options }: ConnectionOptions): RedisConnection {
  const outage = new OutageLog(log, withoutRedis);
  const connection = connect(url, outage, options);
  connection.on('ready', () => outage.recovered());
  return connection;
}
