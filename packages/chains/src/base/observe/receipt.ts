import { credibleFee, type IntentId, type NetworkFee, type PaymentTerms, type TransactionHash } from '@pf/domain';
import { RpcUpstreamError } from '@pf/rpc';
import { getTransaction, type Receipt } from '../../evm/calls.ts';
import { explainTransfers } from '../nested/explain.ts';
import type { Scan } from './context.ts';
import { landed, readTransfer } from './landings.ts';
import type { Seen } from './position.ts';

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

/** The transfers or the failure in the receipt of a transaction that was verified to pay an intent. */
export async function readReceipt(
  { node, pool, now }: Scan,
  { intentId, hash, terms }: Verified,
  { status, blockNumber, blockHash, to, logs }: Receipt,
): Promise<readonly Seen[]> {
  const failed = (reason: string): readonly Seen[] => [
    { kind: 'reverted', intentId, hash, block: blockNumber, blockHash, reason, seenAt: now },
  ];
  if (status === 0n) return failed('the transaction reverted on chain');
  const transfers = logs.flatMap((log) => {
    const transfer = readTransfer(log);
    return transfer !== null && (log.address as string) === terms.tokenAddress && transfer.to === terms.requestor
      ? [transfer]
      : [];
  });
  const seen = (of: typeof transfers): readonly Seen[] =>
    of.map((transfer) => landed(intentId, transfer, terms.reference, now));
  // The token itself was called, with calldata that was verified.
  if ((to as string | null | undefined) === terms.tokenAddress) return seen(transfers);
  const transaction = await node.call(getTransaction(hash));
  if (transaction === null)
    throw new RpcUpstreamError(`${node.name} has a receipt of ${hash} but does not return it`, 'no');
  const references = await explainTransfers(pool, { ...transaction, logs }, transfers);
  const paying = transfers.filter(({ log }) => references.get(log.logIndex) === terms.reference);
  if (paying.length > 0) return seen(paying);
  return transfers.every(({ log }) => references.has(log.logIndex))
    ? failed('the transaction was executed, but no successful call in it makes this payment')
    : [];
}
