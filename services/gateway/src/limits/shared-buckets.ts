import type { Quota } from '@pf/contracts';
import type { RedisClient } from '@pf/redis';
import { z } from 'zod';
import type { Taken } from '@pf/runtime';

/**
 * Takes tokens from a bucket that all gateways share: TokenBucket in Redis, with the clock of Redis. A key expires when
 * its bucket would be full: a missing bucket is a full one.
 */
const TAKE = `
  local capacity, per_ms, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local time = redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
  local level = capacity
  if bucket[1] then level = math.min(capacity, bucket[1] + math.max(0, now - bucket[2]) * per_ms) end
  local taken = math.min(wanted, math.floor(level))
  level = level - taken
  redis.call('HSET', KEYS[1], 'level', string.format('%.6f', level), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - level) / per_ms) + 1000)
  local left = math.floor(level)
  return { taken, left, math.ceil((left + 1 - level) / per_ms) }`;

const reply = z.tuple([z.int(), z.int(), z.int()]);

/** The token buckets in Redis. */
export class SharedBuckets {
  readonly #redis: RedisClient;
  readonly #prefix: string;

  /** @param prefix of all keys, so that several stacks can share a Redis */
  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#prefix = `${prefix}pf:limit:`;
  }

  /** @returns null if Redis is unavailable, or does not respond in time */
  async take(name: string, { requests, windowSeconds }: Quota, wanted: number): Promise<Taken | null> {
    const result = await this.#redis.run(
      'takeTokens',
      TAKE,
      [this.#prefix + name],
      [requests, requests / (windowSeconds * 1_000), wanted],
    );
    const parsed = reply.safeParse(result);
    if (!parsed.success) return null;
    const [tokens, left, nextMs] = parsed.data;
    return { tokens, left, nextMs };
  }
}
