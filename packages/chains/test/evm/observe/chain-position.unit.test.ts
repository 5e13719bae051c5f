import { describe, expect, it } from '@jest/globals';
import type { ChainId } from '@pf/domain';
import type { RpcCall, RpcNode } from '@pf/rpc';
import type { Block } from '../../../src/evm/calls.ts';
import { begin, relocate } from '../../../src/evm/observe/chain-position.ts';
import { error, startProvider } from '../../../../rpc/test/provider.ts';
import { poolOver } from '../../../../rpc/test/upstreams.ts';

const BASE_SEPOLIA = 'eip155:84532' as ChainId;
const hashAt = (number: bigint): string => `0x${number.toString(16).padStart(64, '0')}`;
const blockAt = (number: bigint): Block => ({ number, hash: hashAt(number), timestamp: 0n }) as unknown as Block;

/** A node that has these blocks. */
const nodeWith = (blocks: readonly bigint[]): RpcNode => ({
  name: 'node',
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls: readonly RpcCall<unknown>[]) =>
    Promise.resolve(
      calls.map(({ params: [number] }) =>
        blocks.includes(BigInt(String(number))) ? blockAt(BigInt(String(number))) : null,
      ),
    ) as never,
});

describe('the first position on a chain', () => {
  /** A node with this head and final block. */
  const startOn = (head: bigint, final: bigint | null) =>
    begin(
      {
        ...nodeWith([]),
        batch: (calls: readonly RpcCall<unknown>[]) =>
          Promise.resolve(
            calls.map(({ params: [tag] }) => {
              if (tag === 'finalized') return final === null ? null : blockAt(final);
              return blockAt(tag === 'latest' ? head : 0n);
            }),
          ) as never,
      },
      BASE_SEPOLIA,
    );

  it('is its final block', async () => {
    expect((await startOn(5_000n, 4_900n)).start.number).toBe(4_900n);
  });

  it('is block 0 only where the chain has just begun: the present would be years away', async () => {
    expect((await startOn(20n, null)).start.number).toBe(0n);
    await expect(startOn(9_000n, null)).rejects.toThrow('has no final block');
  });

  it('is block 0 for half an hour: Base needs 20 minutes, 6,000 blocks of 200 ms, until one is final', async () => {
    expect((await startOn(6_000n, null)).start.number).toBe(0n);
  });
});

describe('the relocation of a chain position', () => {
  const before = {
    genesis: hashAt(0n),
    checkpoints: [13n, 12n, 11n, 10n].map((number) => ({ number, hash: hashAt(number) })),
  };
  const from = (blocks: readonly bigint[], head: bigint) =>
    relocate(nodeWith(blocks), BASE_SEPOLIA, before, blockAt(head));

  it('concludes nothing from a node that lacks blocks below the head which another one reported', async () => {
    // Behind one URL: the head came from one node, these blocks from another.
    expect(await from([0n, 10n, 11n], 13n)).toEqual({ kind: 'behind' });
    expect(await from([0n], 13n)).toEqual({ kind: 'behind' });
    expect(await from([0n, 10n, 11n], 11n)).toEqual({ kind: 'behind' });
  });

  it('asks for all its blocks where the plan takes ten calls in an array', async () => {
    const most = 10;
    const lengths: number[] = [];
    const newest = 100n;
    /** All dense checkpoints, of which the newest block was replaced. */
    const position = {
      genesis: hashAt(0n),
      checkpoints: Array.from({ length: 33 }, (_, depth) => {
        const number = newest - BigInt(depth);
        return { number, hash: depth === 0 ? hashAt(7n) : hashAt(number) };
      }),
    };
    const provider = await startProvider((calls, isArray) => {
      if (calls[0]?.method === 'eth_getBlockByNumber') lengths.push(calls.length);
      if (calls.length > most) return { body: error(null, -32_014, 'too many RPC calls in batch request') };
      const answers = calls.map(({ id, method, params: [number] }) => {
        const hash = hashAt(BigInt(number ?? 0));
        const block = { number, hash, parentHash: hash, timestamp: '0x0' };
        return { jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x14a34' : block };
      });
      return { body: isArray ? answers : answers[0] };
    });
    const pool = poolOver([provider.url], 10_000);
    const relocated = pool.run((node) => relocate(node, BASE_SEPOLIA, position, blockAt(newest)));
    await expect(relocated.finally(() => Promise.all([pool.close(), provider.stop()]))).resolves.toMatchObject({
      kind: 'reorg',
      ancestor: 99n,
      depth: 1n,
      checkpoints: position.checkpoints.slice(1),
    });
    // The block 0 and 33 others: refused as one array, then asked for in short ones.
    expect(lengths[0]).toBe(34);
    expect(lengths.filter((length) => length <= most).reduce((sum, length) => sum + length, 0)).toBe(34);
  });

  it('concludes nothing from a node that is 30 s behind: 150 blocks of 200 ms', async () => {
    expect(await from([0n, 10n], 163n)).toEqual({ kind: 'behind' });
  });

  it('goes on below blocks that a node has dropped long ago', async () => {
    expect(await from([0n, 10n, 164n], 164n)).toMatchObject({ kind: 'reorg', ancestor: 10n });
  });
});
