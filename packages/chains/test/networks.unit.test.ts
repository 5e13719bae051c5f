import { describe, expect, it } from '@jest/globals';
import { parseAmount } from '@pf/domain';
import { address as solanaAddress } from '@solana/kit';
import { getAddress } from 'ethers/address';
import {
  createChains,
  networkNamed,
  networkOf,
  networks,
  resolveChain,
  resolveToken,
  upstreamVariables,
} from '../src/index.ts';
import { counterpartOf, explorerPage, findNetwork } from '../src/networks.ts';
import { TOKEN_2022_PROGRAM_ADDRESS, tokenProgramOf } from '../src/solana/programs.ts';
import { CHAIN } from './base/payments.ts';
import { log } from './base/chain.ts';

const base = networkOf(CHAIN);

describe('network registry', () => {
  it.each(networks)('writes the token addresses of $name in canonical form', ({ chain, tokens }) => {
    for (const { address } of tokens)
      expect(address).toBe(chain.startsWith('eip155:') ? getAddress(address) : solanaAddress(address));
  });

  it.each(networks)('gives each symbol and alias of $name to one token', ({ tokens }) => {
    const names = tokens.flatMap(({ symbol, aliases }) => [symbol, ...aliases]).map((name) => name.toUpperCase());
    expect(new Set(names).size).toBe(names.length);
  });

  it('can express a million of each token in base units', () => {
    for (const { decimals } of networks.flatMap(({ tokens }) => tokens))
      expect(parseAmount('1000000', decimals)).toBe(10n ** BigInt(decimals + 6));
  });

  it('gives every network a chain id, a name, a label and an upstream variable of its own', () => {
    for (const field of ['chain', 'name', 'label', 'upstreamVariable'] as const)
      expect(new Set(networks.map((network) => network[field])).size).toBe(networks.length);
  });

  it.each(networks)('has a page of a block explorer for each transaction of $name', ({ chain }) => {
    expect(new URL(explorerPage(chain, 'a/b') ?? '')).toMatchObject({ protocol: 'https:', pathname: '/tx/a%2Fb' });
    expect(explorerPage('eip155:1', '0x12')).toBeNull();
  });

  it('pairs every live network with one testnet of its family', () => {
    for (const network of networks) {
      const others = networks.filter(
        ({ family, livemode }) => family === network.family && livemode !== network.livemode,
      );
      expect(others).toEqual([counterpartOf(network)]);
      expect(others.map(({ format }) => format)).toEqual([network.format]);
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

  it('requires a plan feature on live networks only', () => {
    expect(networks.flatMap(({ name, feature }) => (feature === null ? [] : [[name, feature]]))).toEqual([
      ['tempo', 'live_tempo'],
    ]);
  });

  it('finds networks by chain id and by name', () => {
    for (const network of networks) {
      expect(findNetwork(network.chain)).toBe(network);
      expect(networkNamed(network.name as 'base')).toBe(network);
    }
    expect(findNetwork('eip155:1')).toBeUndefined();
  });

  it('names the variables of the upstreams', () => {
    expect(Object.keys(upstreamVariables).sort()).toEqual([
      'RPC_BASE',
      'RPC_BASE_SEPOLIA',
      'RPC_CONFIG',
      'RPC_SOLANA',
      'RPC_SOLANA_DEVNET',
      'RPC_TEMPO',
      'RPC_TEMPO_MODERATO',
    ]);
  });

  it('has an adapter and an observer for every network', async () => {
    const upstreams = new Map(networks.map(({ chain }) => [chain, ['http://127.0.0.1:1']]));
    const chains = createChains({ upstreams, log });
    for (const { chain, name } of networks) {
      expect(chains.adapters.get(chain)?.network.name).toBe(name);
      expect(chains.observers.get(chain)?.network.name).toBe(name);
    }
    await chains.close();
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

  it.each([
    ['solana', 'OUSD', 'ousd2mJsPEckLHcSCDxyKD7NDGARZcfLbDZkKiatYHB'],
    ['base', 'OUSD', '0xB2000000000000000000002fEb517dFeC7415344'],
    ['tempo', 'ousd', '0x20c0000000000000000000006a37DA5C996874BE'],
    ['tempo-moderato', 'OUSD', '0x20c0000000000000000000006a37DA5C996874BE'],
    ['solana', 'EURC', 'HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr'],
    ['solana', 'USDG', '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH'],
  ] as const)('accepts on %s the token %s (F3)', (name, text, tokenAddress) => {
    expect(resolveToken(networkNamed(name), text)?.address).toBe(tokenAddress);
  });

  // The addresses that these names have meant since they were first listed: stored intents and requests rely on them.
  it.each([
    ['tempo', 'USDC', 'USDC.e', '0x20C000000000000000000000b9537d11c60E8b50'],
    ['tempo', 'usdt', 'USDT0', '0x20C00000000000000000000014f22CA97301EB73'],
    ['tempo', 'EURC', 'EURC.e', '0x20c0000000000000000000001621e21F71CF12fb'],
    ['tempo-moderato', 'USDC', 'USDC.e', '0x20C0000000000000000000009e8d7eB59B783726'],
  ] as const)('takes on %s the earlier name %s for %s (F15)', (name, earlier, symbol, tokenAddress) => {
    const network = networkNamed(name);
    expect(resolveToken(network, earlier)).toMatchObject({ symbol, address: tokenAddress });
    expect(resolveToken(network, symbol)).toBe(resolveToken(network, tokenAddress));
  });

  it('derives the accounts of each mint of Token-2022 by that program', () => {
    const ofToken2022 = ['solana', 'solana-devnet'].map((name) =>
      networkNamed(name as 'solana').tokens.flatMap(({ symbol, address }) =>
        tokenProgramOf(address) === TOKEN_2022_PROGRAM_ADDRESS ? [symbol] : [],
      ),
    );
    expect(ofToken2022).toEqual([
      ['PYUSD', 'OUSD', 'USDG'],
      ['PYUSD', 'USDG'],
    ]);
  });

  it('maps no testnet address in live mode', () => {
    const live = resolveChain('eip155:8453', true);
    expect(live && resolveToken(live, '0x036CbD53842c5426634e7929541eC2318f3dCF7e')).toBeNull();
  });
});
