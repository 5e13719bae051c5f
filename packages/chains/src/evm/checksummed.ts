import type { Address } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { getAddress } from 'ethers/address';

const known = boundedCache<string, string>(10_000, { memoMethod: (lowerCase) => getAddress(lowerCase) });

/**
 * An address of 40 hexadecimal digits with the checksum of EIP-55, whatever its case was. That costs a keccak256 (20
 * µs), and the same merchants and tokens are paid again and again.
 */
export const checksummed = (address: string): Address => known.memo(address.toLowerCase()) as Address;
