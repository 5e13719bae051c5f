import { AccountState, getTokenDecoder } from '@solana-program/token';
import type { Address } from '@solana/kit';
import type { AccountInfo } from './calls.ts';
import { TOKEN_PROGRAMS } from './programs.ts';

/** What matters of a token account; Token-2022 writes its extensions behind the same fields. */
export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  /** Base units. */
  readonly amount: bigint;
  readonly frozen: boolean;
}

const TOKEN_ACCOUNT_BYTES = 165;
const MULTISIG_BYTES = 355;

/** Null where the account does not exist or is no token account. */
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

/** Belongs to a token program, and is not a multisig of it, which can own tokens: a mint, or an account that holds tokens. */
export const isMintOrTokenAccount = ({ owner, data }: AccountInfo): boolean =>
  TOKEN_PROGRAMS.has(owner) && data.length !== MULTISIG_BYTES;
