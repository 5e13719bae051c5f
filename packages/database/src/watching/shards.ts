import { createHash } from 'node:crypto';
import type { Address, ChainId } from '@pf/domain';

/** One of the parts into which the recipients of a network are split: the one with this index, from 1, of so many. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** All recipients. */
export const UNSPLIT: Shard = { index: 1, count: 1 };

/** Beyond this number the shards of 256 hash values would differ too much in size. */
export const SHARDS_MAX = 16;

/** Whether a recipient belongs to a shard. Which one it is depends on its address and the number of shards alone. */
export const isOfShard = (recipient: Address, { index, count }: Shard): boolean =>
  count === 1 || (createHash('sha256').update(recipient).digest()[0] ?? 0) % count === index - 1;

/**
 * SQL: isOfShard().
 * @param recipient SQL, the address
 * @param index SQL, such as `$2`
 * @param count SQL, such as `$3`
 */
export const ofShard = (recipient: string, index: string, count: string): string =>
  `(${count}::int = 1 OR get_byte(sha256(convert_to(${recipient}, 'UTF8')), 0) % ${count}::int = ${index}::int - 1)`;

/** The row of a shard's lease. The first shard has the network's own, so a network that is not split needs no other. */
export const leaseRow = (chain: ChainId, index: number): string => (index === 1 ? chain : `${chain}/${index}`);

/** The rows of every shard that a network can have. */
export const leaseRows = (chain: ChainId): readonly string[] =>
  Array.from({ length: SHARDS_MAX }, (_, at) => leaseRow(chain, at + 1));
