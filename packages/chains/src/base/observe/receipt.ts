import {
  credibleFee,
  type IntentId,
  type NetworkFee,
  type PaymentTerms,
  type Reference,
  type TransactionHash,
} from '@pf/domain';
import type { Receipt } from '../../evm/calls.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import { areExplained, explainTransfers } from '../nested/explain.ts';
import { paidIn } from '../paid.ts';
import type { Scan } from './context.ts';
import type { Whole } from './late.ts';
import { landed, type LoggedTransfer, readTransfer } from './landings.ts';
import type { Seen } from './position.ts';
import { NOT_FOUND, readTransactions } from './transactions.ts';

/** A transaction that was verified to pay an intent. */
interface Verified {
  readonly intentId: IntentId;
  readonly hash: TransactionHash;
  readonly terms: PaymentTerms;
}

/**
 * What the sender of the transaction has paid in ETH: for gas, and for its data on L1. Null where the node does not
 * say. A bundler or a relayer may have it back by other means, such as a paymaster's deposit.
 */
export function feeIn({ from, gasUsed, effectiveGasPrice, l1Fee }: Receipt): NetworkFee | null {
  if (typeof gasUsed !== 'bigint' || typeof effectiveGasPrice !== 'bigint') return null;
  return credibleFee({ payer: from, amount: gasUsed * effectiveGasPrice + (l1Fee ?? 0n), tokenAddress: null });
}

/** True where the token itself was called, with calldata that was verified. */
export const isDirect = ({ to }: Pick<Receipt, 'to'>, { tokenAddress }: Pick<PaymentTerms, 'tokenAddress'>): boolean =>
  (to as string | null | undefined) === tokenAddress;

/**
 * The transfers or the failure in the receipt of a transaction that was verified to pay an intent.
 * @param whole the transaction, where it was read beside the steps
 */
export async function readReceipt(
  context: Scan,
  { intentId, hash, terms }: Verified,
  receipt: Receipt,
  whole?: Whole,
): Promise<readonly Seen[]> {
  const { status, blockNumber, blockHash, logs } = receipt;
  const { now } = context;
  const failed = (reason: string): readonly Seen[] => [
    { kind: 'reverted', intentId, hash, block: blockNumber, blockHash, reason, seenAt: now },
  ];
  if (status === 0n) return failed('the transaction reverted on chain');
  const all = logs.flatMap((log) => readTransfer(log) ?? []);
  const transfers = all.filter(
    ({ log, to }) => (log.address as string) === terms.tokenAddress && to === terms.requestor,
  );
  const seen = (paying: readonly LoggedTransfer[]): readonly Seen[] => {
    const worth = paidIn(all, (one) => paying.includes(one));
    const { reference } = terms;
    return paying.map((one) => landed(intentId, one, { reference, worth: worth.get(one.log.logIndex) ?? 0n }, now));
  };
  const paying = isDirect(receipt, terms)
    ? transfers
    : await findPaying(context, receipt, transfers, terms.reference, whole);
  if (paying === null) return [];
  return paying.length > 0
    ? seen(paying)
    : failed('the transaction was executed, but no successful call in it makes this payment');
}

/** The transfers that carry this reference; null where it cannot be told yet. */
async function findPaying(
  context: Scan,
  { transactionHash: hash, logs, blockNumber }: Receipt,
  transfers: readonly LoggedTransfer[],
  reference: Reference,
  whole?: Whole,
): Promise<readonly LoggedTransfer[] | null> {
  const { pool, network, late, memory } = context;
  const [sent = NOT_FOUND] = whole === undefined ? await readTransactions(context, [hash]) : [whole.transaction];
  if (sent === NOT_IN_TIME) late?.begin(hash, blockNumber);
  if (typeof sent === 'string') return null;
  const transaction = { hash, sent, logs, network };
  const { references, said } =
    whole?.traced ?? (await explainTransfers(pool, transaction, transfers, late !== undefined));
  if (said === 'late') {
    memory.room.wasLate();
    late?.begin(hash, blockNumber, true);
  }
  const paying = transfers.filter(({ log }) => references.get(log.logIndex) === reference);
  return paying.length > 0 || areExplained(transfers, references) ? paying : null;
}
