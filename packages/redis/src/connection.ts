import type { Logger } from '@pf/runtime';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { redisAddress, type RedisAddress, type RedisNode } from './address.ts';
import { OutageLog } from './outage-log.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 100;
export const LONGEST_RETRY_MS = 1_000;

/** What ioredis connects. Only this package makes one. */
export type RedisConnection = Redis | Cluster;

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

/** A server that was demoted refuses writes: the primary is elsewhere. */
const isDemoted = (error: Error): boolean => error.message.startsWith('READONLY');

/** Without what says where: that is the URL's. */
export type SharedOptions = Pick<
  RedisOptions,
  | 'autoResendUnfulfilledCommands'
  | 'autoResubscribe'
  | 'commandTimeout'
  | 'enableOfflineQueue'
  | 'lazyConnect'
  | 'maxRetriesPerRequest'
  | 'socketTimeout'
>;

const EVERY_CONNECTION = {
  connectTimeout: CONNECT_TIMEOUT_MS,
  reconnectOnError: isDemoted,
  // It is read from a file of the library, which a bundle does not contain.
  disableClientInfo: true,
} satisfies RedisOptions;

/**
 * One connection, for pub/sub: to the server, to the sentinels' primary, or to any node of a cluster, because a cluster
 * hands a message to the subscribers of all of its nodes. The caller reports the recovery: what counts as one depends
 * on what the connection is for.
 */
export function connect(url: string, outage: OutageLog, options: SharedOptions): Redis {
  const connection = openRedis(addressOf(url), { ...EVERY_CONNECTION, ...options });
  connection.on('error', (error: Error) => outage.failed(error));
  return connection;
}

/** As `connect`, but reaches the keys of every node of a cluster. */
export function connectToKeys(url: string, outage: OutageLog, options: SharedOptions): RedisConnection {
  const address = addressOf(url);
  if (address.kind !== 'cluster') return connect(url, outage, options);
  const { nodes, tls, username, password } = address;
  const { enableOfflineQueue, lazyConnect, ...redisOptions } = options;
  const cluster = new Cluster([...nodes], {
    clusterRetryStrategy: (attempt) => retryDelayMs(attempt),
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    // Certificates have the names of nodes: the library would look these up and connect to addresses.
    dnsLookup: (host, callback) => callback(null, host),
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(lazyConnect !== undefined && { lazyConnect }),
    redisOptions: { ...EVERY_CONNECTION, ...redisOptions, ...login(username, password), ...(tls && { tls: {} }) },
  });
  cluster.on('error', (error: Error) => outage.failed(error));
  return cluster;
}

function addressOf(url: string): RedisAddress {
  const address = redisAddress(url);
  if (!address) throw new Error('REDIS_URL is invalid.');
  return address;
}

const login = (username?: string, password?: string): Pick<RedisOptions, 'username' | 'password'> => ({
  ...(username !== undefined && { username }),
  ...(password !== undefined && { password }),
});

function openRedis(address: RedisAddress, options: RedisOptions): Redis {
  const retryStrategy = (attempt: number): number => retryDelayMs(attempt);
  if (address.kind === 'server') return new Redis(address.url, { retryStrategy, ...options });
  const { nodes, tls, username, password } = address;
  const shared: RedisOptions = { ...options, ...login(username, password), ...(tls && { tls: {} }) };
  if (address.kind === 'sentinel') {
    const { name, sentinelUsername, sentinelPassword } = address;
    return new Redis({
      ...shared,
      retryStrategy,
      sentinelRetryStrategy: retryDelayMs,
      sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
      sentinels: [...nodes],
      name,
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    });
  }
  let next = Math.floor(Math.random() * nodes.length);
  const nextNode = (): RedisNode => nodes[next++ % nodes.length] ?? nodes[0];
  const connection: Redis = new Redis({
    ...shared,
    ...nextNode(),
    retryStrategy: (attempt) => {
      Object.assign(connection.options, nextNode());
      return retryDelayMs(attempt);
    },
  });
  return connection;
}

export interface ConnectionOptions extends SharedOptions {
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
  const connection = connectToKeys(url, outage, options);
  connection.on('ready', () => outage.recovered());
  return connection;
}
