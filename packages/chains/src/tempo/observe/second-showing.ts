import { toJson } from '@pf/contracts';
import type { TransactionHash } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
import { id } from 'ethers/hash';
import type { LRUCache } from 'lru-cache';
import { getBlock, type Receipt } from '../../evm/calls.ts';
import { Unreadable } from '../../evm/observe/read-each.ts';
import { partsOf } from '../../parts.ts';
import type { Network } from '../../port.ts';
import { paymentsIn } from './landings.ts';
import { readReceipts, type Receipts, type Shown } from './receipts.ts';

/** Receipts that another upstream is asked for at a time. */
const AT_ONCE = 10;

/**
 * What a second upstream says of a receipt: it has the same, so that nothing is final by the word of one; it does not
 * have the block yet, or does not respond; or it has the block, and the transaction is not in it like that.
 */
export type Verdict = 'same' | 'awaited' | 'denied';

export interface SecondShowing extends Receipts {
  /** The transactions that two upstreams have shown alike, with a digest of what was shown. */
  readonly proven: LRUCache<TransactionHash, string>;
}

/** A digest of what two upstreams must show alike: where a receipt is, how it ended, and the payments in it. */
function digestOf(receipt: Receipt, network: Network): string {
  const { status, blockNumber, blockHash } = receipt;
  return id(toJson({ status, blockNumber, blockHash, payments: paymentsIn(receipt, network) }));
}

/**
 * Asks a second upstream for each receipt, once it has shown the same not again: another receipt of the transaction is
 * another matter. With a single upstream there is none to ask.
 */
export async function verdictsOn(
  context: SecondShowing,
  all: readonly Shown[],
): Promise<ReadonlyMap<TransactionHash, Verdict>> {
  const { node, pool, network, proven } = context;
  const verdicts = new Map<TransactionHash, Verdict>();
  const open = all.filter(({ receipt }) => {
    const hash = receipt.transactionHash;
    const isProven = pool.size === 1 || proven.get(hash) === digestOf(receipt, network);
    if (isProven) verdicts.set(hash, 'same');
    return !isProven;
  });
  for (const [by, ofOne] of Map.groupBy(open, (one) => one.by))
    for (const part of partsOf(ofOne, AT_ONCE)) {
      const second = await pool.doubleCheck(
        node,
        by,
        (other) => judge(context, other, part),
        (told) => told.includes('awaited'),
        { alone: false },
      );
      for (const [place, { receipt }] of part.entries()) {
        const verdict = second?.[0][place] ?? 'awaited';
        verdicts.set(receipt.transactionHash, verdict);
        if (verdict === 'same') proven.set(receipt.transactionHash, digestOf(receipt, network));
      }
    }
  return verdicts;
}

async function judge({ network }: SecondShowing, other: RpcNode, all: readonly Shown[]): Promise<readonly Verdict[]> {
  const results = await readReceipts(
    other,
    all.map(({ receipt }) => receipt.transactionHash),
    network,
  );
  const blocks = await blocksOf(
    other,
    all.flatMap(({ receipt }, place) => (results[place] === null ? [receipt.blockNumber] : [])),
  );
  return all.map(({ receipt }, place) => {
    const result = results[place];
    if (result === undefined || result instanceof Unreadable) return 'awaited';
    if (result === null) return blocks.has(receipt.blockNumber) ? 'denied' : 'awaited';
    return digestOf(result, network) === digestOf(receipt, network) ? 'same' : 'denied';
  });
}

/** Which of these blocks it has. */
async function blocksOf(node: RpcNode, numbers: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (numbers.length === 0) return new Set();
  const blocks = await node.batch([...new Set(numbers)].map((number) => getBlock(number)));
  return new Set(blocks.flatMap((block) => block?.number ?? []));
}
