import {
  Connection,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { nodeWallet } from '@pf/local-solana';
import { base58 } from '@scure/base';
import type { StackChain, StackWallet } from '../stack/stack.ts';

const MEMO = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
const ATA = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const SYSTEM = new PublicKey('11111111111111111111111111111111');
const DECIMALS = 6;
const TRANSFER_CHECKED = 12;
const TRANSFER_CHECKED_WITH_FEE = [26, 1];
const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

/**
 * A payer's wallet on Solana, made with web3.js 1.x: a different library than the service's, so that tests prove that
 * other libraries can sign what the service builds. It keeps its key; the service never sees it.
 */
export interface SolanaWallet {
  readonly address: string;
  /**
   * Signs the blob of `build`; base64, as `submit` accepts it. `change` may replace the transaction first.
   */
  sign(blob: string, change?: (transaction: VersionedTransaction) => VersionedTransaction): Promise<string>;
  /** The balance in base units. */
  tokenBalance(mint: string): Promise<bigint>;
  /**
   * Sends a plain transfer with the references and memo of Solana Pay; resolves with the signature.
   * @param pay.fee what the token withholds, named by the transfer as it may be on Token-2022
   */
  transfer(
    mint: string,
    to: string,
    amount: bigint,
    pay?: { readonly references?: readonly string[]; readonly memo?: string; readonly fee?: bigint },
  ): Promise<string>;
  readonly connection: Connection;
}

/** An owner's associated token account; its address depends on the token program. */
export const associatedAccount = (owner: PublicKey, mint: PublicKey, program: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([owner.toBytes(), program.toBytes(), mint.toBytes()], ATA)[0];

const meta = (
  pubkey: PublicKey,
  isSigner: boolean,
  isWritable: boolean,
): { pubkey: PublicKey; isSigner: boolean; isWritable: boolean } => ({ pubkey, isSigner, isWritable });

export function solanaWallet(chain: StackChain, wallet: StackWallet): SolanaWallet {
  const keypair = Keypair.fromSecretKey(base58.decode(wallet.privateKey));
  const connection = new Connection(chain.rpcUrl, 'confirmed');
  async function programOf(mint: PublicKey): Promise<PublicKey> {
    const account = await connection.getAccountInfo(mint);
    if (account === null) throw new Error(`${mint.toBase58()} is not on this chain`);
    return account.owner;
  }
  return {
    address: keypair.publicKey.toBase58(),
    connection,
    async sign(blob, change = (transaction) => transaction) {
      const transaction = change(VersionedTransaction.deserialize(Buffer.from(blob, 'base64')));
      transaction.sign([keypair]);
      return Buffer.from(transaction.serialize()).toString('base64');
    },
    async tokenBalance(mint) {
      const key = new PublicKey(mint);
      const account = await connection.getAccountInfo(associatedAccount(keypair.publicKey, key, await programOf(key)));
      return account === null ? 0n : account.data.readBigUInt64LE(64);
    },
    async transfer(mint, to, amount, { references = [], memo, fee } = {}) {
      const [key, recipient, payer] = [new PublicKey(mint), new PublicKey(to), keypair.publicKey];
      const program = await programOf(key);
      const [source, destination] = [
        associatedAccount(payer, key, program),
        associatedAccount(recipient, key, program),
      ];
      const data =
        fee === undefined
          ? Buffer.concat([Buffer.of(TRANSFER_CHECKED), u64(amount), Buffer.of(DECIMALS)])
          : Buffer.concat([Buffer.of(...TRANSFER_CHECKED_WITH_FEE), u64(amount), Buffer.of(DECIMALS), u64(fee)]);
      const instructions = [
        new TransactionInstruction({
          programId: ATA,
          keys: [
            meta(payer, true, true),
            meta(destination, false, true),
            meta(recipient, false, false),
            meta(key, false, false),
            meta(SYSTEM, false, false),
            meta(program, false, false),
          ],
          data: Buffer.of(1),
        }),
        ...(memo === undefined
          ? []
          : [new TransactionInstruction({ programId: MEMO, keys: [], data: Buffer.from(memo) })]),
        new TransactionInstruction({
          programId: program,
          keys: [
            meta(source, false, true),
            meta(key, false, false),
            meta(destination, false, true),
            meta(payer, true, false),
            ...references.map((reference) => meta(new PublicKey(reference), false, false)),
          ],
          data,
        }),
      ];
      const { blockhash } = await connection.getLatestBlockhash();
      const transaction = new VersionedTransaction(
        new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions }).compileToV0Message(),
      );
      transaction.sign([keypair]);
      return connection.sendRawTransaction(transaction.serialize(), { maxRetries: 0 });
    },
  };
}

const FREEZE_ACCOUNT = 10;
const SET_TRANSFER_FEE = [26, 5];
const PAUSABLE = 44;

/** Freezes an owner's account of a local chain's token, as its issuer; resolves with the signature. */
export const freezeAccount = (chain: StackChain, mint: string, owner: string): Promise<string> =>
  asIssuer(chain, mint, Buffer.of(FREEZE_ACCOUNT), (token, program) => [
    meta(associatedAccount(new PublicKey(owner), token, program), false, true),
    meta(token, false, false),
  ]);

/**
 * Sets the part of each transfer that a local chain's Token-2022 token withholds, as its issuer: from the second epoch
 * after this one. Resolves with the signature.
 */
export const setTransferFee = (
  chain: StackChain,
  mint: string,
  basisPoints: number,
  maximum: bigint,
): Promise<string> =>
  asIssuer(
    chain,
    mint,
    Buffer.concat([Buffer.of(...SET_TRANSFER_FEE), u64(BigInt(basisPoints)).subarray(0, 2), u64(maximum)]),
    (token) => [meta(token, false, true)],
  );

/** Pauses a local chain's Token-2022 token, or resumes it, as its issuer; resolves with the signature. */
export const setPaused = (chain: StackChain, mint: string, isPaused: boolean): Promise<string> =>
  asIssuer(chain, mint, Buffer.of(PAUSABLE, isPaused ? 1 : 2), (token) => [meta(token, false, true)]);

/** Sends one instruction of the token's program that its issuer signs. */
async function asIssuer(
  chain: StackChain,
  mint: string,
  data: Buffer,
  accounts: (token: PublicKey, program: PublicKey) => ReturnType<typeof meta>[],
): Promise<string> {
  const [issuer, connection, token] = [
    Keypair.fromSecretKey(base58.decode(nodeWallet.privateKey)),
    new Connection(chain.rpcUrl, 'confirmed'),
    new PublicKey(mint),
  ];
  const account = await connection.getAccountInfo(token);
  if (account === null) throw new Error(`${mint} is not on this chain`);
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: issuer.publicKey,
      recentBlockhash: blockhash,
      instructions: [
        new TransactionInstruction({
          programId: account.owner,
          keys: [...accounts(token, account.owner), meta(issuer.publicKey, true, false)],
          data,
        }),
      ],
    }).compileToV0Message(),
  );
  transaction.sign([issuer]);
  return connection.sendRawTransaction(transaction.serialize(), { maxRetries: 0 });
}
