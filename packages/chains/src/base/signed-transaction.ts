import type { Address, TransactionHash } from '@pf/domain';
import { Transaction } from 'ethers';
import type { ChainTransaction } from '../evm/calls.ts';
import type { Parsed, SignedTransaction } from '../port.ts';

/** Half the order of secp256k1 (EIP-2): each signature has a twin above it, which would give the transaction a second hash. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const problem = (text: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem: text });

/** Types 1 and 2 begin with that byte, type 0 with the head of an RLP list. */
const typeOf = (raw: Uint8Array): number => {
  const first = raw[0] ?? 0;
  return first >= 0xc0 ? 0 : first;
};

/**
 * Reads a signed transaction of type 0, 1 or 2. Exactly one text of bytes stands for one transaction: RLP that is not the shortest, bytes
 * behind the end, leading zeros and high-s signatures are refused. Never throws, whatever the bytes are.
 */
export function decodeSigned(raw: Uint8Array): Parsed<Transaction> {
  const type = typeOf(raw);
  if (raw.length === 0 || type > 2 || (type === 0 && (raw[0] ?? 0) < 0xc0))
    return problem(`is not a transaction of type 0, 1 or 2`);
  const serialized = `0x${Buffer.from(raw).toString('hex')}`;
  try {
    const transaction = Transaction.from(serialized);
    if (transaction.signature === null) return problem('is not signed');
    if (transaction.serialized !== serialized) return problem('is not in canonical RLP');
    if (BigInt(transaction.signature.s) > HALF_ORDER) return problem('has a signature with a high s');
    return { ok: true, value: transaction };
  } catch {
    // ethers throws on all that is wrong in the bytes: lengths, fields too many, numbers too large.
    return problem('is not a valid RLP-encoded transaction');
  }
}

/** Who signed it, recovered from the signature (half a millisecond: done once, by verify); null where that is nobody. */
export function signerOf(transaction: Transaction): Address | null {
  try {
    return transaction.from as Address | null;
  } catch {
    // r is on no point of the curve: no key can have made this signature.
    return null;
  }
}

/** The hash of raw bytes as the chain computes it, lower case. */
export const signedTransaction = (raw: Uint8Array, { hash }: Transaction): SignedTransaction => ({
  hash: String(hash) as TransactionHash,
  raw,
});

/**
 * A transaction put together again from what a node tells of it. Believed because its hash comes out right, and with
 * the hash every byte. Of a type that is not known here only the type's byte is kept: enough for verify to refuse it by
 * name. Null where the node's answer does not make this transaction.
 */
export function fromChain(hash: TransactionHash, told: ChainTransaction): SignedTransaction | null {
  if (told.type > 2n) return { hash, raw: Uint8Array.of(Number(told.type & 0xffn)) };
  const { r, s } = told;
  const v = told.type === 0n ? told.v : (told.yParity ?? told.v);
  if (r === undefined || r === null || s === undefined || s === null || v === undefined || v === null) return null;
  const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;
  try {
    const transaction = Transaction.from({
      type: Number(told.type),
      chainId: told.chainId ?? 0n,
      nonce: Number(told.nonce),
      gasLimit: told.gas,
      to: told.to,
      value: told.value,
      data: told.input,
      ...(told.type === 2n
        ? { maxFeePerGas: told.maxFeePerGas ?? null, maxPriorityFeePerGas: told.maxPriorityFeePerGas ?? null }
        : { gasPrice: told.gasPrice ?? null }),
      ...(told.type === 0n ? {} : { accessList: told.accessList ?? [] }),
      signature: { r: word(r), s: word(s), v: told.type === 0n ? v : Number(v) },
    });
    if (transaction.hash !== hash) return null;
    return { hash, raw: Buffer.from(transaction.serialized.slice(2), 'hex') };
  } catch {
    // Fields that fit no transaction: the node's answer is wrong.
    return null;
  }
}
