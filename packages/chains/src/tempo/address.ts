import type { Address } from '@pf/domain';
import { parseWalletAddress } from '../evm/address.ts';
import type { Network, Parsed } from '../port.ts';

/** TIP-20 tokens, also those not yet created. */
const TIP20 = /^0x20c0{21}/i;
export const isToken = (address: string): boolean => TIP20.test(address);
/** TIP-1022: deposit addresses of a master account. They forward what they are paid, and cannot sign. */
const VIRTUAL = /^0x[0-9a-f]{8}(?:fd){10}[0-9a-f]{12}$/i;

/** Portals of zones, opened or not, by number: without a deposit's data what is sent there is lost. */
const ZONE_PORTAL = /^0x5ad00{20}[0-9a-f]{16}$/i;

/** System contracts: payments to them are lost, and none can pay. Others are found by the form of their addresses.
 * https://docs.tempo.xyz/quickstart/predeployed-contracts */
const SYSTEM = new Map<string, string>([
  ['0x20fc000000000000000000000000000000000000', 'TIP-20 factory'],
  ['0xfeec000000000000000000000000000000000000', 'fee manager'],
  ['0xdec0000000000000000000000000000000000000', 'stablecoin exchange'],
  ['0x403c000000000000000000000000000000000000', 'TIP-403 registry'],
  ['0xb10c000000000000000000000000000000000000', 'guard of receive policies'],
  ['0x4e4f4e4345000000000000000000000000000000', 'nonce manager'],
  ['0x5165300000000000000000000000000000000000', 'signature verifier'],
  ['0xaaaaaaaa00000000000000000000000000000000', 'account keychain'],
  ['0xaacc000000000000000000000000000000000000', 'multisig registry'],
  ['0xfdc0000000000000000000000000000000000000', 'address registry'],
  ['0x4d50500000000000000000000000000000000000', 'channel reserve'],
  ['0x1060000000000000000000000000000000000000', 'storage credits'],
  ['0xc077e00000000000000000000000000000000000', 'committee'],
  ['0xcccccccc00000000000000000000000000000000', 'validator registry'],
  ['0xcccccccc00000000000000000000000000000001', 'validator registry'],
  ['0x5af2000000000000000000000000000000000000', 'zone factory'],
  ['0x5ad1000000000000000000000000000000000000', "zone portals' code"],
  ['0x5a4d000000000000000000000000000000000000', 'zone messenger'],
  ['0x5a56000000000000000000000000000000000000', 'zone verifier'],
  // Moderato's first portals.
  ['0x7069dec4e64fd07334a0933ede836c17259c9b23', 'zone portal'],
  ['0x3f5296303400b56271b476f5a0b9cbf74350d6ac', 'zone portal'],
  ['0x7702c00000000000000000000000000000000000', "accounts' default code"],
  ['0x7702ac0000000000000000000000000000000000', 'account registrar'],
]);

export const isVirtual = (address: string): boolean => VIRTUAL.test(address);

/** A wallet's address on Tempo: one that can pay or be paid. */
export function parseTempoAddress(network: Network, text: string): Parsed<Address> {
  const system = SYSTEM.get(text.toLowerCase()) ?? (ZONE_PORTAL.test(text) ? 'zone portal' : undefined);
  if (system !== undefined) return { ok: false, problem: `is the chain's own contract: ${system}` };
  const parsed = parseWalletAddress(network, text);
  if (!parsed.ok) return parsed;
  return TIP20.test(parsed.value) ? { ok: false, problem: 'is the address of a TIP-20 token' } : parsed;
}
