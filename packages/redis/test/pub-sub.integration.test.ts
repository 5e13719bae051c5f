import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readBackingStack, startTcpProxy, type TcpProxy, until, via } from '@pf/testing';
import { ChannelPublisher, ChannelSubscriber } from '../src/index.ts';
import { recordedLog } from './recorded-log.ts';

const { redis } = readBackingStack();

describe('Pub/sub', () => {
  let proxy: TcpProxy;
  let publisher: ChannelPublisher;
  let subscriber: ChannelSubscriber;
  let received: [string, string][];
  let states: ('listening' | 'lost')[];
  let messages: string[];
  /** A channel of the test's own: other tests share the server. */
  const newChannel = (): string => `pf:test:${randomUUID()}`;

  beforeAll(async () => {
    proxy = await startTcpProxy(new URL(redis).host);
  });
  beforeEach(() => {
    // A subscriber of the last test may still report its end: what it reports is not this test's.
    const [arrived, reported]: [typeof received, typeof states] = [[], []];
    received = arrived;
    states = reported;
    const { log, messages: logged } = recordedLog();
    messages = logged;
    publisher = new ChannelPublisher(redis, { log: recordedLog().log, withoutRedis: 'the test fails' });
    subscriber = new ChannelSubscriber(
      via(redis, proxy.address),
      {
        message: (channel, text) => arrived.push([channel, text]),
        listening: () => reported.push('listening'),
        lost: () => reported.push('lost'),
      },
      { log, withoutRedis: 'the database is polled' },
    );
  });
  afterEach(async () => {
    subscriber.close();
    await publisher.close();
    await proxy.restore();
  });
  afterAll(() => proxy.close());

  const listening = (): Promise<unknown> => until('the subscriber to listen', () => subscriber.listening);
  /** Publishes until it arrives: a publisher that is still connecting loses messages. */
  const untilReceived = (channel: string, text: string): Promise<unknown> =>
    until(`"${text}" to arrive`, () => {
      publisher.publish([{ channel, text }]);
      return received.some(([from, what]) => from === channel && what === text);
    });

  it('delivers messages of channels subscribed to before and after the connection, in order', async () => {
    const [early, late, other] = [newChannel(), newChannel(), newChannel()];
    void subscriber.subscribe(early);
    subscriber.open();
    await listening();
    await subscriber.subscribe(late);
    await untilReceived(early, 'first');
    received.length = 0;
    publisher.publish([
      { channel: other, text: 'not subscribed to' },
      { channel: late, text: '1' },
      { channel: early, text: '2' },
      { channel: late, text: '3' },
    ]);
    await until('all to arrive', () => received.some(([, text]) => text === '3'));
    expect(received.filter(([, text]) => text !== 'first')).toEqual([
      [late, '1'],
      [early, '2'],
      [late, '3'],
    ]);
  });

  it('delivers nothing more of a channel that was unsubscribed from', async () => {
    const [kept, dropped] = [newChannel(), newChannel()];
    subscriber.open();
    await listening();
    await Promise.all([subscriber.subscribe(kept), subscriber.subscribe(dropped)]);
    await untilReceived(dropped, 'before');
    subscriber.unsubscribe(dropped);
    publisher.publish([{ channel: dropped, text: 'after' }]);
    await untilReceived(kept, 'later');
    expect(received).not.toContainEqual([dropped, 'after']);
  });

  it('subscribes again after an outage, to channels added meanwhile too, and logs the outage once', async () => {
    const [before, meanwhile] = [newChannel(), newChannel()];
    void subscriber.subscribe(before);
    subscriber.open();
    await listening();
    expect(states).toEqual(['listening']);

    await proxy.cut();
    await until('the loss', () => !subscriber.listening);
    await subscriber.subscribe(meanwhile);
    await until('the outage to be logged', () => messages.length > 0);
    await proxy.restore();
    await listening();
    expect(states).toEqual(['listening', 'lost', 'listening']);
    await untilReceived(before, 'again');
    await untilReceived(meanwhile, 'too');
    expect(messages).toEqual(['Redis is unavailable: the database is polled', 'Redis is available again']);
  });

  it('loses what is published during an outage, without an error', async () => {
    const { log, messages: logged } = recordedLog();
    const unavailable = new ChannelPublisher('redis://127.0.0.1:1', { log, withoutRedis: 'replies are lost' });
    unavailable.publish([{ channel: newChannel(), text: 'lost' }]);
    await until('the outage to be logged', () => logged.length > 0);
    await unavailable.close();
    expect(logged).toEqual(['Redis is unavailable: replies are lost']);
  });
});
