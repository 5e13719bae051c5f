import type { Address } from '@pf/domain';
import { parseBaseAddress } from './base/address.ts';
import { type ChainFamily, networks, type Network } from './networks.ts';
import type { Parsed } from './port.ts';
import { parseWalletAddress as parseSolanaWallet } from './solana/address.ts';
import { parseTempoAddress } from './tempo/address.ts';

const PARSERS: Readonly<Record<ChainFamily, (network: Network, text: string) => Parsed<Address>>> = {
  base: parseBaseAddress,
  solana: parseSolanaWallet,
  tempo: parseTempoAddress,
};

/** The canonical form of a wallet's address that can be paid on every network of the family. */
export function parseWallet(family: ChainFamily, text: string): Parsed<Address> {
  const parsed = networks.filter((network) => network.family === family).map((one) => PARSERS[family](one, text));
  return parsed.find(({ ok }) => !ok) ?? parsed[0] ?? { ok: false, problem: 'is of no known network' };
}
