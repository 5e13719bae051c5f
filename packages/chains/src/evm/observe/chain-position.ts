import type { ChainId } from '@pf/domain';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { networkOf } from '../../networks.ts';
import { type Block, getBlock, getHead, identifyChain } from '../calls.ts';
import { type Checkpoint, hashesOf, newestOf } from './checkpoints.ts';

/** Which chain an observer follows, and how far it has read. */
export interface ChainPosition {
  /** The hash of block 0: which chain this is. */
  readonly genesis: string;
  readonly checkpoints: readonly Checkpoint[];
}

/** A head this many ms below the cursor causes a warning. Upstreams behind one URL always differ by a few blocks. */
const SHORTFALL_WARNED_MS = 30_000;
/** Of a different chain than before, only this many of the newest blocks are read: such a chain is a local one. */
const NEW_CHAIN_BLOCKS = 100_000n;
/** A chain that began less than so many ms ago need not have a final block yet: Base's is 20 minutes behind. */
const YOUNG_MS = 30 * 60_000;

/** The blocks that a chain aims to make in this time. */
const blocksIn = (ms: number, chain: ChainId): bigint => BigInt(Math.ceil(ms / networkOf(chain).blockMs));

/** The first start begins at the final block: no intent is older than the service. */
export async function begin(node: RpcNode, chain: ChainId): Promise<ChainPosition & { readonly start: Checkpoint }> {
  const [genesis, finalized, head] = await node.batch([getBlock(0n), getBlock('finalized'), getHead()]);
  if (genesis === null) throw new RpcUpstreamError(`${node.name} has no block 0`, 'no');
  // From there the present would be years away.
  if (finalized === null && (head === null || head.number >= blocksIn(YOUNG_MS, chain)))
    throw new RpcUpstreamError(`${node.name} has no final block`, 'no');
  const { number, hash } = finalized ?? genesis;
  return { genesis: genesis.hash, checkpoints: [{ number, hash }], start: { number, hash } };
}

/**
 * Of several positions on one chain, the one that has read the least.
 * @throws Error where they are on different chains
 */
export function lowestOf<Position extends ChainPosition>(positions: readonly Position[]): Position {
  const [first, ...others] = positions;
  if (first === undefined) throw new Error('there are no positions');
  const elsewhere = others.find(({ genesis }) => genesis !== first.genesis);
  if (elsewhere)
    throw new Error(`the cursors follow different chains, with the genesis blocks ${first.genesis} and \
${elsewhere.genesis}: wait until all have read the same one`);
  return others.reduce((lowest, one) => (newestOf(one).number < newestOf(lowest).number ? one : lowest), first);
}

export type Relocation =
  /** This node does not yet have the blocks that were read: nothing to do, and nothing to conclude. */
  | { readonly kind: 'behind' }
  /** Blocks above the newest of these checkpoints were replaced. */
  | {
      readonly kind: 'reorg';
      readonly checkpoints: readonly Checkpoint[];
      readonly ancestor: bigint;
      readonly depth: bigint;
    }
  /** Nothing that was read before is on this chain: reading starts again at a block. */
  | { readonly kind: 'new_chain'; readonly genesis: string; readonly from: Checkpoint; readonly warning: string };

/**
 * Finds out why this node does not have the newest checkpoint: it lags, blocks were replaced, or it is another chain.
 */
export async function relocate(node: RpcNode, chain: ChainId, before: ChainPosition, head: Block): Promise<Relocation> {
  const below = before.checkpoints.filter(({ number }) => number <= head.number);
  const hashes = await hashesOf(node, [0n, ...below.map(({ number }) => number)]);
  const [expected] = below;
  // Its head is a little higher: behind one URL, another node reported that. Local nodes drop old blocks.
  const near = blocksIn(SHORTFALL_WARNED_MS, chain);
  if (expected !== undefined && !hashes.has(expected.number) && head.number - expected.number <= near)
    return { kind: 'behind' };
  const checkpoints = below.filter(({ number, hash }) => hashes.get(number) === hash);
  const [ancestor] = checkpoints;
  if (ancestor !== undefined) {
    if (ancestor === below[0] && below.length < before.checkpoints.length) return { kind: 'behind' };
    return { kind: 'reorg', checkpoints, ancestor: ancestor.number, depth: newestOf(before).number - ancestor.number };
  }
  const genesis = hashes.get(0n);
  if (genesis === undefined) throw new RpcUpstreamError(`${node.name} has no block 0`, 'no');
  if (genesis === before.genesis && below.length === 0) return { kind: 'behind' };
  // A local chain that was reset still has its chain id. An upstream that now serves another network has nothing to
  // read.
  const problem = genesis === before.genesis ? null : await identifyChain(chain)(node);
  if (problem !== null) throw new RpcUpstreamError(`${node.name}: ${problem}`, 'no');
  const first = await node.call(getBlock(head.number > NEW_CHAIN_BLOCKS ? head.number - NEW_CHAIN_BLOCKS : 0n));
  if (first === null) throw new RpcUpstreamError(`${node.name} lacks blocks below its head`, 'no');
  const { number, hash } = first;
  const why =
    genesis === before.genesis
      ? 'none of the blocks read so far is still on the chain'
      : 'the chain is a different one: its genesis block differs';
  return {
    kind: 'new_chain',
    genesis,
    from: { number, hash },
    warning: `${why}; the head is ${head.number}, starting again at block ${number}`,
  };
}

/** The warning about a node that is behind. */
export function shortfallOf(chain: ChainId, before: ChainPosition, head: Block): string[] {
  const shortfall = newestOf(before).number - head.number;
  return shortfall > blocksIn(SHORTFALL_WARNED_MS, chain)
    ? [`the head ${head.number} is ${shortfall} blocks below the last block that was read`]
    : [];
}
