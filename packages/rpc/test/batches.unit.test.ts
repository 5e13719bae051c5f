import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  limited,
  otherwise,
  refusable,
  rpcCall,
  type RpcPool,
  RpcRefusedError,
  RpcUnavailableError,
} from '../src/index.ts';
import { LEARNED_MS } from '../src/pace.ts';
import { type Call, error, type Provider, type Response, result, startProvider } from './provider.ts';
import { poolOver } from './upstreams.ts';

const echo = (value: number) => rpcCall('echo', [value], z.number());
const values = (count: number): readonly number[] => Array.from({ length: count }, (_, value) => value);

describe('batches', () => {
  let provider: Provider | undefined;
  let pool: RpcPool | undefined;
  /** The lengths of the requests; 0: no array. */
  let lengths: number[] = [];

  /** A pool over one upstream, of which the test says how it responds. */
  async function over(respond: (calls: readonly Call[], isArray: boolean) => Response): Promise<RpcPool> {
    lengths = [];
    provider = await startProvider((calls, isArray) => {
      if (calls[0]?.method !== 'eth_chainId') lengths.push(isArray ? calls.length : 0);
      return respond(calls, isArray);
    });
    pool = poolOver([provider.url], 10_000);
    return pool;
  }
  const ask = (over: RpcPool, count: number): Promise<readonly unknown[]> => over.batch(values(count).map(echo));

  afterEach(async () => {
    jest.restoreAllMocks();
    await pool?.close();
    await provider?.stop();
  });

  it('are halved until the upstream takes them, and are that short from then on', async () => {
    const base = await over((calls, isArray) => {
      if (calls.length > 10) return { body: error(null, -32014, 'too many RPC calls in batch request') };
      return { body: isArray ? calls.map(result) : result(calls[0] as Call) };
    });
    expect(await ask(base, 33)).toEqual(values(33));
    expect(lengths).toEqual([33, 16, 8, 8, 8, 8, 0]);
    expect(await ask(base, 9)).toEqual(values(9));
    expect(lengths.slice(7)).toEqual([8, 0]);
  });

  it('ask in other words what the upstream refuses as invalid, and at once in those from then on', async () => {
    const asked: unknown[] = [];
    const base = await over((calls, isArray) => {
      const answer = (call: Call): object => {
        if (call.method !== 'state') return result(call);
        asked.push(call.params);
        const [word] = call.params as unknown as readonly string[];
        return word === 'confirmed' || word === 'nonsense'
          ? error(call.id, -32_602, `Invalid params: unknown variant \`${word}\``)
          : { jsonrpc: '2.0', id: call.id, result: word };
      };
      return { body: isArray ? calls.map(answer) : answer(calls[0] as Call) };
    });
    const state = (first: string, second: string) => otherwise(rpcCall('state', [first], z.string()), [second]);
    expect(await base.batch([echo(1), state('confirmed', 'finalized'), echo(2)])).toEqual([1, 'finalized', 2]);
    expect(asked.splice(0)).toEqual([['confirmed'], ['finalized']]);
    expect(await base.call(state('confirmed', 'finalized'))).toBe('finalized');
    expect(asked.splice(0)).toEqual([['finalized']]);
  });

  it('ask in the first words again where the others are refused, too', async () => {
    const words: unknown[] = [];
    const base = await over((calls, isArray) => {
      const answer = (call: Call): object => {
        if (call.method !== 'state') return result(call);
        words.push(call.params[0]);
        return error(call.id, -32_602, 'Invalid params: no such account');
      };
      return { body: isArray ? calls.map(answer) : answer(calls[0] as Call) };
    });
    const state = refusable(otherwise(rpcCall('state', ['confirmed'], z.string()), ['finalized']));
    for (let time = 0; time < 2; time += 1) expect(await base.call(state)).toBeInstanceOf(RpcRefusedError);
    expect(words).toEqual(['confirmed', 'finalized', 'confirmed', 'finalized']);
  });

  it('are as long as before an hour after the upstream refused some', async () => {
    const base = await over((calls, isArray) => {
      if (calls.length > 10) return { body: error(null, -32014, 'too many RPC calls in batch request') };
      return { body: isArray ? calls.map(result) : result(calls[0] as Call) };
    });
    const began = performance.now();
    const passed = jest.spyOn(performance, 'now');
    for (const ms of [0, LEARNED_MS - 1_000, LEARNED_MS + 1_000]) {
      passed.mockReturnValue(began + ms);
      await ask(base, 16);
    }
    expect(lengths).toEqual([16, 8, 8, 8, 8, 16, 8, 8]);
  });

  it.each<readonly [string, Response]>([
    ['an error for all', { status: 403, body: error(null, -32403, 'Batch requests are only for paid plans') }],
    ['a status and no reason', { status: 400, body: 'Bad Request' }],
    ['an error of its server', { status: 500, body: error(null, 31, 'Batch of more than 3 requests are not allowed') }],
  ])('become single calls where an upstream refuses every array, with %s', async (_with, refusal) => {
    const upstream = await over((calls, isArray) => (isArray ? refusal : { body: result(calls[0] as Call) }));
    expect(await ask(upstream, 7)).toEqual(values(7));
    expect(lengths).toEqual([7, 3, 0, 0, 0, 0, 0, 0, 0]);
  });

  it.each<readonly [string, (items: object[]) => unknown]>([
    ['without an item', (items) => items.slice(1)],
    ['with one that belongs to no call', ([first, ...rest]) => [{ ...first, id: null }, ...rest]],
    ['with two responses to one call', ([first, ...rest]) => [first, first, ...rest]],
    ['that is a single response', ([first]) => first],
    ['that is cut', (items) => JSON.stringify(items).slice(0, -1)],
    ['without a byte', () => ''],
  ])('are asked again as a whole after a response %s', async (_what, spoilt) => {
    const strange = await over((calls, isArray) => {
      if (!isArray) return { body: result(calls[0] as Call) };
      const items = calls.map(result);
      return { body: lengths.length < 3 ? spoilt(items) : items };
    });
    expect(await ask(strange, 3)).toEqual(values(3));
    expect(lengths).toEqual([3, 3, 3]);
  });

  it('are asked again after the page of a gateway, and no more than twice', async () => {
    const down = await over((calls, isArray) =>
      isArray ? { status: 502, body: '<h1>502 Bad Gateway</h1>' } : { body: result(calls[0] as Call) },
    );
    await expect(ask(down, 3)).rejects.toThrow(RpcUnavailableError);
    // All of that twice, as of every only upstream.
    expect(lengths).toEqual([3, 3, 3, 3, 3, 3]);
  });

  it('ask for a broadcast once, whatever comes', async () => {
    const strange = await over((calls) => ({ body: calls[0]?.method === 'eth_chainId' ? result(calls[0]) : 'cut' }));
    for await (const attempt of strange.attempts((node) =>
      node.call(rpcCall('eth_sendRawTransaction', ['0x'], z.string())),
    ))
      expect(attempt).toMatchObject({ kind: 'failed', error: { delivered: 'maybe' } });
    expect(lengths).toEqual([0]);
  });

  it('show the limits of a plan to callers that can ask for less, and to no others', async () => {
    const free = await over((calls) => {
      const [call] = calls as [Call];
      if (call.method === 'eth_chainId') return { body: result(call) };
      return { status: 400, body: error(call.id, -32600, 'you can request up to a 10 block range') };
    });
    expect(await free.call(limited(echo(1)))).toBeInstanceOf(RpcRefusedError);
    await expect(free.call(refusable(echo(1)))).rejects.toThrow(RpcUnavailableError);
  });
});
