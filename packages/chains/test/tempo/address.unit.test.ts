import { describe, expect, it } from '@jest/globals';
import { networkNamed } from '../../src/index.ts';
import { parseTempoAddress } from '../../src/tempo/address.ts';

const network = networkNamed('tempo');

describe('parseTempoAddress', () => {
  it.each([
    [`0x5ad0${'00'.repeat(10)}0000000000000007`, "is the chain's own contract: zone portal"],
    [`0x5ad0${'00'.repeat(10)}ffffffffffffffff`, "is the chain's own contract: zone portal"],
    ['0x7069DeC4E64Fd07334A0933eDe836C17259c9B23', "is the chain's own contract: zone portal"],
    ['0x5AD1000000000000000000000000000000000000', "is the chain's own contract: zone portals' code"],
    ['0x5A4d000000000000000000000000000000000000', "is the chain's own contract: zone messenger"],
    ['0x5a56000000000000000000000000000000000000', "is the chain's own contract: zone verifier"],
    ['0xfeec000000000000000000000000000000000000', "is the chain's own contract: fee manager"],
    // A precompile of a later version.
    ['0x1234567800000000000000000000000000000003', 'is an address that chains have for their own contracts'],
    ['0x20c0000000000000000000006a37da5c996874be', 'is the address of the token OUSD'],
    ['0x20c000000000000000000000000000000000dead', 'is the address of a TIP-20 token'],
  ])('refuses the address %s: %s', (text, problem) => {
    expect(parseTempoAddress(network, text)).toEqual({ ok: false, problem });
  });

  it.each(['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', `0x12345678${'fd'.repeat(10)}010203040506`])(
    'accepts %s, a wallet or a virtual address',
    (text) => {
      expect(parseTempoAddress(network, text)).toMatchObject({ ok: true });
    },
  );
});
