import { describe, expect, it } from '@jest/globals';
import { type RpcCall, rpcCall, type RpcFault, type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { z } from 'zod';
import { readEach, Unreadable } from '../../../src/evm/observe/read-each.ts';

const numberOf = (number: number): RpcCall<number> => rpcCall('eth_number', [number], z.number());
const all = [0, 1, 2, 3, 4, 5, 6, 7].map(numberOf);

/** A node whose requests with the call number 5 fail like this, and which counts its requests. */
function nodeWith(fault: RpcFault, delivered: 'no' | 'maybe' = 'maybe'): { readonly node: RpcNode; requests: number } {
  const counted = { requests: 0 } as { node: RpcNode; requests: number };
  const batch = async (calls: readonly RpcCall<unknown>[]): Promise<unknown> => {
    counted.requests += 1;
    if (calls.some(({ params: [number] }) => number === 5)) throw new RpcUpstreamError('no', delivered, null, fault);
    return calls.map(({ params: [number], parse }) => parse(number));
  };
  counted.node = { name: 'node.example', plan: {}, callsIn: () => 100, batch } as unknown as RpcNode;
  return counted;
}
const shown = (results: readonly (number | Unreadable)[]): readonly unknown[] =>
  results.map((one) => (one instanceof Unreadable ? null : one));

describe('calls that are read apart', () => {
  it('do not fail for one whose result has another shape', async () => {
    const node = {
      batch: async (calls: readonly RpcCall<unknown>[]) => calls.map(({ parse }, place) => parse(place === 1 ? '' : 7)),
    } as unknown as RpcNode;
    expect(shown(await readEach(node, all.slice(0, 3)))).toEqual([7, null, 7]);
  });

  it('do not fail for one that the node refuses, which asking each alone tells', async () => {
    const { node } = nodeWith('rpc', 'no');
    expect(shown(await readEach(node, all))).toEqual([0, 1, 2, 3, 4, null, 6, 7]);
  });

  it('are all without a result where they come too late together, at the cost of one request', async () => {
    const counted = nodeWith('timeout');
    expect(shown(await readEach(counted.node, all))).toEqual(all.map(() => null));
    expect(counted.requests).toBe(1);
  });

  it('are asked for in halves, as often as it is allowed', async () => {
    const counted = nodeWith('unreachable');
    expect(shown(await readEach(counted.node, all, 3))).toEqual([0, 1, 2, 3, 4, null, 6, 7]);
    expect(counted.requests).toBe(7);
    expect(shown(await readEach(nodeWith('timeout').node, all, 1))).toEqual([0, 1, 2, 3, null, null, null, null]);
  });

  it('are asked for apart at once where they are short and come too late together', async () => {
    const counted = nodeWith('timeout');
    expect(shown(await readEach(counted.node, all, 3, true))).toEqual([0, 1, 2, 3, 4, null, 6, 7]);
    expect(counted.requests).toBe(1 + all.length);
    const long = nodeWith('unreachable');
    await readEach(long.node, all, 3, true);
    expect(long.requests).toBe(7);
  });

  it.each<[RpcFault, 'no' | 'maybe']>([
    ['throttled', 'no'],
    ['unsupported', 'no'],
    ['unreachable', 'no'],
    ['http', 'no'],
  ])('fail where the upstream is at fault: %s', async (fault, delivered) => {
    await expect(readEach(nodeWith(fault, delivered).node, all, 5)).rejects.toThrow('no');
  });
});
