import { isCalled, type Network, type Token } from './networks.ts';

/** What a chain tells of a token. Null where this token does not tell it. */
export interface TokenFacts {
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** What it stands for: `USD`. */
  readonly currency: string | null;
  readonly isPaused: boolean | null;
  /** Its program, of a Solana mint. */
  readonly program: NonNullable<Token['program']> | 'token' | null;
  /** How its issuer keeps accounts from being paid: `isBlacklisted`, a policy, a freeze authority. */
  readonly blocklist: string | null;
  /** Why no account, or no new one, can be paid in it by what this service builds, though it is not paused. */
  readonly obstacle: string | null;
}

/** A fact that the service relies on, and the chain contradicts. */
export interface Difference {
  readonly fact: 'existence' | 'symbol' | 'decimals' | 'currency' | 'program' | 'pause' | 'transfers';
  readonly expected: string;
  readonly found: string;
  readonly remedy: string;
}

const WRONG_TOKEN =
  'Do not serve this network with this version: amounts and token accounts would be wrong. Check that the upstream ' +
  'is one of this network, then look for a version whose registry has the fact as the chain has it.';
const RENAMED =
  'Money is not at risk, as intents name the token by its address. Look for a version that has the new symbol; the ' +
  'old one stays an alias in it.';
const ABSENT =
  'No payment in it can be built there. Check that the upstream is one of this network, and offer other tokens.';
const PAUSED = 'No payment in it can land. Offer other tokens until its issuer lets it be transferred again.';
const OBSTACLE = 'Offer other tokens: payments in it would fail, or leave the recipient with money that cannot move.';

/**
 * Where a chain contradicts the registry on a token. On testnets any of the token's names will do, as their tokens, and
 * those of local chains, are stand-ins; and one that is not there is none.
 * @param facts null where the chain has no such token
 */
export function differencesOf(network: Network, token: Token, facts: TokenFacts | null): readonly Difference[] {
  if (facts === null)
    return network.livemode ? [{ fact: 'existence', expected: 'a token', found: 'none', remedy: ABSENT }] : [];
  const { symbol, decimals, currency, program, isPaused, obstacle } = facts;
  const isItsName = symbol === null || (network.livemode ? symbol === token.symbol : isCalled(token, symbol));
  // Tempo's tokens all tell it; elsewhere it is up to the contract.
  const isItsCurrency = currency === null ? network.family !== 'tempo' : currency === token.currency;
  const expectedProgram = token.program ?? 'token';
  const judged: readonly (Difference & { readonly holds: boolean })[] = [
    {
      fact: 'decimals',
      holds: decimals === token.decimals,
      expected: `${token.decimals}`,
      found: `${decimals ?? 'none'}`,
      remedy: WRONG_TOKEN,
    },
    {
      fact: 'currency',
      holds: isItsCurrency,
      expected: token.currency,
      found: currency ?? 'none',
      remedy: WRONG_TOKEN,
    },
    {
      fact: 'program',
      holds: program === null || program === expectedProgram,
      expected: expectedProgram,
      found: program ?? 'none',
      remedy: WRONG_TOKEN,
    },
    { fact: 'symbol', holds: isItsName, expected: token.symbol, found: symbol ?? 'none', remedy: RENAMED },
    { fact: 'pause', holds: isPaused !== true, expected: 'not paused', found: 'paused', remedy: PAUSED },
    {
      fact: 'transfers',
      holds: obstacle === null,
      expected: 'open to every account',
      found: obstacle ?? '',
      remedy: OBSTACLE,
    },
  ];
  return judged.flatMap(({ holds, ...difference }) => (holds ? [] : [difference]));
}
