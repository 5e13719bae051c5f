import type { DepositObservation, Place } from '@pf/domain';
import { RpcBehindError, type RpcNode, soon } from '@pf/rpc';
import { type Block, getBlock, getReceipt, type Logged } from '../../evm/calls.ts';
import { isLate, readEach, Unreadable } from '../../evm/observe/read-each.ts';
import { callsInStep } from '../../step-share.ts';
import {
  depositFinal,
  depositLanded,
  depositLost,
  listedToken,
  type Paid,
  type UnpaidArrival,
  withdrawPaid,
} from '../../deposits.ts';
import type { Network, OpenDeposit, WatchSet } from '../../port.ts';
import { keptLogsOf } from '../nested/kept-logs.ts';
import type { Scan } from './context.ts';
import { readTransfer } from './landings.ts';
import type { Seen } from './position.ts';
import { type Asked, dueForSecond, type Showing, showTwice } from './second-showing.ts';
import type { Sighting } from './sighting.ts';
import { senderOf } from './sightings.ts';

/** A transfer that pays no intent is reported when it is still canonical this long after it was seen. */
const CONFIRM_MS = 2_000;
/** A reported one that the ledger does not have is reported once more after this time: the log may have lost it. */
const UNHEARD_MS = 30_000;
/** Deposits that are looked up in one step when they are final. */
const FINALIZED_MAX = 100;
/** How often a request for receipts that are too long together is halved. */
const SPLITS = 5;

interface Told {
  readonly deposits: readonly DepositObservation[];
  readonly sightings: readonly Sighting[];
}

/**
 * Reports what has stayed canonical long enough, to each account.
 * @param waiting in the order of their turns
 * @param unheardBy the accounts of which the ledger does not have it
 */
export async function confirmArrivals(
  { node, network, now }: Pick<Scan, 'node' | 'network' | 'now'>,
  waiting: readonly Sighting[],
  unheardBy: (one: Sighting) => ReturnType<WatchSet['depositsOf']>,
): Promise<Told> {
  const most = callsInStep(node, 'eth_getBlockByNumber');
  const asked = new Set<bigint>();
  const due = new Set<Sighting>();
  for (const one of waiting) {
    const isDue = now - one.seenAt >= (one.reported ? UNHEARD_MS : CONFIRM_MS);
    if (!isDue || (asked.size >= most && !asked.has(one.block))) continue;
    asked.add(one.block);
    due.add(one);
  }
  const blocks = await blocksOf(node, due);
  const deposits: DepositObservation[] = [];
  const kept: Sighting[] = [];
  for (const one of waiting) {
    const block = blocks.get(one.block);
    // A lagging node does not have the block yet: the next step asks again.
    if (!due.has(one) || block === undefined) kept.push(one);
    if (!due.has(one) || block?.hash !== one.blockHash) continue;
    for (const owner of unheardBy(one)) deposits.push(depositLanded(owner, network, arrivalOf(network, one, block)));
    if (!one.reported) kept.push({ ...one, reported: true, seenAt: now });
  }
  return { deposits, sightings: kept };
}

function arrivalOf(
  network: Network,
  { hash, index, block, blockHash, tokenAddress, from, to, amount, reference, reason }: Sighting,
  { timestamp }: Block,
): UnpaidArrival {
  const token = listedToken(network, tokenAddress);
  const at = Number(timestamp) * 1000;
  return { reason, arrival: { hash, index, block, blockHash, tokenAddress, token, from, to, amount, reference, at } };
}

async function blocksOf(
  node: RpcNode,
  places: Iterable<{ readonly block: bigint }>,
): Promise<ReadonlyMap<bigint, Block>> {
  const numbers = [...new Set([...places].map(({ block }) => block))];
  if (numbers.length === 0) return new Map();
  const found = await node.batch(numbers.map((number) => getBlock(number)));
  return new Map(found.flatMap((block): [bigint, Block][] => (block === null ? [] : [[block.number, block]])));
}

/**
 * After a reorg down to `ancestor`: deposits of orphaned blocks are lost, and what was seen there is forgotten. The
 * scan finds it again where it landed again.
 * @param head up to here the node must have every block
 * @throws RpcBehindError where it does not
 */
export async function orphanArrivals(
  { node, watch }: Pick<Scan, 'node' | 'watch'>,
  all: readonly Sighting[],
  ancestor: bigint,
  head: bigint,
): Promise<Told> {
  const isAbove = ({ block }: { readonly block: bigint }): boolean => block > ancestor;
  const open = [...watch.openDeposits()].filter(({ arrival }) => isAbove(arrival));
  const above = all.filter(isAbove);
  const blocks = await blocksOf(node, [...open.map(({ arrival }) => arrival), ...above]);
  const isGone = (place: Place): boolean => {
    const block = blocks.get(place.block);
    if (block === undefined && place.block <= head)
      throw new RpcBehindError(`${node.name} lags: it lacks block ${place.block}, and had ${head} before`);
    return block !== undefined && block.hash !== place.blockHash;
  };
  const gone = new Set(above.filter(isGone));
  // The ledger may have by now what was reported, or have it soon.
  const reported = [...gone].flatMap((one) =>
    one.reported ? watch.depositsOf(one).map(({ depositId }) => depositLost({ id: depositId, arrival: one })) : [],
  );
  const deposits = [...open.filter(({ arrival }) => isGone(arrival)).map(depositLost), ...reported];
  return {
    deposits: [...new Map(deposits.map((one) => [one.depositId, one])).values()],
    sightings: all.filter((one) => !gone.has(one)),
  };
}

/**
 * Deposits of which a landing of an intent turns out to be the transfer: the intent tells of it.
 * @param seen the landings that the cursor holds
 * @param late those that no first reading of their block has found: the transfer may be a deposit that is final
 */
export function paidArrivals(
  watch: Pick<WatchSet, 'openDeposits' | 'depositsOf'>,
  seen: readonly Seen[],
  late: readonly Seen[],
): readonly DepositObservation[] {
  return withdrawPaid(watch, seen.flatMap(paidIn), late.flatMap(paidIn));
}
const paidIn = (one: Seen): readonly Paid[] =>
  one.kind === 'landed' ? [{ ...one.transfer, hash: one.hash, intentId: one.intentId }] : [];

interface Finals {
  readonly deposits: readonly DepositObservation[];
  readonly warnings: readonly string[];
  readonly hasMore: boolean;
}

/**
 * Deposits at or below the final block: final where the chain still has them there, and a second upstream shows the
 * same; otherwise lost.
 */
export async function finalizeArrivals(context: Scan, finalized: bigint): Promise<Finals> {
  const { node, pool, watch, memory, now } = context;
  const isDoubted = pool.size > 1;
  const most = Math.min(
    FINALIZED_MAX,
    callsInStep(node, 'eth_getBlockByNumber'),
    callsInStep(node, 'eth_getTransactionReceipt'),
  );
  const isWanted = ({ id, arrival }: OpenDeposit): boolean =>
    arrival.block <= finalized && !memory.wasFinalizedLately(id, arrival.hash, now);
  const { due, isFull } = dueForSecond(context, ARRIVED, watch.openDeposits(), most, isWanted);
  if (due.length === 0) return { deposits: [], warnings: [], hasMore: false };
  const blocks = await blocksOf(
    node,
    due.map(({ arrival }) => arrival),
  );
  const isAt = ({ arrival }: OpenDeposit): boolean => blocks.get(arrival.block)?.hash === arrival.blockHash;
  const gone = due.filter((one) => blocks.has(one.arrival.block) && !isAt(one));
  const standing = due.filter(isAt);
  const ask = (of: Asked, some: readonly OpenDeposit[]) => shownBy(of, context.network, some);
  const { shown, warnings } = isDoubted
    ? await showTwice(context, { ...ARRIVED, ask }, standing)
    : { shown: standing, warnings: [] };
  const final = shown.map((one) => {
    memory.finalized(one.id, one.arrival.hash, now);
    return depositFinal(one);
  });
  const deposits = [...gone.map(depositLost), ...final];
  return { deposits, warnings, hasMore: isFull && deposits.length > 0 };
}

/** By this name a deposit waits for a second upstream. */
export const secondOf = ({ id, arrival }: OpenDeposit): string => `${id} ${arrival.blockHash}`;

const ARRIVED = {
  nameOf: secondOf,
  placeOf: ({ arrival: { hash, block, to } }: OpenDeposit) => ({ hash, block, recipient: to }),
};

/** Which of these one upstream alone shows in its receipts: the same log in the same block. */
async function shownBy(
  { node, isSoon, whole }: Asked,
  network: Network,
  deposits: readonly OpenDeposit[],
): Promise<Showing> {
  const hashes = [...new Set(deposits.map(({ arrival }) => arrival.hash))];
  const calls = hashes.map((hash) => getReceipt(hash, keptLogsOf(network)));
  const receipts = whole
    ? hashes.map(() => whole.logged)
    : await readEach(node, isSoon ? calls.map(soon) : calls, SPLITS, isSoon);
  const byHash = new Map(hashes.map((hash, place) => [hash, receipts[place]]));
  const shown = deposits.filter((one) => isShownIn(byHash.get(one.arrival.hash), one));
  const late = new Set(hashes.filter((hash) => isLate(byHash.get(hash))));
  return { shown: new Set(shown.map(secondOf)), late, left: new Set() };
}

function isShownIn(receipt: Logged | Unreadable | string | null | undefined, { arrival }: OpenDeposit): boolean {
  if (receipt === undefined || receipt === null || typeof receipt === 'string' || receipt instanceof Unreadable)
    return false;
  const log = receipt.logs.find(({ logIndex }) => logIndex.toString() === arrival.index);
  const transfer = log === undefined ? null : readTransfer(log);
  return (
    receipt.blockHash === arrival.blockHash &&
    transfer !== null &&
    (transfer.log.address as string) === arrival.tokenAddress &&
    senderOf(transfer.from) === arrival.from &&
    transfer.to === arrival.to &&
    transfer.amount === arrival.amount
  );
}
