import { zstdCompressSync } from 'node:zlib';
import { base58 } from '@scure/base';
import { AccountState } from '@solana-program/token';
import type { Option } from '@solana/kit';
import { uiAmount } from './meta.ts';
import { invalidParams } from './rpc/error.ts';
import type { Account } from './runtime.ts';
import { readMint, readTokenAccount } from './token-account.ts';
import { TOKEN, TOKEN_2022 } from './tokens.ts';

export type Encoding = 'base58' | 'base64' | 'base64+zstd' | 'jsonParsed';
export interface Slice {
  readonly offset: number;
  readonly length: number;
}

/** Accounts pay no rent any more: all have this rent epoch. */
const RENT_EPOCH = 2n ** 64n - 1n;
const BASE58_MAX = 128;
const STATES = {
  [AccountState.Uninitialized]: 'uninitialized',
  [AccountState.Initialized]: 'initialized',
  [AccountState.Frozen]: 'frozen',
};
const some = <T>(option: Option<T>): T | null => (option.__option === 'Some' ? option.value : null);

/** A token account or mint as `jsonParsed`, without extensions; undefined: it is neither. */
function parsed(account: Account, accountOf: (address: string) => Account | null): unknown {
  if (account.owner !== TOKEN && account.owner !== TOKEN_2022) return undefined;
  const program = account.owner === TOKEN ? 'spl-token' : 'spl-token-2022';
  const space = account.data.length;
  const mint = readMint(account);
  if (mint !== null) {
    const info = {
      mintAuthority: some(mint.mintAuthority),
      supply: String(mint.supply),
      decimals: mint.decimals,
      isInitialized: mint.isInitialized,
      freezeAuthority: some(mint.freezeAuthority),
    };
    return { program, parsed: { type: 'mint', info }, space };
  }
  const held = readTokenAccount(account);
  const decimals = held && readMint(accountOf(held.mint))?.decimals;
  if (!held || typeof decimals !== 'number') return undefined;
  const [delegate, closeAuthority, reserve] = [some(held.delegate), some(held.closeAuthority), some(held.isNative)];
  const info = {
    mint: held.mint,
    owner: held.owner,
    tokenAmount: uiAmount(held.amount, decimals),
    state: STATES[held.state],
    isNative: reserve !== null,
    ...(reserve !== null && { rentExemptReserve: uiAmount(reserve, decimals) }),
    ...(delegate !== null && { delegate, delegatedAmount: uiAmount(held.delegatedAmount, decimals) }),
    ...(closeAuthority !== null && { closeAuthority }),
  };
  return { program, parsed: { type: 'account', info }, space };
}

function encodedData(account: Account, encoding: Encoding | undefined, slice: Slice | undefined): unknown {
  const { offset, length } = slice ?? { offset: 0, length: account.data.length };
  const data = Buffer.from(account.data.subarray(offset, offset + length));
  if (encoding === 'base64' || encoding === 'jsonParsed') return [data.toString('base64'), 'base64'];
  if (encoding === 'base64+zstd') return [zstdCompressSync(data).toString('base64'), encoding];
  if (data.length > BASE58_MAX)
    throw invalidParams('Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.');
  // Without an encoding, a node returns bare base58 (the legacy format).
  return encoding === undefined ? base58.encode(data) : [base58.encode(data), encoding];
}

/** An account in the format of getAccountInfo. */
export function accountJson(
  account: Account,
  accountOf: (address: string) => Account | null,
  { encoding, dataSlice }: { readonly encoding?: Encoding | undefined; readonly dataSlice?: Slice | undefined } = {},
): unknown {
  const { lamports, owner, executable, data } = account;
  const inWords = encoding === 'jsonParsed' ? parsed(account, accountOf) : undefined;
  return {
    lamports,
    owner,
    executable,
    rentEpoch: RENT_EPOCH,
    space: data.length,
    data: inWords ?? encodedData(account, encoding, dataSlice),
  };
}
