import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DUE_CHANNEL, type DueNotice, encodeDueNotice, openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import { readBackingStack, startTcpProxy, type TcpProxy, until, via } from '@pf/testing';
import { DueNotices } from '../src/due-notices.ts';

jest.setTimeout(30_000);

describe('Notices of due deliveries', () => {
  const { redis: redisUrl } = readBackingStack();
  const heard: DueNotice[] = [];
  let proxy: TcpProxy;
  let publisher: RedisConnection;
  let notices: DueNotices;
  /** Other tests speak on this channel too. */
  const ours = `whd_${randomUUID()}`;
  const notice = (attemptCount: number): DueNotice => ({
    id: ours,
    endpointId: 'whe_1',
    attemptCount,
    nextAttemptAt: new Date(1_800_000_000_123),
  });
  const say = (text: string): Promise<number> => publisher.publish(DUE_CHANNEL, text);
  const untilHeard = (attemptCount: number) =>
    until('the notice', async () => {
      // What is said before the service listens is lost, as it may be: it is said again.
      await say(encodeDueNotice(notice(attemptCount)));
      return heard.some((due) => due.attemptCount === attemptCount);
    });

  beforeAll(async () => {
    proxy = await startTcpProxy(new URL(redisUrl).host);
    publisher = openConnection(redisUrl, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });
    notices = new DueNotices(
      via(redisUrl, proxy.address),
      (due) => due.id === ours && heard.push(due),
      createLogger('test', 'silent'),
    );
    notices.open();
  });
  afterAll(async () => {
    notices.close();
    publisher.disconnect();
    await proxy.close();
  });

  it('are heard, and what is none is passed over', async () => {
    await untilHeard(1);
    for (const text of ['', '{', '{"id":7}', 'null']) await say(text);
    await untilHeard(2);
    expect(heard.at(-1)).toEqual(notice(2));
  });

  it('are heard again when Redis has come back', async () => {
    await proxy.cut();
    await proxy.restore();
    await untilHeard(3);
  });
});
