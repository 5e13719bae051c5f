import { describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { lookAt } from '../../../src/solana/observe/looking.ts';

const HASHES = Array.from({ length: 12 }, (_, number) => `hash ${number}` as TransactionHash);

/** A node that sends so many transactions in time, and none of more. */
function nodeWith(most: number, requests: number[], delivered: 'no' | 'maybe' = 'maybe'): RpcNode {
  const batch = async (calls: readonly RpcCall<unknown>[]): Promise<unknown> => {
    requests.push(calls.length);
    if (calls.length > most) throw new RpcUpstreamError('too late', delivered, undefined, 'timeout');
    return calls.map(() => null);
  };
  return { name: 'node', batch } as unknown as RpcNode;
}

describe('a look at many transactions', () => {
  it('is one request', async () => {
    const requests: number[] = [];
    expect(await lookAt(nodeWith(100, requests), HASHES)).toHaveLength(12);
    expect(requests).toEqual([12]);
  });

  it('takes a few at a time where strangers have made them too much together', async () => {
    const requests: number[] = [];
    expect(await lookAt(nodeWith(5, requests), HASHES)).toHaveLength(12);
    expect(requests).toEqual([12, 5, 5, 2]);
  });

  it('fails where the upstream does not send a few either, or was not reached', async () => {
    const requests: number[] = [];
    await expect(lookAt(nodeWith(0, requests), HASHES)).rejects.toThrow('too late');
    expect(requests).toEqual([12, 5]);
    await expect(lookAt(nodeWith(0, requests, 'no'), HASHES)).rejects.toThrow('too late');
    expect(requests).toEqual([12, 5, 12]);
  });
});
