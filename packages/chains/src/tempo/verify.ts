import type { Address, Instant, PaymentTerms, TransactionHash } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { getAddress } from 'ethers/address';
import { bestLandability } from '../landability.ts';
import type { Differences, Network, SignedTransaction, Verification } from '../port.ts';
import { verifyLanded } from '../verify-landed.ts';
import { decodePayment } from './calldata.ts';
import { whyItCannotLand } from './landable.ts';
import { mppNameOf, referenceIn } from './mpp.ts';
import { nonceName } from './nonce.ts';
import { judgeAgain } from './observe/judge-again.ts';
import { decodeSigned, feePayerOf, signerOf, type TempoTransaction } from './signed-transaction.ts';

/** What one node has in a block, every other one has so much later. */
const SHOWN_WITHIN_S = 60n;

/** The checksummed address; null where there is none. */
const shown = (address: string | undefined): string | null => (address === undefined ? null : getAddress(address));

/**
 * Compares by meaning: the signer, the chain, that there is a single call, the contract and the content of that call;
 * that the transaction expires and grants nothing else. Nonce, gas, fees, fee token, access list and fee sponsor are
 * the wallet's choice. Pure. Empty when the transaction pays exactly these terms.
 */
export function differences(transaction: TempoTransaction, terms: PaymentTerms, fulfiller: Address): Differences {
  const differs: Record<string, { expected: string | null; actual: string | null }> = {};
  const compare = (name: string, expected: string | null, actual: string | null): void => {
    if (expected !== actual) differs[name] = { expected, actual };
  };
  const { signature, calls, authorizationList, keyAuthorization, validBefore } = transaction;
  const [call] = calls;
  if (signature.type === 'keychain' || signature.type === 'multisig')
    compare('signature', 'secp256k1, p256 or webAuthn', signature.type);
  else compare('sender', fulfiller, signerOf(transaction));
  if (feePayerOf(transaction, fulfiller) === null) compare('feePayer', 'a valid signature', null);
  compare('chain', terms.chain, `eip155:${transaction.chainId}`);
  compare('calls', '1', String(calls.length));
  compare('token', terms.tokenAddress, shown(call?.to));
  compare('value', '0', calls.reduce((sum, { value = 0n }) => sum + value, 0n).toString());
  compare('authorizations', '0', String(authorizationList?.length ?? 0));
  compare('keyAuthorization', null, keyAuthorization === undefined ? null : 'present');
  if (validBefore === undefined) compare('validBefore', 'a time', null);
  const payment = decodePayment(call?.data ?? '0x');
  if (payment === null)
    compare('calldata', 'transferWithMemo(recipient, amount, reference)', (call?.data ?? '0x').slice(0, 2 + 2 * 256));
  else {
    compare('recipient', terms.requestor, payment.to);
    compare('amount', terms.amount.toString(), payment.amount.toString());
    compare('reference', terms.reference, referenceIn(payment.reference, terms));
  }
  return differs;
}

/**
 * Checks a signed transaction against the terms and, unless it was `sent` already, whether it can land. One that was
 * sent and is not as we build it is judged by its receipt: wallets send other types, and sign with access keys.
 */
export async function verifyPayment(
  pool: RpcPool,
  network: Network,
  now: Instant,
  signed: SignedTransaction,
  terms: PaymentTerms,
  fulfiller: Address,
  sent: boolean,
): Promise<Verification> {
  const decoded = decodeSigned(signed.raw);
  const other = (differs: Differences): Promise<Verification> | Verification =>
    sent ? verifySent(pool, network, now, signed.hash, terms, fulfiller, differs) : { kind: 'mismatch', differs };
  if (!decoded.ok)
    return other({ type: { expected: '0x76', actual: `0x${(signed.raw[0] ?? 0).toString(16).padStart(2, '0')}` } });
  const transaction = decoded.value;
  const differs = differences(transaction, terms, fulfiller);
  if (Object.keys(differs).length > 0) return other(differs);
  if (!sent) {
    const { reason } = await bestLandability(pool, async (node) => ({
      reason: await whyItCannotLand(node, now, signed, transaction, terms, fulfiller),
    }));
    if (reason !== null) return { kind: 'rejected', reason };
  }
  const { nonceKey = 0n, nonce = 0n, validBefore = 0 } = transaction;
  return {
    kind: 'verified',
    transaction: {
      hash: signed.hash,
      sender: fulfiller,
      nonce: nonceName(nonceKey, nonce),
      lifetime: { kind: 'time', validBefore: BigInt(validBefore) },
      terms,
    },
  };
}

function verifySent(
  pool: RpcPool,
  network: Network,
  now: Instant,
  hash: TransactionHash,
  terms: PaymentTerms,
  fulfiller: Address,
  differs: Differences,
): Promise<Verification> {
  return verifyLanded(
    {
      hash,
      terms,
      // It is in a block, which a node may have later. Should the chain lose it, it is as one that has expired.
      lifetime: { kind: 'time', validBefore: BigInt(Math.floor(now / 1_000)) + SHOWN_WITHIN_S },
      judge: (watch) => pool.run((node) => judgeAgain(pool, node, network, watch, hash)),
      alias: mppNameOf(terms),
      differs,
    },
    fulfiller,
  );
}
