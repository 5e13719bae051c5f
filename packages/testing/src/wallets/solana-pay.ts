import { z } from 'zod';
import type { SolanaWallet } from './solana-wallet.ts';

const SCHEME = 'solana:';
const answer = z.object({ transaction: z.base64() });

/** The link in the code of a transaction request. @throws Error if wallets would refuse it: only https is allowed */
export function linkInCode(code: string): URL {
  const link = new URL(code.slice(SCHEME.length));
  if (!code.startsWith(SCHEME) || link.protocol !== 'https:' || link.search !== '')
    throw new Error(`${code} is no transaction request that needs no escapes`);
  return link;
}

/**
 * Asks a transaction request's link for the transaction, and signs it as wallets do: with a new blockhash.
 * @returns the signed bytes in base64
 */
export async function signSolanaPay(wallet: SolanaWallet, link: string): Promise<string> {
  const response = await fetch(link, {
    method: 'POST',
    headers: { 'Cache-Control': 'no-cache', Accept: 'application/json', 'Content-Type': 'application/json' },
    body: JSON.stringify({ account: wallet.address }),
  });
  if (!response.ok) throw new Error(`request failed: ${response.status}`);
  const { transaction } = answer.parse(await response.json());
  const { blockhash } = await wallet.connection.getLatestBlockhash();
  return wallet.sign(transaction, (unsigned) => {
    unsigned.message.recentBlockhash = blockhash;
    return unsigned;
  });
}
