import { afterEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import {
  refusable,
  rpcCall,
  type RpcCall,
  type RpcPool,
  RpcRefusedError,
  RpcUnavailableError,
  upstreamAt,
  type UpstreamSettings,
} from '../src/index.ts';
import { type Call, error, type Provider, type Response, result, served, startProvider } from './provider.ts';
import { poolOver } from './upstreams.ts';

const TIMEOUT_MS = 20_000;
/** Enough for any pause that these providers ask for, on any machine. */
const PATIENT_MS = 60_000;
const echo = (value: number): RpcCall<number> => rpcCall('echo', [value], z.number());
const send = (value: number): RpcCall<number> => rpcCall('eth_sendRawTransaction', [value], z.number());
const values = (count: number): readonly number[] => Array.from({ length: count }, (_, value) => value);
const isSend = (calls: readonly Call[]): boolean => calls[0]?.method === 'eth_sendRawTransaction';
const isAnEcho = (calls: readonly Call[]): boolean => calls[0]?.method === 'echo';
const spent = (headers: Readonly<Record<string, string>> = {}): Response => ({
  status: 429,
  headers,
  body: 'slow down',
});

/** A plan of so many calls in each second: QuickNode's, which refuses the items of a batch that are too many. */
function planOf(callsPerSecond: number): (calls: readonly Call[], isArray: boolean) => Response {
  let window = { second: 0, calls: 0 };
  return (calls, isArray) => {
    const second = Math.floor(performance.now() / 1_000);
    if (window.second !== second) window = { second, calls: 0 };
    const responses = calls.map((call) =>
      ++window.calls > callsPerSecond
        ? error(call.id, -32007, `${callsPerSecond}/second request limit reached`)
        : result(call),
    );
    return { body: isArray ? responses : responses[0] };
  };
}

describe('the pace of an upstream', () => {
  let providers: Provider[] = [];
  let pools: RpcPool[] = [];

  async function started(respond: (calls: readonly Call[], isArray: boolean) => Response): Promise<string> {
    const provider = await startProvider(respond);
    providers.push(provider);
    return provider.url;
  }
  function over(urls: readonly (string | UpstreamSettings)[], deadlineMs = PATIENT_MS): RpcPool {
    const pool = poolOver(urls, TIMEOUT_MS, deadlineMs);
    pools.push(pool);
    return pool;
  }

  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.close()));
    await Promise.all(providers.map((provider) => provider.stop()));
    [pools, providers] = [[], []];
  });

  it('lets a batch of 60 calls pass on a plan of 45 a second: only what was refused is asked again', async () => {
    const plan = planOf(45);
    const answered = new Map<number, number>();
    const url = await started((calls, isArray) => {
      const response = plan(calls, isArray);
      const items = [response.body].flat() as { readonly error?: object }[];
      for (const [place, { params, method }] of calls.entries())
        if (method === 'echo' && items[place]?.error === undefined)
          answered.set(params[0] ?? -1, (answered.get(params[0] ?? -1) ?? 0) + 1);
      return response;
    });
    expect(await over([url]).batch(values(60).map(echo).map(refusable))).toEqual(values(60));
    expect([...answered.values()]).toEqual(values(60).map(() => 1));
  });

  it.each<readonly [string, Response]>([
    ['Retry-After', spent({ 'retry-after': '1' })],
    ['X-RateLimit-Reset', spent({ 'x-ratelimit-reset': '1' })],
    [
      'backoff_seconds',
      { status: 429, body: error(null, -32005, 'request rate exceeded', { rate: { backoff_seconds: 1 } }) },
    ],
  ])('waits as long as the only upstream asks for, by %s, and then asks once more', async (_by, refusal) => {
    const at: number[] = [];
    const url = await started((calls, isArray) => {
      if (!isAnEcho(calls)) return served(calls, isArray);
      return at.push(performance.now()) === 1 ? refusal : served(calls, isArray);
    });
    expect(await over([url]).call(echo(7))).toBe(7);
    expect(at).toHaveLength(2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('asks an upstream whose calls are spent no more than its work may wait', async () => {
    let requests = 0;
    const url = await started((calls, isArray) => {
      if (!isAnEcho(calls)) return served(calls, isArray);
      requests += 1;
      return spent({ 'retry-after': '60' });
    });
    const pool = over([url], 3_000);
    await expect(pool.call(echo(1))).rejects.toThrow(RpcUnavailableError);
    await expect(pool.call(echo(1))).rejects.toThrow('takes no more calls');
    expect(requests).toBe(1);
  });

  it('limits reads and broadcasts separately', async () => {
    let refused: (calls: readonly Call[]) => boolean = isSend;
    const url = await started((calls, isArray) =>
      refused(calls) ? spent({ 'retry-after': '60' }) : served(calls, isArray),
    );
    const [one, other] = [over([url], 5_000), over([url], 5_000)];
    await expect(one.call(send(1))).rejects.toThrow(RpcUnavailableError);
    expect(await one.call(echo(2))).toBe(2);
    expect(await other.call(echo(1))).toBe(1);
    refused = isAnEcho;
    await expect(other.call(echo(2))).rejects.toThrow(RpcUnavailableError);
    expect(await other.call(send(3))).toBe(3);
  });

  it('lets broadcasts take turns among themselves, urgent as they are', async () => {
    let sends = 0;
    const url = await started((calls, isArray) => {
      if (isSend(calls)) sends += 1;
      return served(calls, isArray);
    });
    const pool = over([{ ...upstreamAt(url), plan: { sendsPerSecond: 0.01 } }], 5_000);
    const outcomes: string[] = [];
    for (const value of [1, 2])
      for await (const attempt of pool.attempts((node) => node.call(send(value)), true)) outcomes.push(attempt.kind);
    expect(outcomes).toEqual(['completed', 'failed']);
    expect(sends).toBe(1);
  });

  it('does not rush calls that finished work started without awaiting', async () => {
    const pool = over([{ ...upstreamAt(await started(served)), plan: { callsPerSecond: 4 } }], 20_000);
    const ended = Promise.withResolvers<void>();
    let background: Promise<readonly string[]> = Promise.resolve([]);
    await pool.run(async () => {
      background = (async () => {
        await ended.promise;
        const kinds: string[] = [];
        for await (const { kind } of pool.attempts((node) => node.batch(values(6).map(echo)))) kinds.push(kind);
        return kinds;
      })();
      return Promise.resolve();
    }, 1);
    ended.resolve();
    expect(await background).toEqual(['completed']);
  });

  it('treats a broadcast refused with HTTP 200 as possibly sent', async () => {
    let sends = 0;
    const url = await started((calls, isArray) => {
      if (!isSend(calls)) return served(calls, isArray);
      sends += 1;
      return { body: error(calls[0]?.id ?? 0, -32000, 'failed to forward: 429 Too Many Requests') };
    });
    for await (const attempt of over([url]).attempts((node) => node.call(refusable(send(1)))))
      expect(attempt).toMatchObject({ kind: 'failed', error: { delivered: 'maybe', fault: 'throttled' } });
    expect(sends).toBe(1);
  });

  it('leaves an upstream that refuses broadcasts the first to be read from', async () => {
    let reads = 0;
    const first = await started((calls, isArray) => {
      if (isSend(calls)) return spent({ 'retry-after': '60' });
      if (isAnEcho(calls)) reads += 1;
      return served(calls, isArray);
    });
    const pool = over([first, await started(served)], 10_000);
    expect([await pool.call(send(1)), await pool.call(echo(2)), await pool.call(echo(3))]).toEqual([1, 2, 3]);
    expect(reads).toBe(2);
  });

  it('moves on at once where another upstream has calls left, and begins there next', async () => {
    let asked = 0;
    const busy = await started((calls, isArray) => {
      if (!isAnEcho(calls)) return served(calls, isArray);
      asked += 1;
      return spent({ 'retry-after': '60' });
    });
    const free = await started(served);
    const pool = over([busy, free], 10_000);
    expect([await pool.call(echo(1)), await pool.call(echo(2)), await pool.call(echo(3))]).toEqual([1, 2, 3]);
    expect(asked).toBe(1);
  });

  it('is waited for where no other upstream responds', async () => {
    let asked = 0;
    const busy = await started((calls, isArray) =>
      isAnEcho(calls) && ++asked === 1 ? spent({ 'retry-after': '1' }) : served(calls, isArray),
    );
    const broken = await started(() => ({ status: 502, body: 'Bad Gateway' }));
    expect(await over([busy, broken]).call(echo(4))).toBe(4);
  });

  it('halves no batch that is refused for the rate, and asks for less at a time', async () => {
    const lengths: number[] = [];
    const url = await started((calls, isArray) => {
      if (isArray) lengths.push(calls.length);
      return isArray && calls.length > 20 ? spent() : served(calls, isArray);
    });
    expect(await over([url]).batch(values(40).map(echo))).toEqual(values(40));
    expect(lengths[0]).toBe(40);
    expect(Math.max(...lengths.slice(1))).toBeLessThan(20);
  });

  it('does not treat a throttled item as a response, even where a refusal is one', async () => {
    let throttled = 0;
    const url = await started((calls, isArray) => {
      const responses = calls.map((call) =>
        call.params[0] === 1 && throttled++ === 0 ? error(call.id, 429, 'Too many requests') : result(call),
      );
      return { body: isArray ? responses : responses[0] };
    });
    const results = await over([url]).batch(values(3).map(echo).map(refusable));
    expect(results.filter((one) => one instanceof RpcRefusedError)).toEqual([]);
    expect(results).toEqual(values(3));
  });
});
