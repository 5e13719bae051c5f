import { type ChainControls, ControlError, controlsOf } from '@pf/chain-controls';
import { networks as registry } from '@pf/chains/networks';
import { Argument } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Mode } from '../session.ts';
import type { StackAccess } from '../stack.ts';

/** A local chain, and the hand on it. */
export interface Network {
  /** As stack.json names it. */
  readonly name: string;
  readonly caip2: string;
  readonly controls: ChainControls;
}

const FAMILIES = [...new Set(registry.map(({ family }) => family))].sort().join(', ');
export const NETWORK = `${FAMILIES}, or a CAIP-2 id; --mode live selects the local stand-in of the live network`;
export const networkArgument = (): Argument => new Argument('<network>', NETWORK);

/** Chains of live mode have names of their own. */
const LIVE_NAME = (name: string): string => `${name}Live`;

/** All local chains of the stack. */
export async function networks(stack: StackAccess): Promise<readonly Network[]> {
  const chains = await stack.chains();
  return Object.entries(chains).flatMap(([name, { caip2, rpcUrl, wallets }]) =>
    wallets.length === 0 ? [] : [{ name, caip2, controls: controlsOf({ caip2, rpcUrl }) }],
  );
}

/** The one that a person means. @throws CliError if it has no controls */
export async function networkNamed(stack: StackAccess, text: string, mode: Mode): Promise<Network> {
  const chains = await stack.chains();
  const isMeant = (name: string, caip2: string): boolean => text === caip2 || text.toLowerCase() === name.toLowerCase();
  const local = await networks(stack);
  const there = `Local chains of this stack: ${local.map(({ name }) => name).join(', ') || 'none'}`;
  const live = mode === 'live' && !text.includes(':') ? LIVE_NAME(text) : text;
  const found = local.find(({ name, caip2 }) => live.toLowerCase() === name.toLowerCase() || live === caip2);
  if (found) return found;
  if (mode === 'live')
    throw new CliError(`${text} has no local chain in live mode, and real chains have no such controls. ${there}`);
  if (Object.entries(chains).some(([name, { caip2 }]) => isMeant(name, caip2)))
    throw new CliError(`${text} uses the nodes that the environment names, which have no such controls. ${there}`);
  if (/^(eip155|solana):\w+$/.test(text))
    throw new CliError(`${text} has no local chain, and real chains have no such controls. ${there}`);
  throw new CliError(`Unknown network ${text}. ${there}`);
}

/** Runs what a control does; what it cannot do is told as it says it. */
export async function controlling<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ControlError) throw new CliError(error.message, { cause: error });
    throw error;
  }
}
