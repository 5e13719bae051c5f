import { findNetwork, type Network, networks } from '@pf/chains/networks';
import type { ChainId } from '@pf/domain';
import type { UpstreamSettings } from '@pf/rpc';
import { CliError } from '../cli-error.ts';
import type { StackAccess } from '../stack.ts';

/** A network by its name or CAIP-2 id. @throws CliError where there is none */
export function servedNetwork(text: string): Network {
  const network = findNetwork(text) ?? networks.find(({ name }) => name === text);
  if (!network)
    throw new CliError(`${text} is not a network. The networks are ${networks.map(({ name }) => name).join(', ')}.`);
  return network;
}

/** The options of commands that ask upstreams. */
export interface UpstreamOptions {
  readonly network?: string;
  readonly rpc?: string;
}

/** The upstreams that a command asks: of all networks that have any, or of one, with these URLs in place of its own. */
export async function upstreamsFor(
  stack: StackAccess,
  { network: name, rpc }: UpstreamOptions,
): Promise<ReadonlyMap<ChainId, readonly (string | UpstreamSettings)[]>> {
  if (name === undefined) {
    if (rpc !== undefined) throw new CliError('--rpc needs --network: name the network that it serves.');
    return stack.upstreams();
  }
  const network = servedNetwork(name);
  const named = rpc?.split(',').map((url) => url.trim());
  const upstreams = named ?? (await stack.upstreams()).get(network.chain);
  if (!upstreams)
    throw new CliError(`${network.label} has no upstream. Set ${network.upstreamVariable}, or add --rpc URL.`);
  return new Map([[network.chain, upstreams]]);
}
