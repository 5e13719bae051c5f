import { randomUUID } from 'node:crypto';
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
    ['gateway', 'empty the server', ['flushall']],
    ['gateway', 'change the server', ['config', 'set', 'maxmemory', '1']],
  ] as const)('does not let %s %s', async (service, _what, [command, ...values]) => {
    await expect(users[service].call(command, ...values)).rejects.toThrow(/^NOPERM|can't (access|run)/);
  });

  it('is needed: a connection without one may do nothing', async () => {
    const anyone = connect(redis.replace('admin:local@', ''));
    await expect(anyone.get(BUCKET)).rejects.toThrow(/^NOPERM/);
    anyone.disconnect();
  });
});
