import { describe, expect, it } from '@jest/globals';
import type { ChainId } from '@pf/domain';
import type { RpcCall, RpcNode } from '@pf/rpc';
import type { Block } from '../../src/evm/calls.ts';
import { relocate } from '../../src/evm/observe/chain-position.ts';

const hashAt = (number: bigint): string => `0x${number.toString(16).padStart(64, '0')}`;
const blockAt = (number: bigint): Block => ({ number, hash: hashAt(number), timestamp: 0n }) as unknown as Block;

/** A node that has these blocks. */
const nodeWith = (blocks: readonly bigint[]): RpcNode => ({
  name: 'node',
  plan: {},
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls: readonly RpcCall<unknown>[]) =>
    Promise.resolve(
      calls.map(({ params: [number] }) =>
        blocks.includes(BigInt(String(number))) ? blockAt(BigInt(String(number))) : null,
      ),
    ) as never,
});

describe('the relocation of a chain position', () => {
  const before = {
    genesis: hashAt(0n),
    checkpoints: [13n, 12n, 11n, 10n].map((number) => ({ number, hash: hashAt(number) })),
  };
  const from = (blocks: readonly bigint[], head: bigint) =>
    relocate(nodeWith(blocks), 'eip155:84532' as ChainId, before, blockAt(head));

  it('concludes nothing from a node that lacks blocks below the head which another one reported', async () => {
    // Behind one URL: the head came from one node, these blocks from another.
    expect(await from([0n, 10n, 11n], 13n)).toEqual({ kind: 'behind' });
    expect(await from([0n], 13n)).toEqual({ kind: 'behind' });
    expect(await from([0n, 10n, 11n], 11n)).toEqual({ kind: 'behind' });
  });

  it('goes on below blocks that a node has dropped long ago', async () => {
    expect(await from([0n, 10n, 64n], 64n)).toMatchObject({ kind: 'reorg', ancestor: 10n });
  });
});
