import type { TransactionHash } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
import { rememberAddresses } from '../../evm/checksummed.ts';
import { type CallingTransaction, getLogs, getReceipt, type Logged, type Receipt } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { keptLogsIn, keptLogsOf } from '../nested/kept-logs.ts';
import type { Judging } from './context.ts';
import type { LoggedTransfer } from './landings.ts';

/**
 * Receipts of one request are of transactions that may use so much gas together: even if they spend all of it on empty
 * logs (375 gas, some 450 bytes of JSON), the response has 4 MB. One that may use more is asked for alone.
 */
const GAS_AT_ONCE = 3_000_000n;
const RECEIPTS_AT_ONCE = 20;
/** How long a step goes on to ask for them. The rest waits: many that may use much gas are as many requests. */
const READ_MS = 1_000;

/** A transaction that pays by more than a transfer of its own. */
export interface Nested {
  readonly transaction: CallingTransaction;
  /** Its transfers to watched recipients: at least one. */
  readonly transfers: readonly LoggedTransfer[];
  /** Where it was read before. */
  readonly receipt?: Logged;
}

/** A nested transaction with what it has logged, or why that is not known. */
interface Read {
  readonly nested: Nested;
  readonly receipt: Logged | string;
}

/** Reads the receipts of these transactions, in requests whose size does not depend on what strangers write. */
export async function* readReceiptsOf(
  context: Judging,
  all: readonly { readonly nested: Nested }[],
): AsyncGenerator<Read> {
  const unread: Nested[] = [];
  for (const { nested } of all)
    if (nested.receipt === undefined) unread.push(nested);
    else yield { nested, receipt: nested.receipt };
  const began = performance.now();
  for (const part of partsByGas(unread.filter(isSmall)))
    yield* withReceipts(
      part,
      performance.now() - began < READ_MS
        ? await readReceipts(context, part.map(hashOf))
        : part.map(() => 'there was no time for its receipt'),
    );
  const large = unread.filter((nested) => !isSmall(nested));
  if (large.length > 0) yield* withReceipts(large, await fetchReceipts(context, large.map(placeOf)));
}

const placeOf = ({ transaction: { hash }, transfers: [first] }: Nested): Placed => ({
  hash,
  place: first?.log.blockNumber ?? 0n,
});
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

function* withReceipts(all: readonly Nested[], receipts: readonly (Logged | string)[]): Generator<Read> {
  for (const [place, nested] of all.entries()) {
    const receipt = receipts[place] ?? NONE;
    const isSame = typeof receipt === 'string' || receipt.blockHash === nested.transfers[0]?.log.blockHash;
    yield { nested, receipt: isSame ? receipt : 'its receipt is of another block' };
  }
}

/** A transaction, and the block in which it was. */
interface Placed {
  readonly hash: TransactionHash;
  readonly place: bigint;
}

/** Receipts of any size, each alone and beside the steps; of one that cannot be read, the logs in its block. */
export const fetchReceipts = (context: Judging, all: readonly Placed[]): Promise<readonly (Logged | string)[]> => {
  const places = new Map(all.map(({ hash, place }) => [hash, place]));
  return context.memory.fetches.take([...places.keys()], async (hash) => {
    const [receipt = NONE] = await readReceipts(context, [hash]);
    const place = places.get(hash);
    return typeof receipt === 'string' && place !== undefined
      ? ((await readLoggedIn(context, hash, place)) ?? receipt)
      : receipt;
  });
};

/** Whoever sends a transaction may make its receipt too long to be read, but not what tokens log in a block. */
export async function readLoggedIn(
  { node, network }: Pick<Judging, 'node' | 'network'>,
  hash: TransactionHash,
  block: bigint,
): Promise<Logged | null> {
  const [found] = await readEach(node, [getLogs(keptLogsIn(network, block))]);
  if (found === undefined || found instanceof Unreadable) return null;
  const keeps = keptLogsOf(network);
  const logs = found.filter(
    ({ transactionHash, address, topics, removed }) =>
      transactionHash === hash && !removed && keeps(address.toLowerCase(), topics[0]),
  );
  await rememberAddresses(logs);
  // One that failed has left none.
  return logs[0] === undefined ? null : { transactionHash: hash, status: 1n, blockHash: logs[0].blockHash, logs };
}

const NONE = 'no receipt of it was found';

/**
 * In one request. What this node does not have may be had from another one, which is asked at once.
 * @param splits how often those that are too long together are asked for in two halves
 */
export async function readReceipts(
  { node, pool, network }: Pick<Judging, 'node' | 'pool' | 'network'>,
  hashes: readonly TransactionHash[],
  splits = 0,
): Promise<readonly (Receipt | string)[]> {
  const keeps = keptLogsOf(network);
  const read = async (by: RpcNode, some: readonly TransactionHash[]): Promise<readonly (Receipt | string)[]> => {
    const receipts = await readEach(
      by,
      some.map((hash) => getReceipt(hash, keeps)),
      splits,
    );
    for (const receipt of receipts)
      if (receipt !== null && !(receipt instanceof Unreadable)) await rememberAddresses(receipt.logs);
    return receipts.map((receipt) => (receipt instanceof Unreadable ? receipt.reason : (receipt ?? NONE)));
  };
  const first = await read(node, hashes);
  const lacking = hashes.filter((_hash, place) => typeof first[place] === 'string');
  const others = lacking.length === 0 ? null : await pool.onAnother(node, (other) => read(other, lacking));
  const second = new Map(others?.map((receipt, place) => [lacking[place], receipt]));
  return first.map((one, place) => (typeof one === 'string' ? (second.get(hashes[place]) ?? one) : one));
}
