import type { Address } from '@pf/domain';
import { refusable, RpcBehindError, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import type { Transaction } from 'ethers/transaction';
import { callContract, getBalance, getBlock, getTransaction, getTransactionCount } from '../evm/calls.ts';
import { reasonOf } from '../evm/refusal.ts';
import type { NewestHead } from '../newest-head.ts';
import type { SignedTransaction } from '../port.ts';

/** The account state that decides whether a transaction can land, all read from one upstream at one time. */
export interface AccountNow {
  /** Transactions of the account in blocks: the next nonce to be used. */
  readonly latestCount: bigint;
  /** The same with those that wait in the node's pool. */
  readonly pendingCount: bigint;
  /** Wei per gas in the newest block. */
  readonly baseFee: bigint;
}

/**
 * Why a transaction with this nonce and fee cannot land now, or might wait forever; null when it can. A claim on an
 * intent must be able to end: a nonce after a gap waits for a transaction that may never be signed.
 * @param maxFee wei per gas that it pays at most
 */
export function whyNotLandable(nonce: bigint, maxFee: bigint, now: AccountNow): string | null {
  if (nonce < now.latestCount) return `nonce ${nonce} is already used: the account's next nonce is ${now.latestCount}`;
  if (nonce > now.pendingCount) return `nonce ${nonce} leaves a gap: the account's next nonce is ${now.pendingCount}`;
  if (maxFee < now.baseFee)
    return `its fee of at most ${maxFee} wei per gas is below the base fee of ${now.baseFee} wei`;
  return null;
}

/**
 * Why a transaction that pays the right terms cannot land now; null where it can, or has landed. All read from one
 * upstream.
 */
export async function whyItCannotLand(
  node: RpcNode,
  { hash }: SignedTransaction,
  transaction: Transaction,
  signer: Address,
  blocks: NewestHead,
): Promise<string | null> {
  const { gasLimit, data, to } = transaction;
  const maxFee = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n;
  const nonce = BigInt(transaction.nonce);
  const [latestCount, pendingCount, block, wei, simulated] = await node.batch([
    getTransactionCount(signer, 'latest'),
    getTransactionCount(signer, 'pending'),
    getBlock('latest'),
    getBalance(signer),
    refusable(
      callContract({ from: signer, to: to ?? '', data, gas: gasLimit, accessList: transaction.accessList ?? [] }),
    ),
  ]);
  if (block === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');
  const reason = whyNotLandable(nonce, maxFee, { latestCount, pendingCount, baseFee: block.baseFeePerGas });
  // This very transaction may have used the nonce: the wallet has sent it too, or this is a repeated request.
  if (nonce < latestCount) {
    const [landed, count] = await node.batch([getTransaction(hash), getTransactionCount(signer, 'latest')]);
    if (landed !== null) return null;
    // Behind one URL another node may respond now, without the block that used the nonce: it knows nothing of it.
    if (count <= nonce) throw new RpcBehindError(`${node.name} lags: it had a newer block before`);
    return reason;
  }
  const missing =
    wei < gasLimit * maxFee
      ? `the payer has ${wei} wei, and the transaction may cost ${gasLimit * maxFee} wei in fees`
      : null;
  const failure = simulated instanceof RpcRefusedError ? `the transaction would fail: ${reasonOf(simulated)}` : null;
  const refusal = reason ?? missing ?? failure;
  // A node that is behind may not have the nonce, the money or the base fee that the build was based on.
  if (refusal !== null) blocks.requireReached(node, block.number);
  return refusal;
}
