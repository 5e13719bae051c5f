import type { Address as WalletAddress, PaymentTerms } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getAddMemoInstruction } from '@solana-program/memo';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import {
  AccountRole,
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { networkOf } from '../networks.ts';
import { MEMO_PROGRAM_ADDRESS, tokenProgramOf } from './programs.ts';

/** Each derivation costs some hashes, and the same merchants are paid again and again. */
const derived = boundedCache<string, Promise<Address>>(100_000);

/** A wallet's associated token account: of all its accounts for a token, the one that is derived from the two. */
export function tokenAccountOf(
  owner: WalletAddress | Address,
  mint: PaymentTerms['tokenAddress'] | Address,
): Promise<Address> {
  const key = `${owner} ${mint}`;
  const known = derived.get(key);
  if (known !== undefined) return known;
  const found = findAssociatedTokenPda({
    owner: owner as Address,
    mint: mint as Address,
    tokenProgram: tokenProgramOf(mint),
  }).then(([account]) => account);
  derived.set(key, found);
  return found;
}

/** The accounts of a payment. */
export interface PaymentAccounts {
  readonly payer: Address;
  readonly recipient: Address;
  readonly mint: Address;
  readonly tokenProgram: Address;
  readonly source: Address;
  readonly destination: Address;
  readonly reference: Address;
}

export async function accountsOf(
  { requestor, tokenAddress, reference }: PaymentTerms,
  fulfiller: WalletAddress,
): Promise<PaymentAccounts> {
  const [source, destination] = await Promise.all([
    tokenAccountOf(fulfiller, tokenAddress),
    tokenAccountOf(requestor, tokenAddress),
  ]);
  return {
    payer: fulfiller as string as Address,
    recipient: requestor as string as Address,
    mint: tokenAddress as string as Address,
    tokenProgram: tokenProgramOf(tokenAddress),
    source,
    destination,
    reference: reference as string as Address,
  };
}

export interface PaymentOptions {
  readonly feePayer: Address;
  readonly createsAccount: boolean;
  readonly unitLimit: number;
  /** µlamports a compute unit. */
  readonly unitPrice: bigint;
  readonly blockhash: Blockhash;
  readonly lastValidBlockHeight: bigint;
}

export const decimalsOf = ({ chain, tokenAddress }: PaymentTerms): number => {
  const token = networkOf(chain).tokens.find(({ address }) => address === tokenAddress);
  if (token === undefined) throw new Error(`the registry has no token ${tokenAddress} on ${chain}`);
  return token.decimals;
};

/** The memo of a payment is its reference, as on the other chains: explorers and statements show it. */
export const memoOf = ({ reference }: Pick<PaymentTerms, 'reference'>): string => reference;

/** An unsigned transaction. */
export interface CompiledPayment {
  /** As it goes over the wire, with zeros where the signatures will be. */
  readonly raw: Uint8Array;
  /** What is to be signed. */
  readonly message: Uint8Array;
  /** The program of each instruction. */
  readonly programs: readonly Address[];
  /** The accounts of all instructions. */
  readonly accounts: ReadonlySet<Address>;
}

/** The transaction of a payment, instructions in the order of Solana Pay: the memo, then the transfer as the last. */
export function compilePayment(
  terms: PaymentTerms,
  { payer, recipient, mint, tokenProgram, source, destination, reference }: PaymentAccounts,
  options: PaymentOptions,
): CompiledPayment {
  const { feePayer, createsAccount, unitLimit, unitPrice, blockhash, lastValidBlockHeight } = options;
  const signer = createNoopSigner(payer);
  const transfer = getTransferCheckedInstruction(
    { source, mint, destination, authority: signer, amount: terms.amount, decimals: decimalsOf(terms) },
    { programAddress: tokenProgram },
  );
  const instructions = [
    getSetComputeUnitLimitInstruction({ units: unitLimit }),
    getSetComputeUnitPriceInstruction({ microLamports: unitPrice }),
    ...(createsAccount
      ? [
          getCreateAssociatedTokenIdempotentInstruction({
            payer: signer,
            ata: destination,
            owner: recipient,
            mint,
            tokenProgram,
          }),
        ]
      : []),
    getAddMemoInstruction({ memo: memoOf(terms) }, { programAddress: MEMO_PROGRAM_ADDRESS }),
    { ...transfer, accounts: [...transfer.accounts, { address: reference, role: AccountRole.READONLY }] },
  ];
  const transaction = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(feePayer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight }, paid),
    (living) => appendTransactionMessageInstructions(instructions, living),
    compileTransaction,
  );
  return {
    raw: Uint8Array.from(getTransactionEncoder().encode(transaction)),
    message: Uint8Array.from(transaction.messageBytes),
    programs: instructions.map(({ programAddress }) => programAddress),
    accounts: new Set(instructions.flatMap(({ accounts = [] }) => accounts.map(({ address }) => address))),
  };
}
