import type { TransactionHash } from '@pf/domain';
import { soon } from '@pf/rpc';
import { rememberAddresses } from '../../evm/checksummed.ts';
import { type CallingTransaction, getLogs, getReceipt, type Logged, type Receipt } from '../../evm/calls.ts';
import { LATE, readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import type { Explanation } from '../nested/explain.ts';
import { keptLogsIn, keptLogsOf } from '../nested/kept-logs.ts';
import type { Judging } from './context.ts';
import type { LoggedTransfer } from './landings.ts';
import { readByTwo } from './transactions.ts';

/**
 * Receipts of one request are of transactions that may use so much gas together: even if they spend all of it on empty
 * logs (375 gas, some 450 bytes of JSON), the response has 4 MB. One that may use more is asked for alone.
 */
const GAS_AT_ONCE = 3_000_000n;
const RECEIPTS_AT_ONCE = 20;
/** How long a step goes on to ask for them. The rest waits: many that may use much gas are as many requests. */
const READ_MS = 1_000;
/** The same where some were not returned in time. */
const LATE_READ_MS = 500;

/** A transaction that pays by more than a transfer of its own. */
export interface Nested {
  readonly transaction: CallingTransaction;
  /** Its transfers to watched recipients: at least one. */
  readonly transfers: readonly LoggedTransfer[];
  /** Where it was read before. */
  readonly receipt?: Logged;
  /** The same of its trace. */
  readonly traced?: Explanation;
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
  let isAnyLate = false;
  for (const part of partsByGas(unread.filter(isSmall))) {
    const isInTime: boolean = performance.now() - began < (isAnyLate ? LATE_READ_MS : READ_MS);
    const receipts: readonly (Logged | string)[] = isInTime
      ? await readReceipts(context, part.map(hashOf))
      : part.map(() => NO_TIME);
    isAnyLate ||= receipts.includes(NOT_IN_TIME);
    for (const [place, nested] of part.entries())
      if (receipts[place] === NOT_IN_TIME) context.late?.begin(hashOf(nested), placeOf(nested).place);
    yield* withReceipts(part, receipts);
  }
  const large = unread.filter((nested) => !isSmall(nested));
  if (large.length > 0) yield* withReceipts(large, await fetchReceipts(context, large.map(placeOf)));
}

const NO_TIME = 'there was no time for its receipt';
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
    const receipt = receipts[place] ?? NO_RECEIPT;
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
    // No step waits for these: they have all the time that a request has.
    const [receipt = NO_RECEIPT] = await readReceipts({ ...context, late: undefined }, [hash]);
    const place = places.get(hash);
    return typeof receipt === 'string' && place !== undefined
      ? ((await readLoggedIn(context, hash, place)) ?? receipt)
      : receipt;
  });
};

/**
 * Whoever sends a transaction may make its receipt too long to be read, but not what tokens log in a block.
 * @param isSoon logs that take long are not waited for
 */
export async function readLoggedIn(
  { node, network }: Pick<Judging, 'node' | 'network'>,
  hash: TransactionHash,
  block: bigint,
  isSoon = false,
): Promise<Logged | typeof NOT_IN_TIME | null> {
  const call = getLogs(keptLogsIn(network, block));
  const [found] = await readEach(node, [isSoon ? soon(call) : call]);
  if (found === LATE) return NOT_IN_TIME;
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

export const NO_RECEIPT = 'no receipt of it was found';

/**
 * In one request. What this node does not have may be had from another one, which is asked at once.
 * @param splits how often those that are too long together are asked for in two halves
 */
export function readReceipts(
  { node, pool, network, late }: Pick<Judging, 'node' | 'pool' | 'network' | 'late'>,
  hashes: readonly TransactionHash[],
  splits = 0,
): Promise<readonly (Receipt | string)[]> {
  const keeps = keptLogsOf(network);
  return readByTwo({ node, pool, late }, hashes, async (by, some, areShort) => {
    const calls = some.map((hash) => getReceipt(hash, keeps));
    const receipts = await (late === undefined
      ? readEach(by, calls, splits)
      : readEach(by, calls.map(soon), splits, areShort));
    for (const receipt of receipts)
      if (receipt !== null && !(receipt instanceof Unreadable)) await rememberAddresses(receipt.logs);
    return receipts.map((receipt) => (receipt instanceof Unreadable ? receipt.reason : (receipt ?? NO_RECEIPT)));
  });
}
