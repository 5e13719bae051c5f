import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  ifSupported,
  rpcCall,
  type RpcCall,
  type RpcNode,
  type RpcPool,
  type UpstreamSettings,
  upstreamSchema,
} from '../src/index.ts';
import { PRESETS } from '../src/plans.ts';
import { dollarsAMonth, PRICES, priceOf } from '../src/prices.ts';
import { type Call, error, type Provider, type Response, result, served, startProvider } from './provider.ts';
import { poolOver } from './upstreams.ts';

const echo = (value: number): RpcCall<number> => rpcCall('echo', [value], z.number());
const trace = rpcCall('trace', [5], z.number());
const values = (count: number): readonly number[] => Array.from({ length: count }, (_, value) => value);

describe('the plan of an upstream', () => {
  let providers: Provider[] = [];
  let pool: RpcPool | undefined;
  /** The lengths of the arrays that arrived, and the methods of all calls. */
  let lengths: number[] = [];
  let methods: string[] = [];

  async function started(respond: (calls: readonly Call[], isArray: boolean) => Response = served): Promise<string> {
    const provider = await startProvider((calls, isArray) => {
      if (isArray) lengths.push(calls.length);
      methods.push(...calls.map(({ method }) => method));
      return respond(calls, isArray);
    });
    providers.push(provider);
    return provider.url;
  }
  function over(...upstreams: readonly (string | UpstreamSettings)[]): RpcPool {
    pool = poolOver(upstreams, 20_000, 60_000);
    return pool;
  }
  const settings = (change: object): UpstreamSettings => upstreamSchema.parse(change);

  afterEach(async () => {
    jest.restoreAllMocks();
    await pool?.close();
    await Promise.all(providers.map((provider) => provider.stop()));
    [providers, lengths, methods] = [[], [], []];
  });

  it('bounds its batches from the first on', async () => {
    const base = over(settings({ url: await started(), preset: 'base-public' }));
    expect(await base.batch(values(25).map(echo))).toEqual(values(25));
    expect(lengths).toEqual([10, 10, 5]);
  });

  it('has single calls only where its preset says so', async () => {
    const helius = over(settings({ url: await started(), preset: 'helius-free', callsPerSecond: 1_000 }));
    expect(await helius.batch(values(7).map(echo))).toEqual(values(7));
    expect(lengths).toEqual([]);
  });

  it('keeps calls of methods that it lacks away from it', async () => {
    const url = await started();
    const lacking = await started((calls, isArray) => {
      expect(calls.map(({ method }) => method)).not.toContain('trace');
      return served(calls, isArray);
    });
    const both = over(settings({ url: lacking, unsupported: ['trace'] }), url);
    expect([await both.call(trace), await both.call(echo(1))]).toEqual([5, 1]);
  });

  it.each(['debug_traceTransaction', 'trace_filter'])('asks dRPC’s free plan for no %s', async (method) => {
    const drpc = over(settings({ url: await started(), preset: 'drpc-free' }));
    await expect(drpc.call(rpcCall(method, [], z.number()))).rejects.toThrow(method);
    expect(methods).not.toContain(method);
  });

  it('learns the methods that it lacks, and is asked last by work that needed one', async () => {
    let asked = 0;
    const lacking = await started((calls, isArray) => {
      const [call] = calls as [Call];
      if (call.method === 'echo') asked += 1;
      return call.method === 'trace' ? { body: error(call.id, -32601, 'unknown method') } : served(calls, isArray);
    });
    const both = over(lacking, await started());
    expect([await both.call(trace), await both.call(trace), await both.call(echo(1))]).toEqual([5, 5, 1]);
    expect(methods.filter((method) => method === 'trace')).toHaveLength(3);
    expect(asked).toBe(0);
  });

  it.each([405, 415])('learns that it lacks a method from HTTP %i without a word', async (status) => {
    const lacking = await started((calls, isArray) =>
      calls.some(({ method }) => method === 'trace') ? { status, body: '<html>' } : served(calls, isArray),
    );
    const one = over(lacking);
    await expect(one.batch([echo(1), trace])).rejects.toMatchObject({ name: 'RpcUnavailableError' });
    await expect(one.call(trace)).rejects.toThrow('does not have trace');
    expect(await one.batch([ifSupported(trace), echo(1)])).toEqual([null, 1]);
  });

  it('has null instead of what the caller can do without', async () => {
    const lacking = await started((calls, isArray) => {
      const items = calls.map((call) => (call.method === 'trace' ? error(call.id, -32601, 'no such') : result(call)));
      return { body: isArray ? items : items[0] };
    });
    const one = over(lacking);
    const both = (): Promise<readonly unknown[]> => one.batch([ifSupported(trace), echo(1)]);
    expect([await both(), await both()]).toEqual([
      [null, 1],
      [null, 1],
    ]);
    expect(methods.filter((method) => method === 'trace')).toHaveLength(1);
    const planned = over(settings({ url: await started(), unsupported: ['trace'] }));
    expect(await planned.call(ifSupported(trace))).toBeNull();
    expect(await planned.call(ifSupported(echo(2)))).toBe(2);
    await one.close();
  });

  it('takes the credentials of its URL as they are where they are not escaped', async () => {
    const url = (await started()).replace('//', '//user:100%@');
    expect(await over(url).call(echo(1))).toBe(1);
    expect(providers[0]?.headers.authorization).toBe(`Basic ${Buffer.from('user:100%').toString('base64')}`);
  });

  it('quotes no more of an error than a log can hold', async () => {
    const url = await started((calls, isArray) =>
      calls[0]?.method === 'echo' ? { body: error(calls[0].id, -32000, 'no'.repeat(100_000)) } : served(calls, isArray),
    );
    await expect(over(url).call(echo(1))).rejects.toMatchObject({
      message: expect.stringMatching(/^.{1000,2000}$/),
    });
  });

  it('is not waited for where it lacks again and again what a conclusion needs', async () => {
    const both = over(await started(), settings({ url: await started(), unsupported: ['trace'] }));
    const work = (node: RpcNode): Promise<number> => node.call(trace);
    const node = await both.run((one) => Promise.resolve(one));
    const conclude = async (): Promise<readonly unknown[]> => [
      await both.doubleCheck(node, node.name, work),
      (await both.onAll(work)).conclusive,
    ];
    const began = performance.now();
    const passed = jest.spyOn(performance, 'now');
    const at = (minutes: number): void => void passed.mockReturnValue(began + minutes * 60_000);
    const outcomes: (readonly unknown[])[] = [];
    for (const minutes of [0, 1.5, 4, 9]) {
      at(minutes);
      outcomes.push(await conclude());
    }
    expect(outcomes).toEqual([
      [null, false],
      [null, false],
      [[5], true],
      [[5], true],
    ]);
  });

  it('sends its headers, which win', async () => {
    const url = await started((calls) => ({ body: result(calls[0] as Call) }));
    const own = over(settings({ url, headers: { 'x-api-key': 'secret', 'content-type': 'application/json; v=1' } }));
    expect(await own.call(echo(1))).toBe(1);
    expect(providers[0]?.headers).toMatchObject({
      'x-api-key': 'secret',
      'content-type': 'application/json; v=1',
      'user-agent': 'PaymentIntents/1.0',
    });
  });
});

describe('the presets', () => {
  it.each(Object.entries(PRESETS))('has a source, and prices where it has a budget of credits: %s', (_name, preset) => {
    expect(preset.source).toMatch(/20\d\d/);
    expect(!('creditsPerSecond' in preset.plan) || 'prices' in preset).toBe(true);
    if ('prices' in preset) expect(Object.keys(PRICES)).toContain(preset.prices);
  });

  it('may have a stream, which is a WebSocket', () => {
    const url = 'https://a.example';
    expect(upstreamSchema.parse({ url, stream: 'wss://a.example/KEY' })).toMatchObject({
      stream: 'wss://a.example/KEY',
    });
    const refused = upstreamSchema.safeParse({ url, stream: 'https://a.example/KEY' });
    expect(refused.error?.issues[0]).toMatchObject({ path: ['stream'], message: 'must be a ws:// or wss:// URL' });
  });

  it('are overruled by the fields beside them', () => {
    const { plan, prices } = upstreamSchema.parse({ url: 'https://a.example', preset: 'cdp', callsPerSecond: 5 });
    expect(plan).toEqual({ callsPerSecond: 5, creditsPerSecond: 1_500, logRange: 1_000 });
    expect(prices).toBe('cdp');
  });

  it.each([
    ['helius', 'getTransaction', 10],
    ['helius', 'getMultipleAccounts', 1],
    ['alchemy', 'eth_getLogs', 60],
    ['infura', 'eth_chainId', 80],
    ['cdp', 'eth_sendRawTransaction', 500],
    ['ankr', 'constructor', 200],
  ] as const)('know the price of %s for %s: %p credits', (list, method, credits) => {
    expect(priceOf(list, method)).toBe(credits);
  });

  it.each([
    ['helius', 1_000_000, 0],
    ['helius', 1_000_001, 49],
    ['helius', 200_000_001, null],
    ['alchemy', 30_000_000, 0],
    ['alchemy', 467_000_000, 210.15],
    ['cdp', 9_000_000, 0],
    ['cdp', 260_000_000, 125],
    ['infura', 90_000_001, null],
    ['ankr', 520_000_000, 52],
  ] as const)('know what %s asks for %p credits in 30 days: %p dollars', (list, credits, dollars) => {
    const asked = dollarsAMonth(list, credits);
    expect(asked === null ? null : Number(asked.toFixed(2))).toBe(dollars);
  });
});
