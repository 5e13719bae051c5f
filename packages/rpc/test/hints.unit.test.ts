import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createLogger } from '@pf/runtime';
import { Hints, type Subscription } from '../src/hints.ts';

const CHANGE_MS = 10_000;
const NOTIFICATION = '{"jsonrpc":"2.0","method":"eth_subscription","params":{"result":{"lies":true}}}';
const subscription: Subscription = { method: 'eth_subscribe', params: ['newHeads'] };

/** A socket whose other end is the test. */
class FakeSocket extends EventTarget {
  readonly url: string;
  readonly sent: unknown[] = [];
  isClosed = false;
  constructor(url: string) {
    super();
    this.url = url;
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.isClosed = true;
  }
  open(): void {
    this.dispatchEvent(new Event('open'));
  }
  say(data: unknown = NOTIFICATION): void {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
  drop(): void {
    this.dispatchEvent(new Event('close'));
  }
}

describe('Hints', () => {
  let sockets: FakeSocket[];
  let hints: Hints;
  let woken: number;
  let over: AbortController;
  beforeEach(() => {
    jest.useFakeTimers({ now: 0 });
    [sockets, woken, over] = [[], 0, new AbortController()];
    hints = new Hints({
      network: 'base-sepolia',
      urls: ['wss://first.example/KEY', 'wss://second.example/KEY'],
      log: createLogger('test', 'silent'),
      open: (url) => {
        const socket = new FakeSocket(url);
        sockets.push(socket);
        return socket;
      },
    });
  });
  afterEach(() => {
    over.abort();
    hints.close();
    jest.useRealTimers();
  });

  const last = (): FakeSocket => sockets.at(-1) as FakeSocket;
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  /** Opened, with a listener that listens on and on. */
  async function following(): Promise<void> {
    hints.follow([subscription]);
    await pass(0);
    last().open();
    const listen = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await hints.next(over.signal);
        if (!over.signal.aborted) woken += 1;
      }
    };
    void listen();
  }

  it('wake at a notification, and not at the response to a subscription', async () => {
    await following();
    expect(last().sent).toEqual([{ jsonrpc: '2.0', id: 1, ...subscription }]);
    last().say('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
    await pass(0);
    expect(woken).toBe(0);
    last().say();
    await pass(0);
    expect(woken).toBe(1);
  });

  it('wake ten times a minute at most, and a socket that floods is closed for a minute', async () => {
    await following();
    const flooding = last();
    for (let message = 0; message < 400; message += 1) {
      flooding.say();
      await pass(1);
    }
    expect(woken).toBe(10);
    for (let message = 0; message < 200; message += 1) flooding.say();
    expect(flooding.isClosed).toBe(true);
    await pass(30_000);
    hints.follow([subscription]);
    expect(sockets).toHaveLength(1);
    await pass(31_000);
    expect(sockets).toHaveLength(2);
  });

  it('survive frames that are not text, and a socket that was replaced no longer wakes', async () => {
    await following();
    const first = last();
    first.say(new ArrayBuffer(8));
    first.say('{"method"');
    await pass(0);
    expect(woken).toBe(1);
    hints.follow([{ method: 'eth_subscribe', params: ['logs', {}] }]);
    await pass(CHANGE_MS);
    expect([first.isClosed, sockets.length]).toEqual([true, 2]);
    first.say();
    first.drop();
    await pass(0);
    expect([woken, sockets.length]).toEqual([1, 2]);
  });

  it('are opened again at growing intervals at the next URL after a drop, and never without use', async () => {
    hints.follow([subscription]);
    const opened: number[] = [];
    for (let second = 0; second < 50; second += 1) {
      await pass(1_000);
      hints.follow([subscription]);
      if (sockets.length > opened.length) {
        opened.push(second);
        last().drop();
      }
    }
    expect(opened.length).toBeGreaterThan(3);
    expect(opened.length).toBeLessThan(9);
    expect(sockets.slice(0, 2).map(({ url }) => new URL(url).host)).toEqual(['first.example', 'second.example']);
    // As on a watcher that stands by.
    await pass(120_000);
    const count = sockets.length;
    await pass(600_000);
    expect(sockets).toHaveLength(count);
    expect(last().isClosed).toBe(true);
  });

  it('replace a socket that may only look alive, every ten minutes', async () => {
    await following();
    for (let minute = 0; minute < 12; minute += 1) {
      await pass(59_000);
      hints.follow([subscription]);
    }
    expect(sockets).toHaveLength(2);
    expect(sockets[0]?.isClosed).toBe(true);
  });
});
