import type { TokenAddress } from '@pf/domain';
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { type Address, address } from '@solana/kit';
import { networks } from '../networks.ts';

export { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS };
export const TOKEN_2022_PROGRAM_ADDRESS = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
export const SYSTEM_PROGRAM_ADDRESS = address('11111111111111111111111111111111');
/** The memo program that every runtime has; the client library's default is a newer one. */
export const MEMO_PROGRAM_ADDRESS = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** Wallets protect what they sign with assertions of this program, which only read accounts and may fail. */
export const LIGHTHOUSE_PROGRAM_ADDRESS = address('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

/** Programs that token accounts belong to. */
export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([TOKEN_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS]);

/** Addresses without a key, beside those that the chain reserves by their ending. */
export const PROGRAMS: ReadonlySet<string> = new Set([
  TOKEN_PROGRAM_ADDRESS,
  TOKEN_2022_PROGRAM_ADDRESS,
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  MEMO_PROGRAM_ADDRESS,
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Memo4c2pN8afCj432Lb7RMVKi9PbQnnW7ewFFaV3oAH',
  LIGHTHOUSE_PROGRAM_ADDRESS,
]);

const token2022: ReadonlySet<string> = new Set(
  networks.flatMap(({ tokens }) =>
    tokens.filter(({ program }) => program === 'token-2022').map(({ address }) => address),
  ),
);

/** The program of a registered token, which is part of the derivation of its associated accounts. */
export const tokenProgramOf = (mint: TokenAddress | Address): Address =>
  token2022.has(mint) ? TOKEN_2022_PROGRAM_ADDRESS : TOKEN_PROGRAM_ADDRESS;
