import { describe, expect, it } from '@jest/globals';
import { samples } from '@pf/domain/testing';
import { RpcBehindError, type RpcNode } from '@pf/rpc';
import { placeOf, type Seen } from '../../../src/base/observe/position.ts';
import { orphan } from '../../../src/base/observe/settlements.ts';
import type { WatchSet } from '../../../src/index.ts';

const revertedIn = (block: bigint): Seen => ({
  kind: 'reverted',
  intentId: samples.INTENT,
  hash: samples.FIRST,
  block,
  blockHash: `0x${block}`,
  reason: 'it ran out of gas',
  seenAt: 1,
});
const seen = [revertedIn(98n), revertedIn(100n), revertedIn(101n)];
const watch = { settling: () => [] } as unknown as WatchSet;
/** A node with these blocks, of which those from 100 on are others than before. */
const nodeUpTo = (newest: bigint): RpcNode =>
  ({
    name: 'node.example',
    batch: async (calls: readonly { readonly params: readonly unknown[] }[]) =>
      calls.map(({ params: [number] }) => {
        const block = BigInt(String(number));
        return block > newest ? null : { number: block, hash: block < 100n ? `0x${block}` : `0x9${block}` };
      }),
  }) as unknown as RpcNode;

describe('What a reorg has orphaned', () => {
  it('is concluded from a node that has every block up to the head', async () => {
    const { seen: kept } = await orphan({ node: nodeUpTo(101n), watch }, seen, 99n, 101n);
    expect(kept.map((one) => placeOf(one).block)).toEqual([98n]);
  });

  it('is not concluded from a lagging node', async () => {
    await expect(orphan({ node: nodeUpTo(99n), watch }, seen, 99n, 101n)).rejects.toThrow(
      new RpcBehindError('node.example lags: it lacks block 100, and had 101 before'),
    );
  });

  it('excludes blocks above the head of a shorter fork', async () => {
    const { seen: kept } = await orphan({ node: nodeUpTo(100n), watch }, seen, 99n, 100n);
    expect(kept.map((one) => placeOf(one).block)).toEqual([98n, 101n]);
  });
});
