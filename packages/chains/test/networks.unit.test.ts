import { describe, expect, it } from '@jest/globals';
import { getAddress } from 'ethers';
import { parseWalletAddress } from '../src/evm/address.ts';
import { networkOf, networks, resolveChain, resolveToken, upstreamsOf } from '../src/index.ts';
import { CHAIN } from './base/payments.ts';

const base = networkOf(CHAIN);

describe('the registry of networks', () => {
  it('has every EVM address in its canonical form, each token once', () => {
    for (const { chain, tokens } of networks) {
      if (chain.startsWith('eip155:')) for (const { address } of tokens) expect(address).toBe(getAddress(address));
      expect(new Set(tokens.map(({ symbol }) => symbol.toUpperCase())).size).toBe(tokens.length);
    }
  });

  it('has no token address twice in one mode: lists find the intents of a chain by its tokens', () => {
    for (const livemode of [true, false]) {
      const addresses = networks
        .filter((network) => network.livemode === livemode)
        .flatMap(({ tokens }) => tokens.map(({ address }) => address));
      expect(new Set(addresses).size).toBe(addresses.length);
    }
  });

  it.each([
    ['eip155:8453', true, 'eip155:8453'],
    ['eip155:8453', false, 'eip155:84532'],
    ['eip155:84532', false, 'eip155:84532'],
    ['eip155:84532', true, undefined],
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', false, 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
    ['eip155:4217', false, 'eip155:42431'],
    ['eip155:1', true, undefined],
    ['constructor', true, undefined],
  ])('resolves %s with livemode %s to %s', (text, livemode, chain) => {
    expect(resolveChain(text, livemode)?.chain).toBe(chain);
  });

  it.each([
    ['usdc', 'USDC'],
    ['0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'],
    ['0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'USDC'],
    // The live network's address, mapped by its symbol.
    ['0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', 'EURC'],
    // The live network has it, the testnet does not.
    ['0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', undefined],
    ['0x036CBD53842c5426634e7929541eC2318f3dCF7e', undefined],
    ['PYUSD', undefined],
    ['', undefined],
  ])('finds on Base Sepolia the token %s: %s', (text, symbol) => {
    expect(resolveToken(base, text)?.symbol).toBe(symbol);
  });

  it('maps no testnet address in live mode', () => {
    const live = resolveChain('eip155:8453', true);
    expect(live && resolveToken(live, '0x036CbD53842c5426634e7929541eC2318f3dCF7e')).toBeNull();
  });

  it('reads the upstreams of the networks that are served', () => {
    expect([...upstreamsOf({ RPC_BASE_SEPOLIA: ['http://a', 'http://b'], RPC_BASE: undefined })]).toEqual([
      ['eip155:84532', ['http://a', 'http://b']],
    ]);
  });
});

describe('addresses on Base', () => {
  const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  it.each([checksummed, checksummed.toLowerCase(), `0x${checksummed.slice(2).toUpperCase()}`])(
    'takes %s in its canonical form',
    (text) => {
      expect(parseWalletAddress(base, text)).toEqual({ ok: true, value: checksummed });
    },
  );

  it.each([
    ['0x70997970c51812dc3A010C7d01b50e0d17dc79C8', 'checksum'],
    [`0x${'00'.repeat(20)}`, 'zero'],
    [`0x${'00'.repeat(19)}01`, 'precompile'],
    [`0x${'00'.repeat(18)}0100`, 'precompile'],
    ['0x4200000000000000000000000000000000000006', "chain's own"],
    ['0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'token USDC'],
    ['70997970C51812dc3A010C7d01b50e0d17dc79C8', '40 hexadecimal'],
    ['0x70997970C51812dc3A010C7d01b50e0d17dc79C', '40 hexadecimal'],
    ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', '40 hexadecimal'],
    [`0x${'ü'.repeat(40)}`, '40 hexadecimal'],
  ])('refuses %s: %s', (text, problem) => {
    expect(parseWalletAddress(base, text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});
