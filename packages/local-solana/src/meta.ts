import { TOKEN, TOKEN_2022 } from './tokens.ts';
import { readMint, readTokenAccount } from './token-account.ts';
import type { Account, Execution } from './runtime.ts';
import type { TransactionErrorJson } from './transaction-error.ts';

/** A token amount as JSON-RPC encodes it. */
export interface UiAmount {
  readonly amount: string;
  readonly decimals: number;
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly uiTokenAmount: UiAmount;
}
/** The `meta` of getTransaction for a transaction in a block. */
export interface TransactionMeta {
  readonly err: TransactionErrorJson | null;
  readonly status: { readonly Ok: null } | { readonly Err: TransactionErrorJson };
  /** Lamports. */
  readonly fee: bigint;
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  readonly innerInstructions: Execution['inner'];
  readonly logMessages: readonly string[];
  readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  readonly returnData?: NonNullable<Execution['returnData']>;
  readonly computeUnitsConsumed: bigint;
  readonly rewards: readonly never[];
}

export function uiAmount(amount: bigint, decimals: number): UiAmount {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const text =
    decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
  return { amount: String(amount), decimals, uiAmount: Number(text), uiAmountString: text };
}

/** The token balances of these accounts, by index. `accountOf` finds the mints. */
export function tokenBalances(
  accounts: readonly (Account | null)[],
  accountOf: (address: string) => Account | null,
): TokenBalance[] {
  return accounts.flatMap((account, accountIndex) => {
    if (account?.owner !== TOKEN && account?.owner !== TOKEN_2022) return [];
    const held = readTokenAccount(account);
    const mint = held && readMint(accountOf(held.mint));
    if (!held || !mint) return [];
    return [
      {
        accountIndex,
        mint: held.mint,
        owner: held.owner,
        programId: account.owner,
        uiTokenAmount: uiAmount(held.amount, mint.decimals),
      },
    ];
  });
}
