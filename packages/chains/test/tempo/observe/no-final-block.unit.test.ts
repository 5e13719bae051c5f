import { describe, expect, it } from '@jest/globals';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { TempoObserver } from '../../../src/tempo/observer.ts';
import { Watched } from '../../conformance/watching.ts';
import { respondingNode } from '../../nodes.ts';
import { network } from '../payments.ts';

const block = { number: 9n, hash: `0x${'cd'.repeat(32)}`, timestamp: 1_795_000_000n };

describe('a node of Tempo without a final block', () => {
  it('is said to lack that, and not a newest one', async () => {
    let final: typeof block | null = block;
    const node = respondingNode(({ params }) => (JSON.stringify(params).includes('finalized') ? final : block));
    const pool = { size: 1, run: (work: (one: RpcNode) => unknown) => work(node) } as unknown as RpcPool;
    const observer = new TempoObserver(network, pool, () => 0);
    const watched = new Watched();
    const step = (cursor: Parameters<TempoObserver['step']>[0]) => observer.step(cursor, async () => watched.begin());
    const { cursor } = await step(null);
    final = null;
    await expect(step(cursor)).rejects.toThrow('node has no final block');
  });
});
