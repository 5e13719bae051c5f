import { parseArgs } from 'node:util';
import { PROFILE_NAMES, type ProfileName, PROFILES, type Provider, startProvider } from '@pf/testing/providers';
import type { StackChain } from '../stack/stack.ts';
import type { Settings } from '../stack/settings.ts';
import { CHAIN_NAMES, CHAINS, type ChainName, forEachChain } from './chains.ts';

const isProfile = (name: string): name is ProfileName => (PROFILE_NAMES as readonly string[]).includes(name);

/**
 * The profiles of `--provider base-public,helius-free`, each once.
 * @throws Error for an unknown profile, with those that there are, and for other arguments
 */
export function readProviders(args: readonly string[]): readonly ProfileName[] {
  const { values } = parseArgs({ args: [...args], options: { provider: { type: 'string', multiple: true } } });
  const names = (values.provider ?? []).flatMap((list) => list.split(',')).map((name) => name.trim());
  return [...new Set(names)].map((name) => {
    if (isProfile(name)) return name;
    throw new Error(`--provider: there is no profile "${name}". The profiles are ${PROFILE_NAMES.join(', ')}.`);
  });
}

/** The local chains whose family a profile serves; those that run elsewhere are not ours to limit. */
const servedBy = (name: ProfileName, { external }: Pick<Settings, 'external'>): readonly ChainName[] =>
  CHAIN_NAMES.filter(
    (chain) =>
      external.chains[chain] === null && PROFILES[name].families.some((family) => family === CHAINS[chain].family),
  );

export interface RunningProviders {
  /** The URLs at which the services reach each chain, comma-separated. */
  readonly upstreams: Readonly<Record<ChainName, string>>;
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
  names: readonly ProfileName[],
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
      throw new Error(`--provider: ${name} serves ${PROFILES[name].families.join(', ')}, of which no chain runs here.`);
    }
    for (const chain of served) {
      const provider = await startProvider(name, chains[chain].rpcUrl);
      started.push({ ...provider, chain });
      lines.push(`${CHAINS[chain].label} is behind the provider profile ${name}, at ${provider.url}`);
    }
    lines.push(...PROFILES[name].cannot.map((what) => `  Over ${name} alone the services cannot ${what}.`));
  }
  const upstreams = forEachChain((chain) => {
    const urls = started.filter((provider) => provider.chain === chain).map(({ url }) => url);
    return urls.length === 0 ? (settings.external.chains[chain] ?? chains[chain].rpcUrl) : urls.join(',');
  });
  return { upstreams, lines, stop };
}
