import { AccountState, getTokenDecoder } from '@solana-program/token';
import type { Address } from '@solana/kit';
import type { AccountInfo } from './calls.ts';
import { TOKEN_PROGRAMS } from './programs.ts';

/** A token account. Token-2022 has the same fields, and its extensions after them. */
export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly frozen: boolean;
}

const TOKEN_ACCOUNT_BYTES = 165;
const MULTISIG_BYTES = 355;

/** Null where the account does not exist or is not a token account. */
export function tokenAccountIn(account: AccountInfo | null): TokenAccount | null {
  if (
    account === null ||
    !TOKEN_PROGRAMS.has(account.owner) ||
    account.data.length < TOKEN_ACCOUNT_BYTES ||
    account.data.length === MULTISIG_BYTES
  )
    return null;
  const { mint, owner, amount, state } = getTokenDecoder().decode(account.data.subarray(0, TOKEN_ACCOUNT_BYTES));
  return { mint, owner, amount, frozen: state === AccountState.Frozen };
}

/**
 * True for a mint or an account that holds tokens: an account of a token program, but not its multisig, which can own
 * tokens.
 */
export const isMintOrTokenAccount = ({ owner, data }: AccountInfo): boolean =>
  TOKEN_PROGRAMS.has(owner) && data.length !== MULTISIG_BYTES;
