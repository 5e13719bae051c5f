import { randomUUID } from 'node:crypto';
import { base58 } from '@scure/base';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferSolInstruction } from '@solana-program/system';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getMintToInstruction,
} from '@solana-program/token';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromBytes,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { nodeWallet } from './wallets.ts';
import { parseWire, type Wire } from './wire.ts';

const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address;

async function signed(node: KeyPairSigner, blockhash: string, instructions: readonly Instruction[]): Promise<Wire> {
  // Makes the transaction unique: two equal payouts in one slot would be the same transaction.
  const memo = getAddMemoInstruction({ memo: randomUUID() }, { programAddress: MEMO });
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(node, empty),
    (payed) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
        payed,
      ),
    (mortal) => appendTransactionMessageInstructions([...instructions, memo], mortal),
  );
  return parseWire(new Uint8Array(getTransactionEncoder().encode(await signTransactionMessageWithSigners(message))));
}

const nodeSigner = (): Promise<KeyPairSigner> => createKeyPairSignerFromBytes(base58.decode(nodeWallet.privateKey));

/** A signed transfer of lamports from the node to an address. */
export async function airdrop(blockhash: string, to: string, lamports: bigint): Promise<Wire> {
  const node = await nodeSigner();
  return signed(node, blockhash, [
    getTransferSolInstruction({ source: node, destination: to as Address, amount: lamports }),
  ]);
}

/**
 * A signed transaction that mints base units of a token to an owner's associated account, which it creates if it is
 * missing.
 */
export async function mint(
  blockhash: string,
  to: string,
  token: { readonly mint: string; readonly program: string },
  amount: bigint,
): Promise<Wire> {
  const node = await nodeSigner();
  const [owner, mintAddress, tokenProgram] = [to as Address, token.mint as Address, token.program as Address];
  const [account] = await findAssociatedTokenPda({ owner, mint: mintAddress, tokenProgram });
  return signed(node, blockhash, [
    await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer: node,
      owner,
      mint: mintAddress,
      tokenProgram,
      ata: account,
    }),
    getMintToInstruction(
      { mint: mintAddress, token: account, mintAuthority: node, amount },
      { programAddress: tokenProgram },
    ),
  ]);
}
