import type { TransactionHash } from '@pf/domain';
import { boundedTo, isTooLong, type RpcCall, type RpcNode, type RpcPool, soon } from '@pf/rpc';
import { LRUCache } from 'lru-cache';
import { rememberAddresses } from '../../evm/checksummed.ts';
import { getReceipt, type KeptLogs, type Log, type Receipt, STRANGERS_MAX_BYTES } from '../../evm/calls.ts';
import { isLate, LATE, readEach, Unreadable } from '../../evm/observe/read-each.ts';
import type { LateReads } from '../../late-reads.ts';
import { STEP_MS } from '../../networks.ts';
import { partsOf } from '../../parts.ts';
import { callsInStep } from '../../step-share.ts';
import { isToken } from '../address.ts';
import type { Network } from '../../port.ts';
import { GUARD, TRANSFER, TRANSFER_BLOCKED, TRANSFER_WITH_MEMO } from './landings.ts';
import { receiptByLogs } from './receipt-by-logs.ts';

/** Receipts that are asked for at a time, and those that are kept. */
const AT_ONCE = 10;
export const RECEIPTS_KEPT = 1_000;
/** What these may take, whatever strangers have added to them. */
export const RECEIPTS_MAX_BYTES = 64 * 2 ** 20;
/** Of a log, without its data. */
const LOG_BYTES = 800;
/** A step that has read receipts for so long leaves the rest to the next, in ms. */
const READING_MS = 2_000;
/** The same where some were not returned in time. */
const LATE_READING_MS = 500;

/** A receipt, and the upstream that has shown it. */
export interface Shown {
  readonly receipt: Receipt;
  readonly by: string;
}

/** About what a receipt takes; for a usual one its equal share of the room. */
export const sizeOf = ({ receipt: { logs } }: Shown): number =>
  Math.max(
    Math.floor(RECEIPTS_MAX_BYTES / RECEIPTS_KEPT),
    logs.reduce((bytes, { data }) => bytes + LOG_BYTES + data.length, 0),
  );

/** Room for receipts: what was used longest ago is forgotten where there are too many, or they are too long. */
export const receiptsKept = (): LRUCache<TransactionHash, Shown> =>
  new LRUCache({ maxSize: RECEIPTS_MAX_BYTES, sizeCalculation: sizeOf });

/** Where receipts come from. */
export interface Receipts {
  readonly node: RpcNode;
  readonly pool: RpcPool;
  readonly network: Network;
  /** Of payments in final blocks: they are read twice, and by a step that follows one that had no time for all. */
  readonly receipts: LRUCache<TransactionHash, Shown>;
  /** Of those that a step does not wait for. Absent: all have all the time that a request has */
  readonly late?: LateReceipts | undefined;
}

/** Where receipts are read that were not returned in time, and what has come of that since the last step. */
interface LateReceipts {
  readonly reads: LateReads<Found>;
  readonly come: ReadonlyMap<TransactionHash, Found>;
}

const guard = GUARD.toLowerCase();
/** Transfers of tokens, whichever pays the fee, and what the guard holds: a stranger may have added thousands more. */
export const keeps: KeptLogs = (address, event) =>
  event === TRANSFER || event === TRANSFER_WITH_MEMO
    ? isToken(address)
    : event === TRANSFER_BLOCKED && address === guard;
/** Of several receipts together: a response that takes a moment. */
const TOGETHER_MAX_BYTES = STRANGERS_MAX_BYTES / 4;
const receiptCalls = (hashes: readonly TransactionHash[], waited: Waited): readonly RpcCall<Receipt | null>[] => {
  const calls = hashes.map((hash) => waited(getReceipt(hash, keeps)));
  return hashes.length === 1 ? calls : calls.map((call) => boundedTo(TOGETHER_MAX_BYTES, call));
};

/** How long calls are waited for: `soon`, or as they are. */
type Waited = <T>(call: RpcCall<T>) => RpcCall<T>;
const fully: Waited = (call) => call;

/** What each upstream says of one transaction: its receipt, null where it has none, or why it cannot be had. */
export type Result = Receipt | Unreadable | null;

/** Whether a receipt is of one transaction, in the order of its logs, and of a kind that is known here. */
function isSound({ transactionHash, blockHash, status, logs }: Receipt, hash: TransactionHash): boolean {
  const isOf = (log: Log, place: number): boolean =>
    log.transactionHash === hash && log.blockHash === blockHash && log.logIndex > (logs[place - 1]?.logIndex ?? -1n);
  return transactionHash === hash && (status === 0n || status === 1n) && logs.every(isOf);
}

/**
 * The receipts of these transactions as one upstream has them. What is wrong with one of them costs no other: where
 * they are too much together, each is asked for alone, as many as there is time for. The rest is undefined. Last come
 * those that are too long alone: the logs in their blocks tell what they pay.
 * @param apart a step waits a moment only: of those that do not come in time together, so many are asked for alone, all
 *   at the same time. Default: each has all the time that a request has
 */
export async function readReceipts(
  node: RpcNode,
  hashes: readonly TransactionHash[],
  network: Network,
  apart?: number,
): Promise<readonly (Result | undefined)[]> {
  const waited = apart === undefined ? fully : soon;
  const begun = performance.now();
  const together = await readEach(node, receiptCalls(hashes, waited));
  const isTooMuch = together.every((one) => one instanceof Unreadable);
  const readAlone = (hash: TransactionHash) => readEach(node, receiptCalls([hash], waited));
  const alone: Result[] = [];
  if (isTooMuch && hashes.length > 1 && together.every((one) => one === LATE))
    alone.push(...(apart === 0 ? together : (await Promise.all(hashes.slice(0, apart).map(readAlone))).flat()));
  else if (isTooMuch)
    for (const hash of hashes) {
      if (alone.length > 0 && performance.now() - begun > READING_MS) break;
      alone.push(...(hashes.length === 1 ? together : await readAlone(hash)));
    }
  for (const [place, one] of alone.entries()) {
    const hash = hashes[place];
    if (hash === undefined || !(one instanceof Unreadable) || !isTooLong(one.reason)) continue;
    if (place > 0 && performance.now() - begun > READING_MS) break;
    alone[place] = (await receiptByLogs(node, hash, network, waited)) ?? one;
  }
  const all = isTooMuch ? alone : together;
  for (const one of all) if (one !== null && !(one instanceof Unreadable)) await rememberAddresses(one.logs);
  return all.map((one, place) => {
    const hash = hashes[place];
    if (one === null || one instanceof Unreadable || hash === undefined || isSound(one, hash)) return one;
    return new Unreadable('its receipt contradicts itself');
  });
}

/** The same for a step that waits a moment for them. */
export const readReceiptsSoon = (
  node: RpcNode,
  hashes: readonly TransactionHash[],
  network: Network,
): Promise<readonly (Result | undefined)[]> =>
  readReceipts(
    node,
    hashes,
    network,
    Math.max(1, Math.min(AT_ONCE, callsInStep(node, 'eth_getTransactionReceipt') - hashes.length)),
  );

/** The receipt of a transaction, with who has shown it; null where none has it; or why it cannot be had. */
export type Found = Shown | Unreadable | null;

/**
 * The receipts of these transactions: of this upstream or, where that has none, of another. Some are missing where the
 * step has no time for more. Those that are not returned in time are read beside the steps, and not asked for by any.
 */
export async function receiptsOf(
  { node, pool, network, receipts, late }: Receipts,
  hashes: readonly TransactionHash[],
): Promise<ReadonlyMap<TransactionHash, Found>> {
  const found = new Map<TransactionHash, Found>();
  const add = (hash: TransactionHash, result: Result | undefined, by: string): void => {
    if (result === undefined) return;
    const shown: Found = result === null || result instanceof Unreadable ? result : { receipt: result, by };
    // That another one has none says less than why this one's cannot be read.
    if (shown !== null || !found.has(hash)) found.set(hash, shown);
    if (isShown(shown)) receipts.set(hash, shown);
  };
  const begun = performance.now();
  const most = callsInStep(node, 'eth_getTransactionReceipt');
  let calls = 0;
  const asked = hashes.filter((hash) => late?.reads.isKnown(hash) !== true);
  for (const hash of hashes) if (!asked.includes(hash)) found.set(hash, LATE);
  for (const part of partsOf(asked, AT_ONCE)) {
    const isAnyLate = asked.some((hash) => found.get(hash) === LATE);
    if (performance.now() - begun > (isAnyLate ? LATE_READING_MS : READING_MS) || calls > most) break;
    calls += part.length;
    const apart = late === undefined ? undefined : Math.max(1, most - calls);
    const results = await readReceipts(node, part, network, apart);
    if (results.includes(LATE)) calls += part.length;
    for (const [place, hash] of part.entries()) add(hash, results[place], node.name);
    // Another one is asked for what is late only where nothing has come, and once: it would delay the others, too.
    const isAllLate = part.every((hash) => found.get(hash) === LATE);
    const missing = part.filter(
      (hash) => found.has(hash) && !isShown(found.get(hash)) && (isAllLate || found.get(hash) !== LATE),
    );
    if (missing.length > 0) {
      const others = await pool.onAnother(node, async (other) => ({
        by: other.name,
        results: await readReceipts(other, missing, network, isAllLate ? 0 : apart),
      }));
      for (const [place, hash] of missing.entries())
        if (others?.results[place] !== LATE) add(hash, others?.results[place], others?.by ?? '');
    }
    for (const hash of part) if (found.get(hash) === LATE) readLate({ pool, network, late }, hash);
  }
  return found;
}

/** Reads it beside the steps, where there is room. @returns whether that has begun now */
export function readLate(
  { pool, network, late }: Pick<Receipts, 'pool' | 'network' | 'late'>,
  hash: TransactionHash,
): boolean {
  late?.reads.note(hash);
  const read = async (): Promise<Found> => {
    const receipts = receiptsKept();
    const all = await pool.run((node) => receiptsOf({ node, pool, network, receipts }, [hash]), STEP_MS);
    return all.get(hash) ?? null;
  };
  return late?.reads.begin(hash, read) ?? false;
}

/** What has come of these beside the steps. What has not been returned there either is read so again. */
export function comeOf(
  { late }: Pick<Receipts, 'late'>,
  all: readonly { readonly hash: TransactionHash }[],
): ReadonlyMap<TransactionHash, Found> {
  const come = new Map<TransactionHash, Found>();
  for (const { hash } of all) {
    const found = late?.come.get(hash);
    if (found === undefined) continue;
    if (isLate(found)) late?.reads.note(hash);
    come.set(hash, found);
  }
  return come;
}

/** True where a receipt was found. */
export const isShown = (found: Found | undefined): found is Shown =>
  found !== undefined && found !== null && !(found instanceof Unreadable);
