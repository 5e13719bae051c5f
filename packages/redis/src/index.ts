/**
 * Redis carries hints only: replies, notices, token buckets and the webhook service's timers. All of it can be lost,
 * because the truth is in Kafka and Postgres. So nothing here makes a caller wait for Redis, and every connection
 * reconnects for as long as its process runs.
 */
export { redisUrl } from './address.ts';
export * from './channels.ts';
export { RedisClient, type RedisClientOptions } from './client.ts';
export { openConnection, type ConnectionOptions, type RedisConnection } from './connection.ts';
export { isResponsive } from './health.ts';
export { ChannelPublisher, type ChannelMessage } from './publisher.ts';
export { signed, verified } from './signature.ts';
export { ChannelSubscriber, type ChannelListener } from './subscriber.ts';
