import type { Address, PaymentTerms } from '@pf/domain';
import { refusable, type RpcNode, type RpcPool, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import type { Transaction } from 'ethers';
import { callContract, getBalance, getBlock, getTransaction, getTransactionCount } from '../evm/calls.ts';
import type { Differences, SignedTransaction, Verification } from '../port.ts';
import { decodePayment } from './calldata.ts';
import { whyNotLandable } from './landable.ts';
import { reasonOf } from '../evm/refusal.ts';
import { decodeSigned, signerOf } from './signed-transaction.ts';

/**
 * By meaning: what decides is who signed, on which chain, which token's contract is called, and what the call says.
 * Nonce, gas, fees and access list are the wallet's own business. Pure. Empty when it pays exactly these terms.
 */
export function differences(transaction: Transaction, terms: PaymentTerms, fulfiller: Address): Differences {
  const differs: Record<string, { expected: string | null; actual: string | null }> = {};
  const compare = (name: string, expected: string, actual: string | null): void => {
    if (expected !== actual) differs[name] = { expected, actual };
  };
  compare('sender', fulfiller, signerOf(transaction));
  compare('chain', terms.chain, `eip155:${transaction.chainId}`);
  compare('token', terms.tokenAddress, transaction.to);
  compare('value', '0', transaction.value.toString());
  const payment = decodePayment(transaction.data);
  if (payment === null || !payment.clean) {
    compare(
      'calldata',
      'transfer(recipient, amount) ‖ reference, and at most an ERC-8021 suffix',
      transaction.data.slice(0, 2 + 2 * 256),
    );
  }
  if (payment !== null) {
    compare('recipient', terms.requestor, payment.to);
    compare('amount', terms.amount.toString(), payment.amount.toString());
    compare('reference', terms.reference, payment.reference);
  }
  return differs;
}

/** Checks a signed transaction against the terms, then, unless it was `sent` already, whether it can land. */
export async function verifyPayment(
  pool: RpcPool,
  signed: SignedTransaction,
  terms: PaymentTerms,
  fulfiller: Address,
  sent: boolean,
): Promise<Verification> {
  const decoded = decodeSigned(signed.raw);
  if (!decoded.ok)
    return { kind: 'mismatch', differs: { type: { expected: '0, 1 or 2', actual: String(signed.raw[0] ?? null) } } };
  const differs = differences(decoded.value, terms, fulfiller);
  if (Object.keys(differs).length > 0) return { kind: 'mismatch', differs };
  if (!sent) {
    const reason = await pool.run((node) => whyItCannotLand(node, signed, decoded.value, fulfiller));
    if (reason !== null) return { kind: 'rejected', reason };
  }
  return {
    kind: 'verified',
    transaction: {
      hash: signed.hash,
      sender: fulfiller,
      nonce: decoded.value.nonce.toString(),
      lifetime: { kind: 'unlimited' },
      terms,
    },
  };
}

async function whyItCannotLand(
  node: RpcNode,
  { hash }: SignedTransaction,
  transaction: Transaction,
  signer: Address,
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
  // A used nonce may have been used by this very transaction: the wallet has sent it too, or this is a repetition.
  if (nonce < latestCount) return (await node.call(getTransaction(hash))) === null ? reason : null;
  if (reason !== null) return reason;
  if (wei < gasLimit * maxFee) return `the payer has ${wei} wei for fees and allowed for ${gasLimit * maxFee}`;
  return simulated instanceof RpcRefusedError ? `it would fail: ${reasonOf(simulated)}` : null;
}
