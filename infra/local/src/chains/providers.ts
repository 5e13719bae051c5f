import { networkOf } from '@pf/chains/networks';
import { type ProfileNames, profileOf, type Provider, startProvider, upstreamsBehind } from '@pf/testing/providers';
import type { StackChain } from '../stack/stack.ts';
import type { Option } from '../command-line.ts';
import type { Settings } from '../stack/settings.ts';
import { CHAIN_NAMES, CHAINS, type ChainName } from './chains.ts';

/**
 * Profiles, each once. `base-public+envelopes` is one upstream.
 * @throws Error for an unknown profile, with those that there are
 */
export function readProfiles(text: string): readonly ProfileNames[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  for (const name of names) profileOf(name);
  return names as ProfileNames[];
}

/** What `npm start` takes. */
export const START = {
  name: 'npm start',
  about: 'Runs the whole stack until Ctrl-C.',
  options: {
    provider: {
      about: 'Profiles of RPC providers that stand before the local chains',
      takes: 'NAME,NAME',
      otherwise: [],
      read: readProfiles,
    } satisfies Option<readonly ProfileNames[]>,
  },
};

/** The local chains whose family a profile serves; those that run elsewhere are not ours to limit. */
const servedBy = (name: ProfileNames, { external }: Pick<Settings, 'external'>): readonly ChainName[] =>
  CHAIN_NAMES.filter(
    (chain) => external.chains[chain] === null && profileOf(name).families.includes(CHAINS[chain].family),
  );

export interface RunningProviders {
  /** The variables that name the upstreams of all chains for the services. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** What runs before which chain, and what the services cannot do there, for the terminal. */
  readonly lines: readonly string[];
  readonly stop: () => Promise<void>;
}

/**
 * Starts each profile before every local chain of its families. Several before one chain are its upstreams in this
 * order.
 * @throws Error for a profile without a local chain
 */
export async function startProviders(
  names: readonly ProfileNames[],
  settings: Pick<Settings, 'external'>,
  chains: Readonly<Record<ChainName, Pick<StackChain, 'rpcUrl'>>>,
): Promise<RunningProviders> {
  const started: (Provider & { readonly chain: ChainName })[] = [];
  const lines: string[] = [];
  const stop = async (): Promise<void> => void (await Promise.all(started.map((provider) => provider.stop())));
  for (const name of names) {
    const served = servedBy(name, settings);
    if (served.length === 0) {
      await stop();
      throw new Error(
        `--provider: ${name} serves ${profileOf(name).families.join(', ')}, of which no chain runs here.`,
      );
    }
    for (const chain of served) {
      const provider = await startProvider(name, chains[chain].rpcUrl);
      started.push({ ...provider, chain });
      lines.push(`${CHAINS[chain].label} is behind the provider profile ${name}, at ${provider.url}`);
    }
    lines.push(...profileOf(name).cannot.map((what) => `  Over ${name} alone the services cannot ${what}.`));
  }
  const served = CHAIN_NAMES.map((chain) => ({
    network: networkOf(CHAINS[chain].caip2),
    providers: started.filter((provider) => provider.chain === chain),
  })).filter(({ providers }) => providers.length > 0);
  const themselves: Record<string, string> = Object.fromEntries(
    CHAIN_NAMES.map((chain) => [CHAINS[chain].upstreams, settings.external.chains[chain] ?? chains[chain].rpcUrl]),
  );
  return { upstreams: { ...themselves, ...upstreamsBehind(served) }, lines, stop };
}
