import { encodeURL, fetchTransaction, parseURL } from '@solana/pay';
import { VersionedMessage, VersionedTransaction } from '@solana/web3.js';
import type { SolanaWallet } from './solana-wallet.ts';

type Rpc = Parameters<typeof fetchTransaction>[0];
type Account = Parameters<typeof fetchTransaction>[1];

/**
 * The link in the code of a transaction request, read and written by the official library. @throws Error if it writes
 * another code for this link, or reads no transaction request
 */
export function linkInCode(code: string): URL {
  const request = parseURL(code);
  if (!('link' in request)) throw new Error(`${code} is no transaction request`);
  const again = encodeURL({ link: request.link }).href;
  if (again !== code) throw new Error(`the official library writes ${again} for ${code}`);
  return request.link;
}

/**
 * Asks a transaction request's link for the transaction, with the official library, and signs it as wallets do: with a
 * new blockhash. @returns the signed bytes in base64 @throws FetchTransactionError
 */
export async function signSolanaPay(wallet: SolanaWallet, link: string): Promise<string> {
  const getLatestBlockhash = () => ({
    send: async () => {
      const { blockhash, lastValidBlockHeight } = await wallet.connection.getLatestBlockhash();
      return { value: { blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight) } };
    },
  });
  // Of its client, the library calls this method alone; the account is a text with a brand.
  const { messageBytes } = await fetchTransaction(
    { getLatestBlockhash } as unknown as Rpc,
    wallet.address as Account,
    link,
  );
  const unsigned = new VersionedTransaction(VersionedMessage.deserialize(Uint8Array.from(messageBytes)));
  return wallet.sign(Buffer.from(unsigned.serialize()).toString('base64'));
}
