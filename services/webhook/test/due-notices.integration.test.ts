import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DUE_CHANNEL, type DueNotice, encodeDueNotice, openConnection, type RedisConnection } from '@pf/redis';
import { createLogger } from '@pf/runtime';
import { readBackingStack, startTcpProxy, type TcpProxy, until, via } from '@pf/testing';
import { DueNotices } from '../src/due-notices.ts';

describe('Notices of due deliveries', () => {
  const { redis: redisUrl } = readBackingStack();
  const received: DueNotice[] = [];
  let proxy: TcpProxy;
  let publisher: RedisConnection;
  let notices: DueNotices;
  /** Other tests publish on this channel too. */
  const ours = `whd_${randomUUID()}`;
  const notice = (attemptCount: number): DueNotice => ({
    id: ours,
    endpointId: 'whe_1',
    attemptCount,
    nextAttemptAt: new Date(1_800_000_000_123),
  });
  const publish = (text: string): Promise<number> => publisher.publish(DUE_CHANNEL, text);
  const untilReceived = (attemptCount: number) =>
    until('the notice', async () => {
      // A notice published before the service listens is lost: it is published again.
      await publish(encodeDueNotice(notice(attemptCount)));
      return received.some((due) => due.attemptCount === attemptCount);
    });

  beforeAll(async () => {
    proxy = await startTcpProxy(new URL(redisUrl).host);
    publisher = openConnection(redisUrl, { log: createLogger('test', 'silent'), withoutRedis: 'the test fails' });
    notices = new DueNotices(
      via(redisUrl, proxy.address),
      (due) => due.id === ours && received.push(due),
      createLogger('test', 'silent'),
    );
    notices.open();
  });
  afterAll(async () => {
    notices.close();
    publisher.disconnect();
    await proxy.close();
  });

  it('arrive, and other messages on their channel are ignored', async () => {
    await untilReceived(1);
    for (const text of ['', '{', '{"id":7}', 'null']) await publish(text);
    await untilReceived(2);
    expect(received.at(-1)).toEqual(notice(2));
  });

  it('arrive again after an outage of Redis', async () => {
    await proxy.cut();
    await proxy.restore();
    await untilReceived(3);
  });
});
