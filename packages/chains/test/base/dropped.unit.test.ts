import { describe, expect, it } from '@jest/globals';
import type { IntentId, TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { Memory } from '../../src/base/observe/memory.ts';
import { findDropped, type PendingOutcome } from '../../src/base/observe/pending-outcomes.ts';
import { Absences } from '../../src/evm/observe/absence.ts';
import { networkNamed } from '../../src/index.ts';
import { named, Watched } from '../conformance/watching.ts';
import { respondingNode } from '../nodes.ts';
import { fulfiller, terms } from './payments.ts';

const NONCE = 4n;
const safe = { number: 50n, hash: '0x5afe', parentHash: '0x00', timestamp: 1_000n, baseFeePerGas: 0n };
const missing: PendingOutcome = {
  intentId: 'pi_1' as IntentId,
  hash: `0x${'ab'.repeat(32)}` as TransactionHash,
  sender: fulfiller,
  nonce: NONCE,
  terms,
  since: 0,
  ignoresRevert: false,
};

/**
 * A node with that count of the account's transactions at the safe block; null: it has pruned the state there.
 * @param receipts by hash, also what it throws for one
 */
function nodeWith(name: string, count: bigint | null, receipts = new Map<unknown, unknown>()): RpcNode {
  const respond = ({ method, params }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getTransactionReceipt') {
      const receipt = receipts.get(params[0]) ?? null;
      if (receipt instanceof Error) throw receipt;
      return receipt;
    }
    if (method !== 'eth_getTransactionCount') return safe;
    if (count === null) throw new RpcUpstreamError(`${name}: missing trie node`, 'no');
    return count;
  };
  return respondingNode(respond, name);
}
/** The same nodes, and how many batches they were sent together. */
function counted(
  ...nodes: readonly [RpcNode, ...RpcNode[]]
): readonly [readonly [RpcNode, ...RpcNode[]], () => number] {
  let sent = 0;
  for (const node of nodes) {
    const batch = node.batch.bind(node);
    node.batch = (calls) => {
      sent += 1;
      return batch(calls);
    };
  }
  return [nodes, () => sent];
}
/**
 * What is concluded by a step on the first of these nodes.
 * @param unread what could not be judged
 */
function concluded(
  pending: readonly PendingOutcome[],
  unread: Parameters<typeof findDropped>[7],
  first: RpcNode,
  ...others: readonly RpcNode[]
): ReturnType<typeof findDropped> {
  const pool = {
    onAnother: async (_than: RpcNode, work: (node: RpcNode) => Promise<unknown>) => {
      const [other] = others;
      return other ? work(other).catch(() => null) : null;
    },
    onAll: async (work: (node: RpcNode) => Promise<unknown>) => ({
      responses: await Promise.all([first, ...others].map(work)),
      conclusive: true,
    }),
  } as unknown as RpcPool;
  const context = {
    pool,
    node: first,
    network: networkNamed('base-sepolia'),
    watch: new Watched(),
    memory: new Memory(),
    now: 0,
    waitsSince: () => undefined,
  };
  const absences = new Absences(pool, () => 0);
  return findDropped(context, absences, async () => null, pending, safe, safe.number, new Set(), unread);
}
const pruned = nodeWith('pruned.example', null);
/** The names of the observations, and how many warnings there are. */
async function shown(...nodes: readonly [RpcNode, ...RpcNode[]]): Promise<readonly [readonly string[], number]> {
  const { observations, warnings } = await concluded([missing], [], ...nodes);
  return [named(observations), warnings.length];
}

describe('a transaction without a receipt', () => {
  it('is dropped once its nonce is used at the safe block', async () => {
    expect(await shown(nodeWith('a.example', NONCE + 1n))).toEqual([['dropped'], 0]);
    expect(await shown(nodeWith('a.example', NONCE))).toEqual([[], 0]);
  });

  it('is not dropped while it is set aside, as it has logged a payment whose receipt may be pruned', async () => {
    const used = nodeWith('a.example', NONCE + 1n);
    expect(named((await concluded([missing], [missing], used)).observations)).toEqual([]);
    const another = { hash: `0x${'cd'.repeat(32)}` as TransactionHash };
    expect(named((await concluded([missing], [another], used)).observations)).toEqual(['dropped']);
  });

  it('is dropped by the count of another node, where one has pruned the state at the safe block', async () => {
    expect(await shown(pruned, nodeWith('b.example', NONCE + 1n))).toEqual([['dropped'], 0]);
    expect(await shown(pruned, nodeWith('b.example', NONCE))).toEqual([[], 0]);
  });

  it('is not dropped, with a warning, where no node has the state at the safe block', async () => {
    expect(await shown(pruned)).toEqual([[], 1]);
    expect(await shown(pruned, pruned)).toEqual([[], 1]);
  });
});

describe('a hundred transactions without receipts', () => {
  const many = Array.from({ length: 100 }, (_, place) => ({
    ...missing,
    intentId: `pi_${place}` as IntentId,
    hash: `0x${String(place).padStart(64, '0')}` as TransactionHash,
  }));
  const [landed] = many as [PendingOutcome];

  it('are dropped by one look of every upstream', async () => {
    const [nodes, batches] = counted(nodeWith('a.example', NONCE + 1n), nodeWith('b.example', NONCE + 1n));
    const { observations } = await concluded(many, [], ...nodes);
    expect(observations).toHaveLength(100);
    // The counts at the first, and at each the block and the receipts.
    expect(batches()).toBe(1 + 2 * 2);
  });

  it('are dropped without the one whose receipt an upstream has, or cannot show', async () => {
    for (const receipt of [{ status: 1n }, new RpcUpstreamError('too long', 'maybe', undefined, 'malformed')]) {
      const other = nodeWith('b.example', NONCE + 1n, new Map([[landed.hash, receipt]]));
      const { observations } = await concluded(many, [], nodeWith('a.example', NONCE + 1n), other);
      expect(observations.map(({ data: { hash } }) => hash)).toEqual(many.slice(1).map(({ hash }) => hash));
    }
  });
});
