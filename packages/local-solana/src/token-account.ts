import { AccountState, getMintDecoder, getTokenDecoder, type Mint, type Token } from '@solana-program/token';
import type { Account } from './runtime.ts';

const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
/** In an account with extensions (Token-2022), the byte after the first 165 is the account type. */
const KIND = { mint: 1, account: 2 };
/** The offset of a token account's state. */
export const STATE_OFFSET = 108;
export const FROZEN = 2;

const isKind = (data: Uint8Array, plain: number, kind: number): boolean =>
  data.length === plain || (data.length > ACCOUNT_BYTES && data[ACCOUNT_BYTES] === kind);

/**
 * A token account of either token program, without extensions; null: it is none. The account's owner is not
 * checked.
 */
export function readTokenAccount({ data }: Account): Token | null {
  if (!isKind(data, ACCOUNT_BYTES, KIND.account)) return null;
  const account = getTokenDecoder().decode(data);
  return account.state === AccountState.Uninitialized ? null : account;
}

/** A mint of either token program, without extensions; null: it is none. */
export function readMint(account: Account | null): Mint | null {
  if (account === null || !isKind(account.data, MINT_BYTES, KIND.mint)) return null;
  const mint = getMintDecoder().decode(account.data);
  return mint.isInitialized ? mint : null;
}
