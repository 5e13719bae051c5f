import { describe, expect, it } from '@jest/globals';
import type { IntentId, TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { Memory } from '../../src/base/observe/memory.ts';
import { findDropped, type PendingOutcome } from '../../src/base/observe/pending-outcomes.ts';
import { networkNamed } from '../../src/index.ts';
import { named, Watched } from '../conformance/watching.ts';
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

/** A node with that count of the account's transactions at the safe block; null: it has pruned the state there. */
function nodeWith(name: string, count: bigint | null): RpcNode {
  const respond = ({ method }: RpcCall<unknown>): unknown => {
    if (method === 'eth_getTransactionReceipt') return null;
    if (method !== 'eth_getTransactionCount') return safe;
    if (count === null) throw new RpcUpstreamError(`${name}: missing trie node`, 'no');
    return count;
  };
  return {
    name,
    plan: {},
    callsIn: () => Number.POSITIVE_INFINITY,
    call: async (call) => respond(call) as never,
    batch: async (calls) => calls.map(respond) as never,
  };
}
/**
 * What is concluded by a step on the first of these nodes.
 * @param unread what could not be judged
 */
function concludedBeside(
  unread: Parameters<typeof findDropped>[6],
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
  return findDropped(context, pool, async () => null, [missing], safe, safe.number, unread);
}
const pruned = nodeWith('pruned.example', null);
/** The names of the observations, and how many warnings there are. */
async function shown(...nodes: readonly [RpcNode, ...RpcNode[]]): Promise<readonly [readonly string[], number]> {
  const { observations, warnings } = await concludedBeside([], ...nodes);
  return [named(observations), warnings.length];
}

describe('a transaction without a receipt', () => {
  it('is dropped once its nonce is used at the safe block', async () => {
    expect(await shown(nodeWith('a.example', NONCE + 1n))).toEqual([['dropped'], 0]);
    expect(await shown(nodeWith('a.example', NONCE))).toEqual([[], 0]);
  });

  it('is not dropped while it is set aside, as it has logged a payment whose receipt may be pruned', async () => {
    const used = nodeWith('a.example', NONCE + 1n);
    expect(named((await concludedBeside([missing], used)).observations)).toEqual([]);
    const another = { hash: `0x${'cd'.repeat(32)}` as TransactionHash };
    expect(named((await concludedBeside([another], used)).observations)).toEqual(['dropped']);
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
