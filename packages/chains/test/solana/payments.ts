import type { Address, ChainId, PaymentTerms, TransactionHash } from '@pf/domain';
import type { Address as SolanaAddress, Blockhash } from '@solana/kit';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { networkOf, type Token } from '../../src/index.ts';
import { randomAddress, randomReference } from '../../src/solana/address.ts';
import { accountsOf, compilePayment } from '../../src/solana/payment.ts';
import { decodeSigned } from '../../src/solana/signed-transaction.ts';
import { changed, type Change, type Rewrite } from './changes.ts';

/**
 * A good payment on Solana's devnet without any chain: its terms, its payer, and its transaction signed with web3.js.
 */
export const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId;
export const payer = Keypair.fromSeed(Uint8Array.from({ length: 32 }, () => 0xa1));
export const fulfiller = payer.publicKey.toBase58() as Address;

export const solanaToken = (symbol: string): Token => {
  const token = networkOf(DEVNET).tokens.find((one) => one.symbol === symbol);
  if (token === undefined) throw new Error(`devnet has no ${symbol}`);
  return token;
};
export const termsIn = (symbol: string): PaymentTerms => ({
  chain: DEVNET,
  tokenAddress: solanaToken(symbol).address,
  amount: 12_345_678n,
  requestor: randomAddress(),
  reference: randomReference(),
});

/** The blob as build gives it. */
export async function blobFor(
  terms: PaymentTerms,
  createsAccount = true,
  feePayer: string = fulfiller,
): Promise<Uint8Array> {
  const { raw } = compilePayment(terms, await accountsOf(terms, fulfiller), {
    feePayer: feePayer as SolanaAddress,
    createsAccount,
    unitLimit: 60_000,
    unitPrice: 1_000n,
    blockhash: randomAddress() as string as Blockhash,
    lastValidBlockHeight: 1_000n,
  });
  return raw;
}

/** What the payer's wallet makes of it. */
export function signedBy(blob: Uint8Array, change: Change | Rewrite | null = null, by = payer): Uint8Array {
  const built = VersionedTransaction.deserialize(blob);
  const transaction = change === null ? built : changed(change)(built);
  transaction.sign([by]);
  return transaction.serialize();
}

/**
 * A signed payment under another signature for each number, as a node shows it.
 * @param hasMoved false: it has moved nothing
 */
export async function shownAs(
  raw: Uint8Array,
  terms: PaymentTerms,
  { number, slot, hasMoved = true }: { readonly number: number; readonly slot: number; readonly hasMoved?: boolean },
): Promise<readonly [TransactionHash, unknown]> {
  const bytes = Buffer.from(raw);
  bytes.writeUInt32LE(number + 1, 1);
  const decoded = decodeSigned(bytes);
  if (!decoded.ok) throw new Error(decoded.problem);
  const { source, destination, mint } = await accountsOf(terms, fulfiller);
  const balance = (account: string, owner: string, amount: bigint) => ({
    accountIndex: (decoded.value.accounts as readonly string[]).indexOf(account),
    mint,
    owner,
    uiTokenAmount: { amount: String(amount) },
  });
  const before = [balance(source, fulfiller, terms.amount), balance(destination, terms.requestor, 0n)];
  const after = [balance(source, fulfiller, 0n), balance(destination, terms.requestor, terms.amount)];
  const meta = { err: null, preTokenBalances: before, postTokenBalances: hasMoved ? after : before };
  return [decoded.value.hash, { slot, transaction: [bytes.toString('base64'), 'base64'], meta }];
}
