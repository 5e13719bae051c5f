import type { TransactionHash } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
import { type Receipt, getReceipt } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { keptLogsOf } from '../nested/kept-logs.ts';
import type { Scan } from './context.ts';
import type { Nested } from './nested-payments.ts';

/**
 * Receipts of one request are of transactions that may use so much gas together: even if they spend all of it on empty
 * logs (375 gas, some 450 bytes of JSON), the response has 4 MB. One that may use more is asked for alone.
 */
const GAS_AT_ONCE = 3_000_000n;
const RECEIPTS_AT_ONCE = 20;

/** A nested transaction with its receipt, or why there is none. */
interface Read {
  readonly nested: Nested;
  readonly receipt: Receipt | string;
}

/** Reads the receipts of these transactions, in requests whose size does not depend on what strangers write. */
export async function* readReceiptsOf(
  context: Scan,
  all: readonly { readonly nested: Nested }[],
): AsyncGenerator<Read> {
  const unread: Nested[] = [];
  for (const { nested } of all)
    if (nested.receipt === undefined) unread.push(nested);
    else yield { nested, receipt: nested.receipt };
  for (const part of partsByGas(unread.filter(isSmall)))
    yield* withReceipts(part, await readReceipts(context, part.map(hashOf)));
  const large = unread.filter((nested) => !isSmall(nested));
  if (large.length > 0) yield* withReceipts(large, await fetchReceipts(context, large.map(hashOf)));
}

const hashOf = ({ transaction: { hash } }: Nested): TransactionHash => hash;
const isSmall = ({ transaction: { gas } }: Nested): boolean => gas <= GAS_AT_ONCE;

function* partsByGas(all: readonly Nested[]): Generator<readonly Nested[]> {
  let part: Nested[] = [];
  let left = GAS_AT_ONCE;
  for (const nested of all) {
    const { gas } = nested.transaction;
    if (part.length === RECEIPTS_AT_ONCE || gas > left) {
      yield part;
      [part, left] = [[], GAS_AT_ONCE];
    }
    part.push(nested);
    left -= gas;
  }
  if (part.length > 0) yield part;
}

function* withReceipts(all: readonly Nested[], receipts: readonly (Receipt | string)[]): Generator<Read> {
  for (const [place, nested] of all.entries()) {
    const receipt = receipts[place] ?? NONE;
    const isSame = typeof receipt === 'string' || receipt.blockHash === nested.transfers[0]?.log.blockHash;
    yield { nested, receipt: isSame ? receipt : 'its receipt is of another block' };
  }
}

/** Receipts of any size, each alone and beside the steps. */
export const fetchReceipts = (
  context: Scan,
  hashes: readonly TransactionHash[],
): Promise<readonly (Receipt | string)[]> =>
  context.memory.fetches.take(hashes, async (hash) => (await readReceipts(context, [hash]))[0] ?? NONE);

const NONE = 'no receipt of it was found';

/** In one request. What this node does not have may be had from another one, which is asked at once. */
export async function readReceipts(
  { node, pool, network }: Pick<Scan, 'node' | 'pool' | 'network'>,
  hashes: readonly TransactionHash[],
): Promise<readonly (Receipt | string)[]> {
  const keeps = keptLogsOf(network);
  const read = async (by: RpcNode, some: readonly TransactionHash[]): Promise<readonly (Receipt | string)[]> => {
    const receipts = await readEach(
      by,
      some.map((hash) => getReceipt(hash, keeps)),
    );
    return receipts.map((receipt) => (receipt instanceof Unreadable ? receipt.reason : (receipt ?? NONE)));
  };
  const first = await read(node, hashes);
  const lacking = hashes.filter((_hash, place) => typeof first[place] === 'string');
  const others = lacking.length === 0 ? null : await pool.onAnother(node, (other) => read(other, lacking));
  const second = new Map(others?.map((receipt, place) => [lacking[place], receipt]));
  return first.map((one, place) => (typeof one === 'string' ? (second.get(hashes[place]) ?? one) : one));
}
