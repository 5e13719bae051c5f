import { networks } from '@pf/chains/networks';
import { InvalidArgumentError } from 'commander';

/** What people call the chains. Live ids: under a test key they mean the testnets. */
export const CHAINS: Readonly<Record<string, string>> = Object.fromEntries(
  networks
    .filter(({ livemode }) => livemode)
    .map(({ name, chain }): [string, string] => [name, chain])
    .sort(),
);
export const chainId = (name: string): string => CHAINS[name.toLowerCase()] ?? name;
export const CHAIN_HELP = `${Object.keys(CHAINS).join(', ')}, or a CAIP-2 id`;

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
