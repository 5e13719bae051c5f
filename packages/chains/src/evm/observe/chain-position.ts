import type { ChainId } from '@pf/domain';
import { type RpcNode, RpcUpstreamError } from '@pf/rpc';
import { type Block, getBlock, identifyChain } from '../calls.ts';
import { type Checkpoint, hashesOf, newestOf } from './checkpoints.ts';

/** Where an observer stands on which chain. */
export interface ChainPosition {
  /** The hash of block 0: which chain this is. */
  readonly genesis: string;
  readonly checkpoints: readonly Checkpoint[];
}

/** A head this far below the cursor is told. Upstreams behind one URL differ by a few blocks all the time. */
const SHORTFALL_WARNED = 50n;
/** On a chain that is another one than before, so many of its newest blocks are read. */
const NEW_CHAIN_BLOCKS = 100_000n;

/** The first start begins at what is final: no intent is older than the service. */
export async function begin(node: RpcNode): Promise<ChainPosition & { readonly start: Checkpoint }> {
  const [genesis, finalized] = await node.batch([getBlock(0n), getBlock('finalized')]);
  if (genesis === null) throw new RpcUpstreamError(`${node.name} has no block 0`, 'no');
  const { number, hash } = finalized ?? genesis;
  return { genesis: genesis.hash, checkpoints: [{ number, hash }], start: { number, hash } };
}

export type Relocation =
  /** This node does not have yet what was read before: nothing to do, and nothing to conclude. */
  | { readonly kind: 'behind' }
  /** Blocks above the newest of these checkpoints are other ones now. */
  | {
      readonly kind: 'back';
      readonly checkpoints: readonly Checkpoint[];
      readonly ancestor: bigint;
      readonly depth: bigint;
    }
  /** Nothing of what was read before is on this chain: it is read from a block on. */
  | { readonly kind: 'anew'; readonly genesis: string; readonly from: Checkpoint; readonly warning: string };

/** The newest checkpoint is not what this node has there: it lags, blocks were replaced, or it is another chain. */
export async function relocate(node: RpcNode, chain: ChainId, before: ChainPosition, head: Block): Promise<Relocation> {
  const below = before.checkpoints.filter(({ number }) => number <= head.number);
  const hashes = await hashesOf(node, [0n, ...below.map(({ number }) => number)]);
  const checkpoints = below.filter(({ number, hash }) => hashes.get(number) === hash);
  const [ancestor] = checkpoints;
  if (ancestor !== undefined) {
    if (ancestor === below[0] && below.length < before.checkpoints.length) return { kind: 'behind' };
    return { kind: 'back', checkpoints, ancestor: ancestor.number, depth: newestOf(before).number - ancestor.number };
  }
  const genesis = hashes.get(0n);
  if (genesis === undefined) throw new RpcUpstreamError(`${node.name} has no block 0`, 'no');
  if (genesis === before.genesis && below.length === 0) return { kind: 'behind' };
  // A local chain that began anew says so. Behind a URL that was turned to another network there is nothing to read.
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
    kind: 'anew',
    genesis,
    from: { number, hash },
    warning: `${why}; the head is ${head.number}, starting again at block ${number}`,
  };
}

/** What to tell of a node that is behind. */
export function shortfallOf(before: ChainPosition, head: Block): string[] {
  const shortfall = newestOf(before).number - head.number;
  return shortfall > SHORTFALL_WARNED
    ? [`the head ${head.number} is ${shortfall} blocks below the last block that was read`]
    : [];
}
