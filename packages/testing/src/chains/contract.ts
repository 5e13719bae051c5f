import { readFileSync } from 'node:fs';
import type { Abi, Hex } from 'viem';
import { z } from 'zod';

const artifact = z.object({ abi: z.array(z.unknown()), bytecode: z.string() });

export interface Contract {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

/** A compiled contract in this JSON file. */
export function readContract(file: URL | string): Contract {
  const { abi, bytecode } = artifact.parse(JSON.parse(readFileSync(file, 'utf8')));
  return { abi: abi as Abi, bytecode: bytecode as Hex };
}

/** One of our own contracts, with its code as it lies on chain. */
export const contractNamed = (name: 'Stablecoin' | 'Delegate' | 'Puppet'): Contract =>
  readContract(new URL(`../../contracts/${name}.json`, import.meta.url));
