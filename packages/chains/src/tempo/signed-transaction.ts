import type { Address, TransactionHash } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { keccak256 } from 'ethers/crypto';
import * as OxAddress from 'ox/Address';
import * as Secp256k1 from 'ox/Secp256k1';
import * as SignatureEnvelope from 'ox/tempo/SignatureEnvelope';
import * as Transaction from 'ox/tempo/Transaction';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import { decodedOnce } from '../decoded-once.ts';
import { shapeOf } from '../evm/rlp.ts';
import { LACKS_FEE_PAYER, type Parsed, type SignedTransaction } from '../port.ts';
import { COSTLY_PASSKEY, hasCostlyPasskey, isCostlyResponse } from './passkeys.ts';
import type { TempoRpcTransaction } from './calls.ts';

/** A signed transaction of type 0x76, as ox reads it. */
export type TempoTransaction = TxEnvelopeTempo.Signed;

const TYPE = 0x76;
/** Of what a wallet hands to a fee payer: the same with the sender's address in the place of that signature. */
const HANDED = 0x78;
/** A payment signed with a passkey, with a fee payer's signature, has about 800 bytes. */
export const BYTES_MAX = 2_048;
/** Lists within the outermost: those of a key authorization's limits are deepest. */
const DEPTH_MAX = 7;

/**
 * Half the orders of the two curves: each signature has a twin above it, with which the transaction would have a second
 * hash.
 */
const HALF_ORDER = {
  secp256k1: 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n,
  p256: 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8n,
};

const problem = (text: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem: text });
const hexOf = (raw: Uint8Array): `0x${string}` => `0x${Buffer.from(raw).toString('hex')}`;

function hasHighS({ signature }: TempoTransaction): boolean {
  switch (signature.type) {
    case 'secp256k1':
      return signature.signature.s > HALF_ORDER.secp256k1;
    case 'p256':
    case 'webAuthn':
      return signature.signature.s > HALF_ORDER.p256;
    // Never accepted, so its s does not matter.
    case 'keychain':
    case 'multisig':
      return false;
    default:
      return signature satisfies never;
  }
}

/**
 * Decodes a transaction of type 0x76 that its sender has signed, the same bytes once. One transaction has exactly one
 * encoding: what ox would encode differently is refused. Never throws, whatever the bytes are.
 */
export const decode = decodedOnce((raw): Parsed<TempoTransaction> => {
  if (raw[0] !== TYPE) return problem('is not a transaction of type 0x76');
  const costly = whyCostly(raw);
  if (costly !== null) return problem(costly);
  const serialized = hexOf(raw) as TxEnvelopeTempo.Serialized;
  try {
    const transaction = TxEnvelopeTempo.deserialize(serialized);
    if (transaction.signature === undefined) return problem('is not signed');
    if (TxEnvelopeTempo.serialize(transaction) !== serialized) return problem('is not in canonical form');
    const signed = { ...transaction, signature: transaction.signature };
    return hasHighS(signed) ? problem('has a signature with a high s') : { ok: true, value: signed };
  } catch {
    // ox throws on whatever is wrong in the bytes: lengths, too many or too few fields, numbers out of range.
    return problem('is not a valid transaction of type 0x76');
  }
});

/** Why it takes ox more than a few milliseconds to decode these bytes: null where it does not. */
function whyCostly(raw: Uint8Array): string | null {
  if (raw.length > BYTES_MAX) return `is longer than ${BYTES_MAX} bytes`;
  const shape = shapeOf(raw.subarray(1), DEPTH_MAX);
  if (shape === null) return 'is not a valid transaction of type 0x76';
  return hasCostlyPasskey(shape.texts) ? COSTLY_PASSKEY : null;
}

/** The same for one that nothing is missing of. */
export function decodeSigned(raw: Uint8Array): Parsed<TempoTransaction> {
  const decoded = decode(raw);
  return decoded.ok && isAwaitingFeePayer(decoded.value) ? problem(LACKS_FEE_PAYER) : decoded;
}

/**
 * What a sender has signed for a fee payer, as type 0x76 with a place for that signature: wallets hand over this or
 * type 0x78. Null for anything else. Never throws, whatever the bytes are.
 */
export function handedIn(raw: Uint8Array): Uint8Array | null {
  const plain = raw[0] === HANDED ? withoutSender(raw) : raw;
  if (plain === null) return null;
  const decoded = decode(plain);
  return decoded.ok && isAwaitingFeePayer(decoded.value) ? plain : null;
}

function withoutSender(raw: Uint8Array): Uint8Array | null {
  if (whyCostly(raw) !== null) return null;
  try {
    const transaction = TxEnvelopeTempo.deserialize(hexOf(raw) as TxEnvelopeTempo.Serialized);
    return Buffer.from(TxEnvelopeTempo.serialize({ ...transaction, feePayerSignature: null }).slice(2), 'hex');
  } catch {
    // As in decode().
    return null;
  }
}

/** As fee payers take it: with the sender, whom they need not recover. */
export const handedTo = (transaction: TempoTransaction): `0x${string}` =>
  TxEnvelopeTempo.serialize(transaction, { format: 'feePayer', signature: transaction.signature });

/** Whether it has a place for the signature of a fee payer, and nothing in it. */
const isAwaitingFeePayer = ({ feePayerSignature }: TempoTransaction): boolean => feePayerSignature === null;

/** What a fee payer cannot change: all but its own signature and the fee token, as bytes. */
export const sentBySender = (transaction: TempoTransaction): string =>
  TxEnvelopeTempo.serialize({ ...transaction, feePayerSignature: null, feeToken: undefined });

/** The same bytes with their hash, as the chain computes it, lower case. */
export const signedTransaction = (raw: Uint8Array): SignedTransaction => ({
  hash: keccak256(raw) as TransactionHash,
  raw,
});

/** What the sender signed: everything but the signatures, and but the fee token where another account pays the fee. */
const payloadOf = (transaction: TempoTransaction): `0x${string}` =>
  TxEnvelopeTempo.hash(transaction, { presign: true });

/**
 * The account whose own key signed it (secp256k1, P256, or a passkey by WebAuthn); null for an invalid signature.
 * Access keys and multisigs cannot be verified by the bytes alone.
 */
export function signerOf(transaction: TempoTransaction): Address | null {
  const { signature } = transaction;
  try {
    if (signature.type === 'secp256k1')
      return getAddress(
        Secp256k1.recoverAddress({ payload: payloadOf(transaction), signature: signature.signature }),
      ) as Address;
    if (signature.type !== 'p256' && signature.type !== 'webAuthn') return null;
    const { publicKey } = signature;
    return SignatureEnvelope.verify(signature, { payload: payloadOf(transaction), publicKey })
      ? (getAddress(OxAddress.fromPublicKey(publicKey)) as Address)
      : null;
  } catch {
    // r or the public key is not on the curve: no key can have made this signature.
    return null;
  }
}

/** The fee payer: the sender, or the account that signed for the fee; null where that signature is invalid. */
export function feePayerOf(transaction: TempoTransaction, sender: Address): Address | null {
  const { feePayerSignature } = transaction;
  if (feePayerSignature === undefined || feePayerSignature === null) return sender;
  try {
    const payload = TxEnvelopeTempo.getFeePayerSignPayload(transaction, { sender: sender as `0x${string}` });
    return getAddress(Secp256k1.recoverAddress({ payload, signature: feePayerSignature })) as Address;
  } catch {
    // No key can have made this signature.
    return null;
  }
}

/**
 * Rebuilds a transaction from a node's response, which is trusted because the hash matches and with it every byte. Of
 * another type only the type's byte is kept: its receipt tells what it has paid. Null where the response does not make
 * this transaction.
 */
export function fromChain(hash: TransactionHash, response: TempoRpcTransaction): SignedTransaction | null {
  if (response.type !== BigInt(TYPE))
    return { hash, raw: Uint8Array.of(Number(response.type & 0xffn)), isPartial: true };
  // Whoever has sent it chose what is in it. A payment in it is found by its reference.
  if (JSON.stringify({ ...response, type: undefined }).length > 4 * BYTES_MAX || isCostlyResponse(response))
    return null;
  try {
    const { data: _data, ...fields } = Transaction.fromRpc({
      ...response,
      type: '0x76',
    } as unknown as Transaction.Rpc) as unknown as TempoTransaction & { readonly data?: unknown };
    // Null means "not sponsored" here, and "to be sponsored" to ox.
    const serialized = TxEnvelopeTempo.serialize({
      ...fields,
      feePayerSignature: fields.feePayerSignature ?? undefined,
    });
    const raw = Buffer.from(serialized.slice(2), 'hex');
    const made = signedTransaction(raw);
    return made.hash === hash ? made : null;
  } catch {
    // The fields fit no transaction: the node's response is wrong.
    return null;
  }
}
