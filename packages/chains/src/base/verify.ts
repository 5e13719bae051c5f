import type { Address, PaymentTerms } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import type { Transaction } from 'ethers/transaction';
import { bestLandability } from '../landability.ts';
import type { NewestHead } from '../newest-head.ts';
import type { Differences, SignedTransaction, Verification } from '../port.ts';
import { decodePayment } from './calldata.ts';
import { whyItCannotLand } from './landable.ts';
import { decodeSigned, type Signer, signerOf } from './signed-transaction.ts';

/**
 * Compares by meaning: the signer, the chain, the token contract that is called, and the call. Nonce, gas, fees and
 * access list are the wallet's choice. Pure. Empty when the transaction pays exactly these terms.
 */
export function differences(
  transaction: Transaction,
  terms: PaymentTerms,
  fulfiller: Address,
  signer: Signer = signerOf,
): Differences {
  const differs: Record<string, { expected: string | null; actual: string | null }> = {};
  const compare = (name: string, expected: string, actual: string | null): void => {
    if (expected !== actual) differs[name] = { expected, actual };
  };
  compare('sender', fulfiller, signer(transaction));
  compare('chain', terms.chain, `eip155:${transaction.chainId}`);
  compare('token', terms.tokenAddress, transaction.to);
  compare('value', '0', transaction.value.toString());
  const payment = decodePayment(transaction.data);
  if (payment === null || !payment.clean) {
    compare(
      'calldata',
      'transfer(recipient, amount), then the reference, then at most an ERC-8021 suffix',
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

/** Checks a signed transaction against the terms and, unless it was `sent` already, whether it can land. */
export async function verifyPayment(
  pool: RpcPool,
  signed: SignedTransaction,
  terms: PaymentTerms,
  fulfiller: Address,
  sent: boolean,
  signer: Signer,
  blocks: NewestHead,
): Promise<Verification> {
  const decoded = decodeSigned(signed.raw);
  if (!decoded.ok)
    return { kind: 'mismatch', differs: { type: { expected: '0, 1 or 2', actual: String(signed.raw[0] ?? null) } } };
  const differs = differences(decoded.value, terms, fulfiller, signer);
  if (Object.keys(differs).length > 0) return { kind: 'mismatch', differs };
  if (!sent) {
    const { reason } = await bestLandability(pool, async (node) => ({
      reason: await whyItCannotLand(node, signed, decoded.value, fulfiller, blocks),
    }));
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
