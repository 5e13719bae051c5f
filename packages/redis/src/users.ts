/** The services that use Redis. */
export const REDIS_SERVICES = ['gateway', 'intent', 'webhook', 'dashboard'] as const;
export type RedisService = (typeof REDIS_SERVICES)[number];

/** The user of a service in Redis, as that in Kafka. */
export const redisUser = (service: RedisService): string => `pf-${service}`;

/** What every connection may do: log in, and learn what it is connected to. */
const CONNECTED = ['auth', 'hello', 'select', 'ping', 'info', 'quit', 'cluster|slots', 'cluster|shards'];
/**
 * What BullMQ and the token buckets do: data, and scripts that name keys, but nothing of the server or channels. The
 * names of all keys, those of others too, would tell whose addresses and intents have limits: `client tracking` tells
 * of each that changes, whatever keys the user may read.
 */
const DATA = ['+@all', '-@pubsub', '-@admin', '-@dangerous', '-scan', '-randomkey', '-client', '+client|setname'];
/** The webhook services' queue, and the gateways' token buckets, behind any REDIS_PREFIX. */
const [QUEUE, BUCKETS] = ['~*{pf-webhook}:*', '~*pf:limit:*'];

const rights = (patterns: readonly string[], before: readonly string[], commands: readonly string[]): string =>
  ['resetkeys', 'resetchannels', ...patterns, ...before, ...commands.map((name) => `+${name}`)].join(' ');

/**
 * What each service may do, as `ACL SETUSER` takes it (Redis 6.2 or newer): its own keys and channels alone. With the
 * credentials of one service, the replies to gateways cannot be read, and the limits of clients cannot be reset.
 */
export const REDIS_RIGHTS: Readonly<Record<RedisService, string>> = {
  gateway: rights([QUEUE, BUCKETS, '&pf:replies:*', '&pf:intent:*'], DATA, [...CONNECTED, 'subscribe', 'unsubscribe']),
  intent: rights(['&pf:replies:*', '&pf:intent:*', '&pf:account:*'], ['-@all'], [...CONNECTED, 'publish']),
  webhook: rights([QUEUE, '&pf:account:*'], DATA, [...CONNECTED, 'publish']),
  dashboard: rights(['&pf:account:*'], ['-@all'], [...CONNECTED, 'subscribe', 'unsubscribe']),
};
