import { describe, expect, it } from '@jest/globals';
import { metadataIn, offerable, tokensOf } from '../../src/format/links.ts';

const WALLET = '0x1111111111111111111111111111111111111111';

describe('the form of a payment link', () => {
  it('offers each token of the networks of the mode on which the account has a wallet', () => {
    const offers = offerable('test', { base: WALLET, solana: null, tempo: null });
    expect(offers.map(({ chain, token }) => [chain, token])).toEqual([
      ['eip155:84532', 'USDC'],
      ['eip155:84532', 'EURC'],
    ]);
    expect(offers.every(({ requestor }) => requestor === WALLET)).toBe(true);
    expect(offerable('live', { base: WALLET, solana: null, tempo: null })[0]?.chain).toBe('eip155:8453');
    expect(offerable('live', { base: null, solana: null, tempo: null })).toEqual([]);
  });

  it("ticks Circle's dollar on every network, by whatever name", () => {
    const offers = offerable('live', { base: WALLET, solana: WALLET, tempo: WALLET });
    expect(offers.filter(({ isUsual }) => isUsual).map(({ token }) => token)).toEqual(['USDC', 'USDC', 'USDC.e']);
  });

  it('reads metadata line by line, with any characters in the values', () => {
    expect(metadataIn(' order = A=1 \n\nnote=')).toEqual({ order: 'A=1', note: '' });
    expect(metadataIn(' \n ')).toBeUndefined();
  });

  it('names the line that is not metadata', () => {
    for (const line of ['order A-1', '=A-1'])
      expect(() => metadataIn(`a=b\n${line}`)).toThrow(`Metadata is written as key=value: “${line}” is not.`);
  });
});

describe('the tokens of a payment link', () => {
  it('are named once each', () => {
    const offers = ['USDC', 'EURC', 'USDC'].map((token) => ({ token })) as never;
    expect(tokensOf({ offers })).toBe('EURC or USDC');
  });
});
