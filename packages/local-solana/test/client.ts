import { base58 } from '@scure/base';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getTransferCheckedInstruction,
} from '@solana-program/token';
import {
  type Address,
  appendTransactionMessageInstructions,
  assertIsSendableTransaction,
  assertIsTransactionWithBlockhashLifetime,
  type Base64EncodedWireTransaction,
  type Blockhash,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  devnet,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  type RpcDevnet,
  type RpcSubscriptionsDevnet,
  type SendableTransaction,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type SolanaRpcApiDevnet,
  type SolanaRpcSubscriptionsApi,
  type Transaction,
  type TransactionWithBlockhashLifetime,
} from '@solana/kit';
import { z } from 'zod';
import { type NodeOptions, programOf, startNode, tokens, wallets } from '../src/index.ts';

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;
export type Symbol = keyof typeof tokens;
const answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).partial().optional(),
});

/** A signed transaction, in the forms that the calls need. */
export interface Signed {
  readonly wire: Base64EncodedWireTransaction;
  readonly signature: Signature;
  readonly transaction: SendableTransaction & Transaction & TransactionWithBlockhashLifetime;
}

export interface Client {
  readonly url: string;
  readonly rpc: RpcDevnet<SolanaRpcApiDevnet>;
  readonly subscriptions: RpcSubscriptionsDevnet<SolanaRpcSubscriptionsApi>;
  /** Calls any method: returns the result, or the error. */
  call(method: string, ...params: unknown[]): Promise<z.infer<typeof answer>>;
  /** Signs instructions with a payer's key and the newest blockhash. */
  sign(
    payer: KeyPairSigner,
    instructions: readonly Instruction[],
    change?: { blockhash?: string; version?: 0 | 'legacy' },
  ): Promise<Signed>;
  send(signed: Signed, skipPreflight?: boolean): Promise<Signature>;
  stop(): Promise<void>;
}

export async function startClient(options: NodeOptions = {}): Promise<Client> {
  const node = await startNode({ paused: true, ...options });
  const rpc = createSolanaRpc(devnet(node.url));
  return {
    url: node.url,
    rpc,
    subscriptions: createSolanaRpcSubscriptions(devnet(node.url.replace('http', 'ws'))),
    async call(method, ...params) {
      const response = await fetch(node.url, {
        method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return answer.parse(await response.json());
    },
    async sign(payer, instructions, { blockhash, version = 0 } = {}) {
      const latest = (await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send()).value;
      const message = pipe(
        createTransactionMessage({ version }),
        (empty) => setTransactionMessageFeePayerSigner(payer, empty),
        (payed) =>
          setTransactionMessageLifetimeUsingBlockhash(
            blockhash === undefined ? latest : { ...latest, blockhash: blockhash as Blockhash },
            payed,
          ),
        (mortal) => appendTransactionMessageInstructions(instructions, mortal),
      );
      const transaction = await signTransactionMessageWithSigners(message);
      assertIsSendableTransaction(transaction);
      assertIsTransactionWithBlockhashLifetime(transaction);
      return {
        wire: getBase64EncodedWireTransaction(transaction),
        signature: getSignatureFromTransaction(transaction),
        transaction,
      };
    },
    send: ({ wire }, skipPreflight = false) =>
      rpc
        .sendTransaction(wire, { encoding: 'base64', skipPreflight, preflightCommitment: 'processed', maxRetries: 0n })
        .send(),
    stop: () => node.stop(),
  };
}

/** One of the eight wallets of a new chain. */
export async function wallet(index: number): Promise<KeyPairSigner> {
  return createKeyPairSignerFromBytes(base58.decode(wallets[index]?.privateKey ?? ''));
}
export const newAddress = async (): Promise<Address> => (await generateKeyPairSigner()).address;

export async function tokenAccount(owner: Address, symbol: Symbol): Promise<Address> {
  const [account] = await findAssociatedTokenPda({
    owner,
    mint: tokens[symbol] as Address,
    tokenProgram: programOf[symbol] as Address,
  });
  return account;
}
/** A Solana Pay payment: creates the account, a memo, and the transfer with its reference. */
export async function payment(
  payer: KeyPairSigner,
  owner: Address,
  symbol: Symbol,
  amount: bigint,
  { memo = 'order 17', reference }: { readonly memo?: string; readonly reference?: Address } = {},
): Promise<Instruction[]> {
  const [mint, tokenProgram] = [tokens[symbol] as Address, programOf[symbol] as Address];
  const destination = await tokenAccount(owner, symbol);
  const transfer = getTransferCheckedInstruction(
    { source: await tokenAccount(payer.address, symbol), mint, destination, authority: payer, amount, decimals: 6 },
    { programAddress: tokenProgram },
  );
  return [
    await getCreateAssociatedTokenIdempotentInstructionAsync({ payer, owner, mint, tokenProgram, ata: destination }),
    getAddMemoInstruction({ memo }, { programAddress: MEMO }),
    {
      ...transfer,
      accounts: [...transfer.accounts, ...(reference === undefined ? [] : [{ address: reference, role: 0 as const }])],
    },
  ];
}
export const lamports = (payer: KeyPairSigner, to: Address, amount: bigint): Instruction =>
  getTransferSolInstruction({ source: payer, destination: to, amount });
