import { bigintText } from '@pf/contracts';
import type { RpcNode } from '@pf/rpc';
import { z } from 'zod';
import { getBlock } from '../calls.ts';

/** A block that was canonical when the scan reached it. */
const checkpoint = z.object({ number: bigintText, hash: z.string() });
export type Checkpoint = z.infer<typeof checkpoint>;

/** Newest first; up to the newest all logs were read. Dense near the head, sparse far below it. */
export const checkpoints = z.array(checkpoint).min(1);

/** This many of the newest checkpoints are kept: most reorgs are short. */
const DENSE = 32;

/** Adds a checkpoint. Below the newest ones, each kept checkpoint is at least 1.5 times as deep as the one above it. */
export function advance(before: readonly Checkpoint[], next: Checkpoint): Checkpoint[] {
  const below = before.filter(({ number }) => number < next.number);
  const kept = [next, ...below.slice(0, DENSE - 1)];
  for (const candidate of below.slice(DENSE - 1)) {
    const last = kept.at(-1) ?? next;
    if (2n * (next.number - candidate.number) >= 3n * (next.number - last.number)) kept.push(candidate);
  }
  return kept;
}

export function newestOf({ checkpoints: [newest] }: { readonly checkpoints: readonly Checkpoint[] }): Checkpoint {
  if (newest === undefined) throw new Error('a position has at least one checkpoint');
  return newest;
}

/** The canonical hashes of these blocks, as this node has them now; absent where it has none. */
export async function hashesOf(node: RpcNode, blocks: Iterable<bigint>): Promise<ReadonlyMap<bigint, string>> {
  const numbers = [...new Set(blocks)];
  if (numbers.length === 0) return new Map();
  const found = await node.batch(numbers.map((number) => getBlock(number)));
  return new Map(found.flatMap((block): [bigint, string][] => (block === null ? [] : [[block.number, block.hash]])));
}
