import { beforeEach, describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import { type RpcNode, type RpcPool, RpcRefusedError } from '@pf/rpc';
import { networkOf } from '../../../src/index.ts';
import { readUnseen } from '../../../src/solana/observe/lookups.ts';
import { Memory } from '../../../src/solana/observe/memory.ts';
import { Watched } from '../../conformance/watching.ts';
import { DEVNET } from '../payments.ts';

const HASH = 'listed' as TransactionHash;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MANY = 100;
const alone = { onAnother: () => Promise.resolve(null) } as unknown as RpcPool;

/** A node that responds so to every call. */
const nodeOf = (response: unknown, asked: unknown[] = []): RpcNode => ({
  name: 'node',
  plan: {},
  callsIn: () => Number.POSITIVE_INFINITY,
  call: () => Promise.reject(new Error('only batches')),
  batch: (calls) => {
    asked.push(...calls.map(({ params }) => params[0]));
    return Promise.resolve(calls.map(() => response)) as never;
  },
});

describe('a transaction that a list names', () => {
  let memory: Memory;
  beforeEach(() => {
    memory = new Memory();
    memory.unseen.set(HASH, { slot: 7n, since: 0, dueAt: 0, of: null });
  });
  async function read(node: RpcNode, now: number, most = MANY): Promise<readonly string[]> {
    const read = await readUnseen(alone, node, memory, networkOf(DEVNET), new Watched(), now, most);
    read.commit();
    return read.warnings;
  }

  it('is asked for again while no node returns it, less and less often', async () => {
    const asked: unknown[] = [];
    const node = nodeOf(null, asked);
    for (const now of [0, 1_000, 1_100, 1_500, 1_600]) await read(node, now);
    expect(asked).toHaveLength(3);
    expect(memory.isAwaiting(3_000)).toBe(true);
    await read(node, 60 * MINUTE);
    expect(memory.unseen.get(HASH)?.dueAt).toBe(70 * MINUTE);
    expect(memory.isAwaiting(65 * MINUTE)).toBe(false);
  });

  it('holds the cursor below it, and is warned of after five minutes', async () => {
    expect(await read(nodeOf(null), 4 * MINUTE)).toEqual([]);
    expect(await read(nodeOf(null), 6 * MINUTE)).toEqual([
      'node lists listed but does not return it: it is asked for again',
    ]);
    expect(memory.readUpTo(100n)).toBe(6n);
  });

  it('is given up when no node has returned it for a day', async () => {
    expect(await read(nodeOf(null), DAY)).toEqual(['node lists listed but does not return it: it is skipped']);
    expect(memory.readUpTo(100n)).toBe(100n);
    expect(memory.looked.has(HASH)).toBe(true);
  });

  it('is skipped at once only where its version is unknown', async () => {
    const [of, refused] = [
      (code: number) => nodeOf(new RpcRefusedError('no', code, undefined)),
      (why: string) => [`node lists listed but does not return it: no: ${why}`],
    ];
    expect(await read(of(-32_602), 10 * MINUTE)).toEqual(refused('it is asked for again'));
    expect(memory.unseen.size).toBe(1);
    expect(await read(of(-32_015), 20 * MINUTE)).toEqual(refused('it is skipped'));
    expect(memory.unseen.size).toBe(0);
  });

  it('waits for its turn, the oldest first, where the rate of the upstream allows fewer in a step', async () => {
    const asked: unknown[] = [];
    memory.unseen.set('older' as TransactionHash, { slot: 3n, since: 0, dueAt: 0, of: null });
    await read(nodeOf(null, asked), 0, 1);
    expect(asked).toEqual(['older']);
  });
});
