/** The services that use Redis. */
export const REDIS_SERVICES = ['gateway', 'intent', 'webhook', 'dashboard'] as const;
export type RedisService = (typeof REDIS_SERVICES)[number];

/** The user of a service in Redis, as that in Kafka. */
export const redisUser = (service: RedisService): string => `pf-${service}`;

const added = (names: string): readonly string[] => names.split(' ').map((name) => `+${name}`);

/**
 * What every connection may do: log in, and learn what it is connected to. ioredis takes a server for ready by `INFO`:
 * numbers of the server, neither keys nor values.
 */
const CONNECTED = added('auth hello select ping info quit asking cluster|slots cluster|shards cluster|info');
const LISTENING = added('subscribe unsubscribe');
const PUBLISHING = added('publish');
/**
 * What BullMQ and the token buckets do: data, and scripts that name keys. Nothing that is about the server or all of
 * its keys, which no pattern of keys limits: `KEYS`, `SCAN`, `CLIENT`, the functions and the cached scripts of others,
 * or `SORT`, whose patterns read any key. That one is in the categories of its types, and dangerous.
 */
const DATA = [
  ...added('@string @hash @list @set @sortedset @stream'),
  '-@dangerous',
  ...added('del unlink exists type rename persist pexpire pexpireat pttl time'),
  ...added('multi exec eval evalsha script|exists script|load client|setname'),
];
/** The webhook services' queue, and the gateways' token buckets, behind any REDIS_PREFIX. */
const [QUEUE, BUCKETS] = ['~*{pf-webhook}:*', '~*pf:limit:*'];

const rights = (patterns: readonly string[], ...commands: readonly (readonly string[])[]): string =>
  ['resetkeys', 'resetchannels', ...patterns, '-@all', ...commands.flat(), ...CONNECTED].join(' ');

/**
 * What each service may do, as `ACL SETUSER` takes it (Redis 6.2 or newer): its own keys and channels alone, and of the
 * commands those that it uses. With the credentials of one service, the replies to gateways cannot be read, and the
 * limits of clients cannot be reset.
 */
export const REDIS_RIGHTS: Readonly<Record<RedisService, string>> = {
  gateway: rights([QUEUE, BUCKETS, '&pf:replies:*', '&pf:intent:*'], DATA, LISTENING),
  intent: rights(['&pf:replies:*', '&pf:intent:*', '&pf:account:*'], PUBLISHING),
  webhook: rights([QUEUE, '&pf:account:*'], DATA, PUBLISHING),
  dashboard: rights(['&pf:account:*'], LISTENING),
};
