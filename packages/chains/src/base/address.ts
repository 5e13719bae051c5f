import type { Address } from '@pf/domain';
import { parseWalletAddress } from '../evm/address.ts';
import type { Network, Parsed } from '../port.ts';
import { isEntryPoint } from './user-operations/entry-points.ts';

/**
 * B20 tokens, also those not yet created: a prefix of ten bytes, the variant, and nine of a hash.
 * https://docs.base.org/specifications/b20
 */
const B20 = /^0xb20{18}/i;

/** A wallet's address on Base: one that can pay or be paid. */
export function parseBaseAddress(network: Network, text: string): Parsed<Address> {
  const parsed = parseWalletAddress(network, text);
  if (!parsed.ok) return parsed;
  if (B20.test(parsed.value)) return { ok: false, problem: 'is the address of a B20 token' };
  return isEntryPoint(parsed.value) ? { ok: false, problem: 'is an EntryPoint of ERC-4337, not a wallet' } : parsed;
}
