import { describe, expect, it } from '@jest/globals';
import type { ChainFamily } from '../src/networks.ts';
import { parseWallet } from '../src/wallets.ts';

const EVM = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const SOLANA = '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin';

describe('parseWallet', () => {
  it.each<[ChainFamily, string, string]>([
    ['base', EVM.toLowerCase(), EVM],
    ['tempo', EVM, EVM],
    ['solana', SOLANA, SOLANA],
  ])('returns the canonical form of an address on %s', (family, text, canonical) => {
    expect(parseWallet(family, text)).toEqual({ ok: true, value: canonical });
  });

  it.each<[ChainFamily, string]>([
    ['base', SOLANA],
    ['solana', EVM],
    ['base', EVM.replace('dc79C8', 'dc79c8')],
    ['base', `0x${'0'.repeat(40)}`],
    // USDC of Base, and of its test network.
    ['base', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    ['base', '0x036CbD53842c5426634e7929541eC2318f3dCF7e'],
    // USDC of Solana's test network.
    ['solana', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'],
    ['solana', '11111111111111111111111111111111'],
    ['tempo', '0x20C0000000000000000000000000000000000001'],
    ['tempo', ' '],
  ])('refuses on %s what cannot be paid on one of its networks: %s', (family, text) => {
    expect(parseWallet(family, text)).toEqual({ ok: false, problem: expect.any(String) });
  });
});
