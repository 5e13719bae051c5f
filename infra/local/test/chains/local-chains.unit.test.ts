import { networks, resolveToken } from '@pf/chains';
import { describe, expect, it } from '@jest/globals';
import { CHAIN_NAMES, CHAINS } from '../../src/chains/chains.ts';
import { TOKENS_OF } from '../../src/chains/local-chains.ts';

describe('TOKENS_OF', () => {
  it.each(CHAIN_NAMES)('lists the tokens of %s at the addresses that the service knows by these names', (name) => {
    const network = networks.find(({ chain }) => chain === CHAINS[name].caip2);
    const names = Object.keys(TOKENS_OF[name]);
    expect(names).toContain('USDC');
    expect(TOKENS_OF[name]).toEqual(
      Object.fromEntries(names.map((each) => [each, network && resolveToken(network, each)?.address])),
    );
  });
});
