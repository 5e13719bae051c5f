import { networks } from '@pf/chains';
import { describe, expect, it } from '@jest/globals';
import { CHAIN_NAMES, CHAINS } from '../../src/chains/chains.ts';
import { TOKENS_OF } from '../../src/chains/local-chains.ts';

describe('TOKENS_OF', () => {
  it.each(CHAIN_NAMES)('lists every token that the service supports on %s, at its address', (name) => {
    const known = networks
      .find(({ chain }) => chain === CHAINS[name].caip2)
      ?.tokens.map(({ symbol, address }) => [symbol, address]);
    expect(TOKENS_OF[name]).toEqual(Object.fromEntries(known ?? []));
  });
});
