import { describe, expect, it } from '@jest/globals';
import { parseWalletAddress } from '../../src/evm/address.ts';
import { networkOf } from '../../src/index.ts';
import { CHAIN } from '../base/payments.ts';

const base = networkOf(CHAIN);

describe('Base wallet addresses', () => {
  const checksummed = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
  it.each([checksummed, checksummed.toLowerCase(), `0x${checksummed.slice(2).toUpperCase()}`])(
    'accepts %s in its canonical form',
    (text) => {
      expect(parseWalletAddress(base, text)).toEqual({ ok: true, value: checksummed });
    },
  );

  it('accepts an address with many zeros that a key may have', () => {
    for (const text of ['0x00000000219ab540356cbb839cbe05303d7705fa', '0xaabbccddeeff0011000000000000000000000100'])
      expect(parseWalletAddress(base, text)).toMatchObject({ ok: true });
  });

  it.each([
    ['0x70997970c51812dc3A010C7d01b50e0d17dc79C8', 'checksum'],
    [`0x${'00'.repeat(20)}`, 'zero'],
    [`0x${'00'.repeat(19)}01`, 'precompile'],
    [`0x${'00'.repeat(18)}0100`, 'precompile'],
    ['0x4200000000000000000000000000000000000006', "chain's own"],
    ['0x8453000000000000000000000000000000000002', 'their own contracts'],
    ['0xaabbccddeeff0011000000000000000000000000', 'their own contracts'],
    ['0x036cbd53842c5426634e7929541ec2318f3dcf7e', 'token USDC'],
    ['70997970C51812dc3A010C7d01b50e0d17dc79C8', '40 hexadecimal'],
    ['0x70997970C51812dc3A010C7d01b50e0d17dc79C', '40 hexadecimal'],
    ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', '40 hexadecimal'],
    [`0x${'ü'.repeat(40)}`, '40 hexadecimal'],
  ])('refuses the address %s: %s', (text, problem) => {
    expect(parseWalletAddress(base, text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });
});
