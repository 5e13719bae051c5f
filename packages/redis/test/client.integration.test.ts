import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readBackingStack, startTcpProxy, type TcpProxy, until, via } from '@pf/testing';
import { isResponsive, openConnection, RedisClient } from '../src/index.ts';
import { recordedLog } from './recorded-log.ts';

const { redis } = readBackingStack();
const CHANNEL = 'pf:test:client';
const COMMAND_TIMEOUT_MS = 250;

describe('A Redis client', () => {
  let proxy: TcpProxy;
  let client: RedisClient;
  let messages: string[];

  beforeAll(async () => {
    proxy = await startTcpProxy(new URL(redis).host);
  });
  beforeEach(async () => {
    const { log, messages: logged } = recordedLog();
    messages = logged;
    client = new RedisClient(via(redis, proxy.address), { log, withoutRedis: 'each process counts by itself' });
    client.open();
    await until('the connection', () => client.publish(CHANNEL, ''));
  });
  afterEach(async () => {
    client.close();
    await proxy.restore();
  });
  afterAll(() => proxy.close());

  const echo = (): Promise<unknown> => client.run('echo', 'return { KEYS[1], ARGV[1] }', ['key'], [7]);

  it('runs a script with its keys and arguments, again and again', async () => {
    expect([await echo(), await echo()]).toEqual([
      ['key', '7'],
      ['key', '7'],
    ]);
  });

  it.each(['cut', 'freeze'] as const)(
    'returns null within a quarter of a second while Redis is unavailable (%s), logs it once, and works again after it',
    async (how) => {
      await proxy[how]();
      // Timers fire in the order of their times, however busy the machine is.
      expect(await Promise.race([client.publish(CHANNEL, ''), delay(2 * COMMAND_TIMEOUT_MS, 'late')])).toBe(false);
      // After a failure no command is sent for a second: the response does not wait for anything.
      expect(await Promise.race([echo(), immediate('late')])).toBeNull();
      await until('the outage to be logged', () => messages.length > 0);
      await proxy.restore();
      await until('Redis to be used again', async () => (await echo()) !== null);
      expect(messages).toEqual(['Redis is unavailable: each process counts by itself', 'Redis is available again']);
    },
  );

  it('logs nothing when it is closed on purpose', async () => {
    client.close();
    expect(await client.publish(CHANNEL, '')).toBe(false);
    expect(messages).toEqual([]);
  });
});

describe('The health of a connection', () => {
  it('depends on a timely response to PING', async () => {
    const proxy = await startTcpProxy(new URL(redis).host);
    const connection = openConnection(via(redis, proxy.address), {
      log: recordedLog().log,
      withoutRedis: 'the test fails',
    });
    try {
      await until('the connection', () => isResponsive(connection, 10_000));
      proxy.freeze();
      expect(await Promise.race([isResponsive(connection, 200), delay(1_000, 'late')])).toBe(false);
      await proxy.restore();
      await until('Redis to respond again', () => isResponsive(connection, 1_000));
    } finally {
      connection.disconnect();
      await proxy.close();
    }
  });
});
