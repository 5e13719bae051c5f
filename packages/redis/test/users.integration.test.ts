import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readBackingStack } from '@pf/testing';
import { openConnection, type RedisConnection } from '../src/index.ts';
import { REDIS_RIGHTS, REDIS_SERVICES, redisUser, type RedisService } from '../src/users.ts';
import { recordedLog } from './recorded-log.ts';

const { redis } = readBackingStack();
const connect = (url: string): RedisConnection =>
  openConnection(url, { log: recordedLog().log, withoutRedis: 'the test fails' });
const admin = connect(redis);
const run = randomUUID();
/** Users of this test with the rights that stand in the source: those of the stack have them since it was started. */
const nameOf = (service: RedisService): string => `${redisUser(service)}-${run}`;
let users: Record<RedisService, RedisConnection>;

beforeAll(async () => {
  for (const service of REDIS_SERVICES)
    await admin.call('acl', 'setuser', nameOf(service), 'on', '>local', ...REDIS_RIGHTS[service].split(' '));
  users = Object.fromEntries(
    REDIS_SERVICES.map((service) => [service, connect(redis.replace('admin:', `${nameOf(service)}:`))]),
  ) as typeof users;
});
afterAll(async () => {
  for (const connection of Object.values(users)) connection.disconnect();
  await admin.call('acl', 'deluser', ...REDIS_SERVICES.map(nameOf));
  admin.disconnect();
});

const BUCKET = 'test:pf:limit:account:acct_test';
const QUEUE = 'test:{pf-webhook}:wakes:wait';
const REPLIES = 'pf:replies:test';

const withValues = (names: string, ...values: readonly string[]): Record<string, readonly string[]> =>
  Object.fromEntries(names.split(' ').map((name) => [name, values]));
/** Values with which each command of BullMQ's scripts is a valid one. */
const USES: Readonly<Record<string, readonly string[]>> = {
  ...withValues('multi exec time'),
  ...withValues('del exists get hgetall hlen incr llen lpop persist pttl rpop scard smembers type unlink', QUEUE),
  ...withValues('xlen zcard zpopmin', QUEUE),
  ...withValues('bzpopmin incrby lindex pexpire pexpireat', QUEUE, '1'),
  ...withValues('hdel hexists hget hmget lpos lpush rpush sadd set sismember srem xdel zrem zscore', QUEUE, 'x'),
  ...withValues('rename rpoplpush', QUEUE, QUEUE),
  ...withValues('hincrby hmset hset', QUEUE, 'x', '1'),
  ...withValues('lrem lset zadd', QUEUE, '1', 'x'),
  ...withValues('lrange ltrim zcount zrange zrangebyscore zremrangebyrank zremrangebyscore', QUEUE, '0', '1'),
  ...withValues('zrevrange zrevrangebyscore', QUEUE, '0', '1'),
  ...withValues('xrange zlexcount zrangebylex', QUEUE, '-', '+'),
  xadd: [QUEUE, '*', 'x', '1'],
  xread: ['streams', QUEUE, '0'],
  xtrim: [QUEUE, 'maxlen', '1'],
};

describe('the user of a service in Redis', () => {
  it.each([
    ['gateway', ['set', BUCKET, '1']],
    ['gateway', ['lpush', QUEUE, 'endpoint']],
    ['gateway', ['eval', "return redis.call('TIME')", 0]],
    ['webhook', ['lpush', QUEUE, 'endpoint']],
    ['webhook', ['client', 'setname', 'wakes']],
    ['webhook', ['publish', 'pf:account:acct_test:test', '']],
    ['intent', ['publish', REPLIES, '[]']],
    ['intent', ['publish', 'pf:intent:pi_test', '{}']],
  ] as const)('lets %s do what it has to do: %p', async (service, [command, ...values]) => {
    await expect(users[service].call(command, ...values)).resolves.toBeDefined();
    await admin.del(BUCKET, QUEUE);
  });

  it.each([
    ['webhook', 'forge replies', ['publish', REPLIES, '[]']],
    ['webhook', 'read replies', ['subscribe', REPLIES]],
    ['webhook', 'read all there is', ['psubscribe', '*']],
    ['webhook', 'give clients their limits back', ['del', BUCKET]],
    ['webhook', 'list the keys of others', ['scan', '0']],
    ['webhook', 'list the keys of others by a script', ['eval', "return redis.call('scan', '0')", 0]],
    ['webhook', 'draw keys of others', ['randomkey']],
    ['webhook', 'be told of the keys of others', ['client', 'tracking', 'on', 'bcast']],
    ['webhook', 'reach limits by a script', ['eval', `return redis.call('del', '${BUCKET}')`, 0]],
    ['dashboard', 'forge notices', ['publish', 'pf:account:acct_test:test', '']],
    ['dashboard', 'read replies', ['subscribe', REPLIES]],
    ['dashboard', 'wake webhooks', ['lpush', QUEUE, 'endpoint']],
    ['intent', 'read replies', ['subscribe', REPLIES]],
    ['intent', 'wake webhooks', ['lpush', QUEUE, 'endpoint']],
    ['gateway', 'forge replies', ['publish', REPLIES, '[]']],
  ] as const)('does not let %s %s', async (service, _what, [command, ...values]) => {
    await expect(users[service].call(command, ...values)).rejects.toThrow(/^NOPERM|can't (access|run)/);
  });

  it.each(REDIS_SERVICES)('lets %s run nothing that harms others, or tells of them', async (service) => {
    for (const [name, ...values] of [
      ['function', 'load', "#!lua name=test\nredis.register_function('test', function() end)"],
      ['function', 'flush'],
      ['function', 'delete', 'test'],
      ['function', 'kill'],
      ['function', 'list'],
      ['fcall', 'test', '0'],
      ['script', 'flush'],
      ['script', 'kill'],
      ['script', 'debug', 'no'],
      ['client', 'list'],
      ['client', 'info'],
      ['client', 'kill', 'type', 'normal'],
      ['client', 'pause', '1'],
      ['client', 'unblock', '1'],
      ['client', 'no-evict', 'on'],
      ['client', 'tracking', 'on', 'bcast'],
      ['acl', 'list'],
      ['acl', 'log', 'reset'],
      ['acl', 'setuser', 'thief', 'on'],
      ['config', 'get', '*'],
      ['config', 'set', 'maxmemory', '1'],
      ['config', 'resetstat'],
      ['memory', 'purge'],
      ['memory', 'doctor'],
      ['latency', 'reset'],
      ['slowlog', 'get'],
      ['module', 'list'],
      ['command', 'count'],
      ['flushall'],
      ['flushdb'],
      ['swapdb', '0', '1'],
      ['shutdown', 'nosave'],
      ['bgsave'],
      ['replicaof', 'no', 'one'],
      ['psync', '?', '-1'],
      ['failover', 'abort'],
      ['cluster', 'nodes'],
      ['cluster', 'reset'],
      ['monitor'],
      ['dbsize'],
      ['keys', '*'],
      ['scan', '0'],
      ['randomkey'],
      ['sort', QUEUE, 'by', 'nosort', 'get', 'pf:limit:*'],
      ['migrate', '127.0.0.1', '1', QUEUE, '0', '1'],
      ['restore', QUEUE, '0', 'x'],
      ['move', QUEUE, '1'],
      ['wait', '1', '0'],
      ['psubscribe', '*'],
      ['pubsub', 'channels'],
      ['spublish', REPLIES, '[]'],
    ] as const)
      await expect(users[service].call(name, ...values).then(() => `${name} ${values.join(' ')}`)).rejects.toThrow(
        /^NOPERM/,
      );
  });

  it.each(['gateway', 'webhook'] as const)('lets %s do no more in a script than outside', async (service) => {
    for (const command of ["'flushall'", "'script', 'flush'", "'keys', '*'", `'get', 'pf:replies'`])
      await expect(users[service].eval(`return redis.call(${command})`, 0)).rejects.toThrow(
        /can't (access|run)|not allowed from script/,
      );
  });

  it('lets gateway and webhook do what the scripts of BullMQ do, and dashboard none of it', async () => {
    const folder = join(dirname(fileURLToPath(import.meta.resolve('bullmq'))), 'scripts');
    const used = new Set(['bzpopmin', 'multi', 'exec']);
    for (const file of await readdir(folder)) {
      if (!file.endsWith('.js')) continue;
      const script = await readFile(join(folder, file), 'utf8');
      for (const [, name = ''] of script.matchAll(/call\(\s*["']([a-z]+)/gi)) used.add(name.toLowerCase());
    }
    expect(used.size).toBeGreaterThan(40);
    const dryRun = (service: RedisService, name: string): Promise<unknown> =>
      admin.call('acl', 'dryrun', nameOf(service), name, ...(USES[name] ?? [])).catch(String);
    for (const name of used) {
      // Redis counts the values before it looks at rights: a command that USES lacks fails here.
      expect([name, await dryRun('gateway', name), await dryRun('webhook', name)]).toEqual([name, 'OK', 'OK']);
      expect(await dryRun('dashboard', name)).toBe(`This user has no permissions to run the '${name}' command`);
    }
  });

  it.each(['gateway', 'webhook'] as const)('lets %s look for its scripts and load them', async (service) => {
    for (const [name, value] of [
      ['exists', 'a'.repeat(40)],
      ['load', 'return 1'],
    ] as const)
      await expect(users[service].call('script', name, value)).resolves.toBeDefined();
  });

  it('is needed: a connection without one may do nothing', async () => {
    const anyone = connect(redis.replace('admin:local@', ''));
    await expect(anyone.get(BUCKET)).rejects.toThrow(/^NOPERM/);
    anyone.disconnect();
  });
});
