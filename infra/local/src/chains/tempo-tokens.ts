import type { Token } from './tokens.ts';

/**
 * Creates the tokens of a local Tempo chain at the testnet's addresses and funds the wallets. Safe to repeat: called
 * after every start.
 */
export { placeTempoTokens } from '@pf/testing/tempo-tokens';

/** The testnet's tokens; USDC is the bridged one, which the API calls USDC.e. */
export const TEMPO_TOKENS = [
  { symbol: 'pathUSD', address: '0x20C0000000000000000000000000000000000000' },
  { symbol: 'AlphaUSD', address: '0x20C0000000000000000000000000000000000001' },
  { symbol: 'BetaUSD', address: '0x20C0000000000000000000000000000000000002' },
  { symbol: 'ThetaUSD', address: '0x20C0000000000000000000000000000000000003' },
  { symbol: 'USDC', address: '0x20C0000000000000000000009e8d7eB59B783726' },
] as const satisfies readonly Pick<Token, 'symbol' | 'address'>[];
