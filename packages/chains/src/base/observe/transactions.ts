import type { TransactionHash } from '@pf/domain';
import { type RpcNode, soon } from '@pf/rpc';
import { type CallingTransaction, getCalling } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import type { Judging } from './context.ts';

/** How often those of a reading that are too long together are asked for in two halves: until one is alone. */
const SPLITS = 5;
export const NOT_FOUND = 'it was not found';

/** What this node does not have may be had from another one, which is asked at once. */
export const readTransactions = (
  { node, pool, late }: Pick<Judging, 'node' | 'pool' | 'late'>,
  hashes: readonly TransactionHash[],
): Promise<readonly (CallingTransaction | string)[]> =>
  readByTwo({ node, pool, late }, hashes, async (by, some, areShort) => {
    const calls = some.map((hash) => getCalling(hash));
    const found = await readEach(by, late === undefined ? calls : calls.map(soon), SPLITS, areShort);
    return found.map((one) => (one instanceof Unreadable ? one.reason : (one ?? NOT_FOUND)));
  });

/**
 * What this node shows of each or, where it does not, another one. A step does not wait for what is late: of that
 * another one is asked only where nothing has come, once, and what was late before is not asked for.
 * @param read by one upstream. `areShort`: what does not come in time together is asked for apart at the same time
 */
export async function readByTwo<T extends object>(
  { node, pool, late }: Pick<Judging, 'node' | 'pool' | 'late'>,
  hashes: readonly TransactionHash[],
  read: (by: RpcNode, some: readonly TransactionHash[], areShort: boolean) => Promise<readonly (T | string)[]>,
): Promise<readonly (T | string)[]> {
  const asked = hashes.filter((hash) => late?.reads.isKnown(hash) !== true);
  const first = asked.length === 0 ? [] : await read(node, asked, true);
  const found = new Map(asked.map((hash, place) => [hash, first[place] ?? NOT_FOUND]));
  const areAllLate = first.every((one) => one === NOT_IN_TIME);
  const lacking = asked.filter((hash) => {
    const one = found.get(hash);
    return typeof one === 'string' && (areAllLate || one !== NOT_IN_TIME);
  });
  const second = lacking.length === 0 ? null : await pool.onAnother(node, (other) => read(other, lacking, !areAllLate));
  for (const [place, hash] of lacking.entries()) {
    const one = second?.[place];
    if (one !== undefined && (areAllLate || one !== NOT_IN_TIME)) found.set(hash, one);
  }
  return hashes.map((hash) => found.get(hash) ?? NOT_IN_TIME);
}
