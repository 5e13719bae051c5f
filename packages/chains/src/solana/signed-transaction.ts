import type { TransactionHash } from '@pf/domain';
import {
  type Address,
  type Blockhash,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  getTransactionEncoder,
  type SignatureBytes,
  verifySignature,
} from '@solana/kit';
import { decodedOnce } from '../decoded-once.ts';
import { LACKS_FEE_PAYER, type Parsed, type SignedTransaction } from '../port.ts';

/** One instruction, with its accounts as indices into the message's list. */
export interface Instruction {
  readonly program: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

/** A decoded transaction of any version. */
export interface DecodedTransaction {
  readonly version: 'legacy' | 0 | 1;
  readonly blockhash: Blockhash;
  /** How many of the accounts sign: the first ones. */
  readonly signers: number;
  /**
   * The accounts that the message itself names, the fee payer first. TransactionSummary-up tables may add others behind
   * them.
   */
  readonly accounts: readonly Address[];
  readonly tables: readonly Address[];
  readonly instructions: readonly Instruction[];
  /** What was signed, and each signer's signature; null where one is missing. */
  readonly message: Uint8Array;
  readonly signatures: Readonly<Record<string, SignatureBytes | null>>;
  isWritable(place: number): boolean;
}

/** One that its fee payer has signed, whose signature is its hash. */
export interface DecodedSigned extends DecodedTransaction {
  readonly hash: TransactionHash;
}

const problem = (text: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem: text });

/**
 * Decodes a transaction in wire format, the same bytes once. One transaction has exactly one encoding: non-minimal
 * lengths and trailing bytes are refused. Never throws, whatever the bytes are.
 */
export const decode = decodedOnce((raw): Parsed<DecodedTransaction> => {
  try {
    const transaction = getTransactionDecoder().decode(raw);
    const compiled = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const message = Uint8Array.from(transaction.messageBytes);
    const isCanonical =
      same(getTransactionEncoder().encode(transaction), raw) &&
      same(getCompiledTransactionMessageEncoder().encode(compiled), message);
    if (!isCanonical) return problem('is not in canonical form');
    const { header, staticAccounts, lifetimeToken } = compiled;
    const { numSignerAccounts: signers, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
    return {
      ok: true,
      value: {
        version: compiled.version,
        blockhash: lifetimeToken as Blockhash,
        signers,
        accounts: staticAccounts,
        tables:
          compiled.version === 0
            ? (compiled.addressTableLookups ?? []).map(({ lookupTableAddress }) => lookupTableAddress)
            : [],
        instructions: instructionsOf(compiled),
        message,
        signatures: transaction.signatures,
        isWritable: (place) =>
          place < signers
            ? place < signers - numReadonlySignerAccounts
            : place < staticAccounts.length - numReadonlyNonSignerAccounts,
      },
    };
  } catch {
    // The codecs throw on whatever is wrong in the bytes: lengths, versions, indices out of range.
    return problem('is not a valid Solana transaction');
  }
});

/** The same for one that its fee payer has signed. */
export function decodeSigned(raw: Uint8Array): Parsed<DecodedSigned> {
  const decoded = decode(raw);
  if (!decoded.ok) return decoded;
  const { accounts, signatures } = decoded.value;
  const [payer] = accounts;
  const signature = payer === undefined ? undefined : signatures[payer];
  if (signature === undefined || signature === null) {
    const isSigned = Object.values(signatures).some((made) => made !== null);
    return problem(isSigned ? LACKS_FEE_PAYER : 'is not signed');
  }
  return { ok: true, value: { ...decoded.value, hash: getBase58Decoder().decode(signature) as TransactionHash } };
}

const same = (one: ArrayLike<number>, other: Uint8Array): boolean => Buffer.from(Uint8Array.from(one)).equals(other);

type Compiled = ReturnType<ReturnType<typeof getCompiledTransactionMessageDecoder>['decode']>;
function instructionsOf(compiled: Compiled): readonly Instruction[] {
  if (compiled.version === 1) {
    return compiled.instructionHeaders.map(({ programAccountIndex }, place) => ({
      program: programAccountIndex,
      accounts: compiled.instructionPayloads[place]?.instructionAccountIndices ?? [],
      data: Uint8Array.from(compiled.instructionPayloads[place]?.instructionData ?? []),
    }));
  }
  return compiled.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
    program: programAddressIndex,
    accounts: accountIndices ?? [],
    data: Uint8Array.from(data ?? []),
  }));
}

/** True where the account has signed this message (ed25519). */
export async function isSignedBy({ signatures, message }: DecodedTransaction, account: Address): Promise<boolean> {
  const signature = signatures[account];
  if (signature === undefined || signature === null) return false;
  try {
    return await verifySignature(await getPublicKeyFromAddress(account), signature, message);
  } catch {
    // The address is off the curve: no key can have signed for it.
    return false;
  }
}

export const signedTransaction = (raw: Uint8Array, { hash }: DecodedSigned): SignedTransaction => ({ hash, raw });

/** The programs of a transaction's instructions, in their order. */
export const programsOf = ({ accounts, instructions }: DecodedTransaction): readonly (Address | undefined)[] =>
  instructions.map(({ program }) => accounts[program]);
