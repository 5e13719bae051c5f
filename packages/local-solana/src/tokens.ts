/** The token programs. */
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** The mints of a new chain by symbol, at their devnet addresses, with 6 decimals each. */
export const tokens: Readonly<Record<'USDC' | 'PYUSD', string>> = {
  USDC: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  PYUSD: 'CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM',
};

/** The token program of each mint, which the address of an associated token account depends on. */
export const programOf: Readonly<Record<keyof typeof tokens, string>> = { USDC: TOKEN, PYUSD: TOKEN_2022 };
export const DECIMALS = 6;
