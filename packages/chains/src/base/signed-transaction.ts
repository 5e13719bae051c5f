import type { Address, TransactionHash } from '@pf/domain';
import { Signature } from 'ethers/crypto';
import { Transaction } from 'ethers/transaction';
import { decodedOnce } from '../decoded-once.ts';
import type { ChainTransaction } from '../evm/calls.ts';
import { shapeOf } from '../evm/rlp.ts';
import type { Parsed, SignedTransaction } from '../port.ts';

/**
 * Half the order of secp256k1 (EIP-2): each signature has a twin above it, with which the transaction would have a
 * second hash.
 */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const problem = (text: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem: text });

/** Types 1 and 2 begin with that byte, type 0 with the head of an RLP list. */
const typeOf = (raw: Uint8Array): number => {
  const first = raw[0] ?? 0;
  return first >= 0xc0 ? 0 : first;
};

/** The types of transactions that are broadcast here. */
const SIGNED_TYPES = [0, 1, 2];
/** And of those that wallets send by themselves: EIP-7702's, with which an account delegates to a contract's code. */
export const SENT_TYPES = [...SIGNED_TYPES, 4];

/**
 * Of what is submitted. A payment has 170 to 230 bytes: the rest is for an ERC-8021 suffix and an access list. What a
 * wallet has sent itself may be a bundle of many, and is not bounded by this.
 */
export const SUBMITTED_BYTES_MAX = 4_096;
/**
 * Addresses in an access list, and delegations beside them: a transfer touches the token, its implementation and two
 * balances. ethers takes 70 µs for the checksums of each.
 */
const ACCESSED_MAX = 16;
/** Lists within the outermost: the access list, an entry, its keys. */
const DEPTH_MAX = 3;
const ENTRY_DEPTH = 2;

/**
 * Decodes a signed transaction of type 0, 1 or 2, the same bytes once. One transaction has exactly one encoding:
 * non-minimal RLP, trailing bytes, leading zeros and high-s signatures are refused. Never throws, whatever the bytes
 * are.
 */
export function decodeSigned(raw: Uint8Array, types: readonly number[] = SIGNED_TYPES): Parsed<Transaction> {
  const type = typeOf(raw);
  if (raw.length === 0 || !types.includes(type) || (type === 0 && (raw[0] ?? 0) < 0xc0))
    return problem(`is not a transaction of type 0, 1 or 2`);
  return decode(raw);
}

const decode = decodedOnce((raw): Parsed<Transaction> => {
  const shape = shapeOf(typeOf(raw) === 0 ? raw : raw.subarray(1), DEPTH_MAX);
  if (shape === null) return problem('is not a valid RLP-encoded transaction');
  if ((shape.lists[ENTRY_DEPTH] ?? 0) > ACCESSED_MAX)
    return problem(`has an access list of more than ${ACCESSED_MAX} addresses`);
  const serialized = `0x${Buffer.from(raw).toString('hex')}`;
  try {
    const transaction = Transaction.from(serialized);
    if (transaction.signature === null) return problem('is not signed');
    if (transaction.serialized !== serialized) return problem('is not in canonical RLP');
    if (BigInt(transaction.signature.s) > HALF_ORDER) return problem('has a signature with a high s');
    return { ok: true, value: transaction };
  } catch {
    // ethers throws on whatever is wrong in the bytes: lengths, too many fields, numbers out of range.
    return problem('is not a valid RLP-encoded transaction');
  }
});

/** Who has signed a transaction; null where the signature is invalid. */
export type Signer = (transaction: Transaction) => Address | null;

/**
 * The signer, recovered from the signature (half a millisecond: done once, by verify); null for an invalid signature.
 */
export function signerOf(transaction: Transaction): Address | null {
  try {
    return transaction.from as Address | null;
  } catch {
    // r is not on the curve: no key can have made this signature.
    return null;
  }
}

/** The hash of raw bytes as the chain computes it, lower case. */
export const signedTransaction = (raw: Uint8Array, { hash }: Transaction): SignedTransaction => ({
  hash: String(hash) as TransactionHash,
  raw,
});

/**
 * Rebuilds a transaction from a node's response, which is trusted because the hash matches and with it every byte. Of
 * an unknown type only the type's byte is kept, so that verify can refuse it by name. Null where the response does not
 * make this transaction.
 */
export function fromChain(hash: TransactionHash, response: ChainTransaction): SignedTransaction | null {
  if (!SENT_TYPES.includes(Number(response.type))) return { hash, raw: Uint8Array.of(Number(response.type & 0xffn)) };
  const { r, s } = response;
  const v = response.type === 0n ? response.v : (response.yParity ?? response.v);
  if (r === undefined || r === null || s === undefined || s === null || v === undefined || v === null) return null;
  // Whoever has sent it chose its size. A payment in it is found by its reference.
  if ((response.accessList?.length ?? 0) + (response.authorizationList?.length ?? 0) > ACCESSED_MAX) return null;
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
  try {
    const transaction = Transaction.from({
      type: Number(response.type),
      chainId: response.chainId ?? 0n,
      nonce: Number(response.nonce),
      gasLimit: response.gas,
      to: response.to,
      value: response.value,
      data: response.input,
      ...(response.type >= 2n
        ? { maxFeePerGas: response.maxFeePerGas ?? null, maxPriorityFeePerGas: response.maxPriorityFeePerGas ?? null }
        : { gasPrice: response.gasPrice ?? null }),
      ...(response.type === 0n ? {} : { accessList: response.accessList ?? [] }),
      ...(response.type === 4n
        ? {
            authorizationList: (response.authorizationList ?? []).map(({ r, s, yParity, ...authorization }) => ({
              ...authorization,
              signature: Signature.from({ r: word(r), s: word(s), yParity: yParity === 0n ? 0 : 1 }),
            })),
          }
        : {}),
      signature: { r: word(r), s: word(s), v: response.type === 0n ? v : Number(v) },
    });
    if (transaction.hash !== hash) return null;
    return { hash, raw: Buffer.from(transaction.serialized.slice(2), 'hex') };
  } catch {
    // The fields fit no transaction: the node's response is wrong.
    return null;
  }
}
