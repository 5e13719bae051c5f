import { describe, expect, it } from '@jest/globals';
import { parseBaseAddress } from '../../src/base/address.ts';
import { networkOf } from '../../src/index.ts';
import { CHAIN } from './payments.ts';

const network = networkOf(CHAIN);

describe('parseBaseAddress', () => {
  it.each([
    // Open USD is listed on the live network only: a merchant's copied address is a B20 token's on both.
    ['0xb2000000000000000000002feb517dfec7415344', 'is the address of a B20 token'],
    [`0xb2${'00'.repeat(9)}01${'ab'.repeat(9)}`, 'is the address of a B20 token'],
    ['0xb20f000000000000000000000000000000000000', 'is an address that chains have for their own contracts'],
    ['0x8453000000000000000000000000000000000001', 'is an address that chains have for their own contracts'],
    ['0x0000000071727de22e5e9d8baf0edac6f37da032', 'is an EntryPoint of ERC-4337, not a wallet'],
    ['0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789', 'is an EntryPoint of ERC-4337, not a wallet'],
  ])('refuses the address %s: %s', (text, problem) => {
    expect(parseBaseAddress(network, text)).toEqual({ ok: false, problem });
  });

  it.each(['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', `0xb2${'00'.repeat(8)}${'01'.repeat(11)}`])(
    'accepts %s',
    (text) => {
      expect(parseBaseAddress(network, text)).toMatchObject({ ok: true });
    },
  );
});
