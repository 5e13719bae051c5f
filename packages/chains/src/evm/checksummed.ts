import { setImmediate } from 'node:timers/promises';
import type { Address } from '@pf/domain';
import { boundedCache } from '@pf/runtime';
import { inPieces } from '../parts.ts';
import { getAddress } from 'ethers/address';

/** An address as a topic has it: most others are numbers and hashes. */
const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/i;
/** More than a transaction can name: its addresses are looked for more than once. */
const ADDRESSES_KEPT = 20_000;
const known = boundedCache<string, string>(ADDRESSES_KEPT, { memoMethod: (lowerCase) => getAddress(lowerCase) });

/**
 * An address of 40 hexadecimal digits with the checksum of EIP-55, whatever its case was. That costs a keccak256 (20
 * µs), and the same merchants and tokens are paid again and again.
 */
export const checksummed = (address: string): Address => known.memo(address.toLowerCase()) as Address;

/**
 * Remembers whom the logs of a transaction name, piece by piece: a stranger may name thousands, which take a tenth of a
 * second together, and what judges the logs goes through them in one go.
 */
export async function rememberAddresses(logs: readonly { readonly topics: readonly string[] }[]): Promise<void> {
  await inPieces(logs, ({ topics: [, ...named] }) => {
    for (const topic of named) if (ADDRESS_WORD.test(topic)) checksummed(`0x${topic.slice(-40)}`);
    return [];
  });
}

/**
 * Does other work before the logs of a receipt are judged, and remembers whom they name. Right before: each receipt may
 * be as large as a stranger can make one, and name more accounts than are remembered of all.
 */
export async function makeReady({ logs }: { readonly logs: Parameters<typeof rememberAddresses>[0] }): Promise<void> {
  await setImmediate();
  await rememberAddresses(logs);
  await setImmediate();
}
