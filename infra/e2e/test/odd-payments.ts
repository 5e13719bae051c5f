import { Keypair, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { base58 } from '@scure/base';
import { createWalletClient, encodeFunctionData, type Hex, http, parseAbi } from 'viem';
import { tempoModerato } from 'viem/tempo/chains';
import { Account } from 'viem/tempo';
import { type StackChain, type StackWallet } from '@pf/testing';
import { associatedAccount, evmWallet, solanaWallet, tempoWallet } from '@pf/testing/wallets';
import { nodeRpc } from '../../../packages/testing/src/chains/node-rpc.ts';

/** A transfer of a token, with its references where the chain has them. */
export interface OddPayment {
  readonly to: string;
  readonly units: bigint;
  readonly references: readonly string[];
}

const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
const DECIMALS = 6;
const TRANSFER_WITH_MEMO = parseAbi(['function transferWithMemo(address to, uint256 amount, bytes32 memo)']);

const toHex = (base64: string): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`;
/** Doubles the fees, so that nodes accept it as the replacement of a pending transaction. */
const withHigherFees = <
  T extends { readonly maxFeePerGas?: bigint | undefined; readonly maxPriorityFeePerGas?: bigint | undefined },
>(
  transaction: T,
): T => ({
  ...transaction,
  maxFeePerGas: 2n * (transaction.maxFeePerGas ?? 0n),
  maxPriorityFeePerGas: 2n * (transaction.maxPriorityFeePerGas ?? 0n),
});
type Replacement = Readonly<
  Record<'base' | 'tempo', (chain: StackChain, payer: StackWallet, blob: string) => Promise<Hex>>
>;

/**
 * The raw transaction of a wallet that speeds up the built payment: the same nonce and transfer, twice the fee.
 */
export const spedUp: Replacement = {
  base: async (chain, payer, blob) => toHex(await evmWallet(chain, payer).sign(blob, withHigherFees)),
  tempo: async (chain, payer, blob) => toHex(await tempoWallet(chain, payer).sign(blob, withHigherFees)),
};

/** A raw transaction that uses the nonce of the built payment without paying. */
export const usedUp: Replacement = {
  base: async (chain, payer, blob) =>
    toHex(
      await evmWallet(chain, payer).sign(blob, (transaction) =>
        withHigherFees({ ...transaction, to: payer.address as Hex, data: '0x' }),
      ),
    ),
  tempo: async (chain, payer, blob) =>
    toHex(
      await tempoWallet(chain, payer).sign(blob, (transaction) =>
        withHigherFees({ ...transaction, calls: [{ to: payer.address as Hex }] }),
      ),
    ),
};

/** Sends a raw transaction to the node as a wallet does; resolves with the hash. */
export const sendRaw = (chain: StackChain, raw: Hex): Promise<string> =>
  nodeRpc(chain.rpcUrl)('eth_sendRawTransaction', raw);

/** Pays several intents in one transaction, which the wallet builds and sends itself; resolves with its hash. */
export const payTogether: Readonly<
  Record<
    'solana' | 'tempo',
    (chain: StackChain, payer: StackWallet, token: string, payments: readonly OddPayment[]) => Promise<string>
  >
> = {
  solana: (chain, payer, token, payments) =>
    sendInstructions(
      chain,
      payer,
      payments.map((payment) => transferOf(payer, token, payment, TRANSFER_CHECKED)),
    ),
  async tempo(chain, payer, token, payments) {
    const client = createWalletClient({
      account: Account.fromSecp256k1(payer.privateKey as Hex),
      chain: tempoModerato,
      transport: http(chain.rpcUrl),
    });
    const calls = payments.map(({ to, units, references }) => ({
      to: token as Hex,
      data: encodeFunctionData({ abi: TRANSFER_WITH_MEMO, args: [to as Hex, units, references[0] as Hex] }),
    }));
    return client.sendTransaction({ calls, feeToken: token as Hex });
  },
};

/** Pays with the token program's `Transfer`, which does not name the mint, as some wallets do for Solana Pay. */
export const payPlainly = (
  chain: StackChain,
  payer: StackWallet,
  token: string,
  payment: OddPayment,
): Promise<string> => sendInstructions(chain, payer, [transferOf(payer, token, payment, TRANSFER)]);

function transferOf(
  payer: StackWallet,
  token: string,
  { to, units, references }: OddPayment,
  kind: typeof TRANSFER | typeof TRANSFER_CHECKED,
): TransactionInstruction {
  const [owner, mint, recipient] = [new PublicKey(payer.address), new PublicKey(token), new PublicKey(to)];
  const data = Buffer.alloc(kind === TRANSFER ? 9 : 10);
  data[0] = kind;
  data.writeBigUInt64LE(units, 1);
  if (kind === TRANSFER_CHECKED) data[9] = DECIMALS;
  const writable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: true });
  const readable = (pubkey: PublicKey) => ({ pubkey, isSigner: false, isWritable: false });
  return new TransactionInstruction({
    programId: TOKEN_PROGRAM,
    keys: [
      writable(associatedAccount(owner, mint, TOKEN_PROGRAM)),
      ...(kind === TRANSFER_CHECKED ? [readable(mint)] : []),
      writable(associatedAccount(recipient, mint, TOKEN_PROGRAM)),
      { pubkey: owner, isSigner: true, isWritable: false },
      ...references.map((reference) => readable(new PublicKey(reference))),
    ],
    data,
  });
}

async function sendInstructions(
  chain: StackChain,
  payer: StackWallet,
  instructions: TransactionInstruction[],
): Promise<string> {
  const keypair = Keypair.fromSecretKey(base58.decode(payer.privateKey));
  const { connection } = solanaWallet(chain, payer);
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: keypair.publicKey,
      recentBlockhash: blockhash,
      instructions,
    }).compileToV0Message(),
  );
  transaction.sign([keypair]);
  return connection.sendRawTransaction(transaction.serialize(), { maxRetries: 0 });
}
