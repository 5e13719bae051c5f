import { toJson } from '@pf/contracts';
import type { Address, Instant, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { id } from 'ethers/hash';
import type { LRUCache } from 'lru-cache';
import { getBlock, type Receipt } from '../../evm/calls.ts';
import { isLate, Unreadable } from '../../evm/observe/read-each.ts';
import { partsOf } from '../../parts.ts';
import type { Network } from '../../port.ts';
import { doubleCheckSoon, type LateShowings, SecondReader } from '../../second-reader.ts';
import { paymentsIn } from './landings.ts';
import { readReceipts, readReceiptsSoon, type Receipts, type Result, type Shown } from './receipts.ts';

/** Receipts that another upstream is asked for at a time. */
const AT_ONCE = 10;

/**
 * What a second upstream says of a receipt: it has the same, so that nothing is final by the word of one; it does not
 * have the block yet, or does not respond; or it has the block, and the transaction is not in it like that.
 */
export type Verdict = 'same' | 'awaited' | 'denied';

/** What one upstream alone says of a transaction. */
export interface Said {
  readonly by: string;
  /** Undefined: there was no time for it. */
  readonly result: Result | undefined;
  /** Where it has no receipt: whether it has the block. */
  readonly hasBlock: boolean;
}

export interface SecondShowing extends Receipts {
  /** The transactions that two upstreams have shown alike, with a digest of what was shown. */
  readonly proven: LRUCache<TransactionHash, string>;
  /** Of those that a second upstream has not shown in time. Absent: all have all the time that a request has */
  readonly seconds?: LateShowings<Said> | undefined;
}

/** Reads beside the steps what two upstreams each say of a receipt. */
export const secondReader = (pool: RpcPool, network: Network, now: () => Instant): SecondReader<Said> =>
  new SecondReader(pool, now, {
    read: async (node, hash, block) => {
      const [result] = await readReceipts(node, [hash], network);
      return { by: node.name, result, hasBlock: result === null && (await blocksOf(node, [block])).has(block) };
    },
    isLacking: ({ result }) => result === undefined || result === null || result instanceof Unreadable,
    unread: (by) => ({ by, result: undefined, hasBlock: false }),
    isUnread: ({ result }) => result === undefined || result instanceof Unreadable,
  });

/** A digest of what two upstreams must show alike: where a receipt is, how it ended, and the payments in it. */
function digestOf(receipt: Receipt, network: Network): string {
  const { status, blockNumber, blockHash } = receipt;
  return id(toJson({ status, blockNumber, blockHash, payments: paymentsIn(receipt, network) }));
}

/** Of a payment, and whom that pays. */
interface Paid extends Shown {
  readonly recipient: Address;
}

/**
 * Asks a second upstream for each receipt, once it has shown the same not again: another receipt of the transaction is
 * another matter. With a single upstream there is none to ask. A step waits a moment for it. What is late is read
 * beside the steps, and awaited until it has come.
 * @returns without those for which there was no time
 */
export async function verdictsOn(
  context: SecondShowing,
  all: readonly Paid[],
): Promise<ReadonlyMap<TransactionHash, Verdict>> {
  const { node, pool, network, proven, seconds } = context;
  const verdicts = new Map<TransactionHash, Verdict>();
  const decide = ({ receipt }: Shown, verdict: Verdict): void => {
    verdicts.set(receipt.transactionHash, verdict);
    if (verdict === 'same') proven.set(receipt.transactionHash, digestOf(receipt, network));
  };
  const begin = ({ receipt: { transactionHash: hash, blockNumber: block }, recipient, by }: Paid): void =>
    seconds?.begin({ hash, block, recipient }, by);
  const open = all.filter((one) => {
    const { receipt } = one;
    const { transactionHash: hash } = receipt;
    const isProven = pool.size === 1 || proven.get(hash) === digestOf(receipt, network);
    if (isProven) verdicts.set(hash, 'same');
    const come = seconds?.come.get(hash)?.find(({ by }) => by !== one.by);
    if (isProven) return false;
    if (come !== undefined) decide(one, verdictOf(receipt, come, network));
    else if (seconds?.reads.isKnown(hash) === true) {
      begin(one);
      verdicts.set(hash, 'awaited');
    } else return true;
    return false;
  });
  for (const [by, ofOne] of Map.groupBy(open, (one) => one.by))
    for (const part of partsOf(ofOne, AT_ONCE)) {
      if (seconds?.hasTime() === false) {
        // It is due as before.
        continue;
      }
      const { told, late } = await doubleCheckSoon(
        pool,
        node,
        by,
        part,
        {
          ask: (other, some) => judge(context, other, some),
          isLate: (said, { receipt }) => isLate(said.get(receipt.transactionHash)?.result),
          isLacking: (said, { receipt }) => isAwaited(said.get(receipt.transactionHash)),
        },
        seconds,
      );
      for (const one of part) {
        if (late.has(one)) begin(one);
        decide(one, verdictOf(one.receipt, told?.[0].get(one.receipt.transactionHash), network));
      }
    }
  return verdicts;
}

const isAwaited = (said: Said | undefined): boolean =>
  said?.result === undefined || said.result instanceof Unreadable || (said.result === null && !said.hasBlock);

function verdictOf(receipt: Receipt, said: Said | undefined, network: Network): Verdict {
  const result = said?.result;
  if (result === undefined || result instanceof Unreadable || isAwaited(said)) return 'awaited';
  return result !== null && digestOf(result, network) === digestOf(receipt, network) ? 'same' : 'denied';
}

async function judge(
  { network, seconds }: SecondShowing,
  other: RpcNode,
  all: readonly Shown[],
): Promise<ReadonlyMap<TransactionHash, Said>> {
  const hashes = all.map(({ receipt }) => receipt.transactionHash);
  const results = await (seconds === undefined
    ? readReceipts(other, hashes, network)
    : readReceiptsSoon(other, hashes, network));
  const blocks = await blocksOf(
    other,
    all.flatMap(({ receipt }, place) => (results[place] === null ? [receipt.blockNumber] : [])),
  );
  const saidOf = ({ receipt }: Shown, place: number): Said => ({
    by: other.name,
    result: results[place],
    hasBlock: blocks.has(receipt.blockNumber),
  });
  return new Map(all.map((one, place) => [one.receipt.transactionHash, saidOf(one, place)]));
}

/** Which of these blocks it has. */
async function blocksOf(node: RpcNode, numbers: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (numbers.length === 0) return new Set();
  const blocks = await node.batch([...new Set(numbers)].map((number) => getBlock(number)));
  return new Set(blocks.flatMap((block) => block?.number ?? []));
}
