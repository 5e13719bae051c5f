import { findNetwork, type Network, networks } from '@pf/chains/networks';
import { CliError } from '../cli-error.ts';

/** A network by its name or CAIP-2 id. @throws CliError where there is none */
export function servedNetwork(text: string): Network {
  const network = findNetwork(text) ?? networks.find(({ name }) => name === text);
  if (!network)
    throw new CliError(`${text} is not a network. The networks are ${networks.map(({ name }) => name).join(', ')}.`);
  return network;
}
