import type { TransactionHash } from '@pf/domain';
import type { RpcNode } from '@pf/rpc';
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
  readonly network: Network;
  /** The transactions that two upstreams have shown alike, and in which block. */
  readonly proven: LRUCache<TransactionHash, string>;
}

const paid = (receipt: Receipt, network: Network): string =>
  JSON.stringify(paymentsIn(receipt, network), (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );

/** Asks a second upstream for each receipt, once it has shown the same not again. With a single one there is none. */
export async function verdictsOn(
  context: SecondShowing,
  all: readonly Shown[],
): Promise<ReadonlyMap<TransactionHash, Verdict>> {
  const { node, pool, proven } = context;
  const verdicts = new Map<TransactionHash, Verdict>();
  const open = all.filter(({ receipt: { transactionHash: hash, blockHash } }) => {
    const isProven = pool.size === 1 || proven.get(hash) === blockHash;
    if (isProven) verdicts.set(hash, 'same');
    return !isProven;
  });
  for (const [by, ofOne] of Map.groupBy(open, (one) => one.by))
    for (const part of partsOf(ofOne, AT_ONCE)) {
      const second = await pool.doubleCheck(node, by, (other) => judge(context, other, part));
      for (const [place, { receipt }] of part.entries()) {
        const verdict = second?.[0][place] ?? 'awaited';
        verdicts.set(receipt.transactionHash, verdict);
        if (verdict === 'same') proven.set(receipt.transactionHash, receipt.blockHash);
      }
    }
  return verdicts;
}

async function judge({ network }: SecondShowing, other: RpcNode, all: readonly Shown[]): Promise<readonly Verdict[]> {
  const results = await readReceipts(
    other,
    all.map(({ receipt }) => receipt.transactionHash),
  );
  const blocks = await blocksOf(
    other,
    all.flatMap(({ receipt }, place) => (results[place] === null ? [receipt.blockNumber] : [])),
  );
  return all.map(({ receipt }, place) => {
    const result = results[place];
    if (result === undefined || result instanceof Unreadable) return 'awaited';
    if (result === null) return blocks.has(receipt.blockNumber) ? 'denied' : 'awaited';
    const isSame = result.status === receipt.status && result.blockHash === receipt.blockHash;
    return isSame && paid(result, network) === paid(receipt, network) ? 'same' : 'denied';
  });
}

/** Which of these blocks it has. */
async function blocksOf(node: RpcNode, numbers: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (numbers.length === 0) return new Set();
  const blocks = await node.batch([...new Set(numbers)].map((number) => getBlock(number)));
  return new Set(blocks.flatMap((block) => block?.number ?? []));
}
