import { networkOf } from '@pf/chains/networks';
import type { ChainId } from '@pf/domain';
import type { Provider, ProfileName } from '../providers/index.ts';
import type { StackChain } from './stack.ts';

/** How much faster time passes at the providers: a test has a minute, and some plans a call a second. */
const SPEED = 10;
/** Pauses that a provider asks for are by the services' clock. */
const LIMITS: Partial<Record<ProfileName, Readonly<Record<string, number>>>> = {
  infura: { backOffSeconds: 3 },
};

export interface BehindProviders {
  /** The chains, with the URLs at which services reach them: comma-separated. */
  readonly chains: readonly StackChain[];
  stop(): Promise<void>;
}

/** Whether the services of this run reach the chains over simulated providers. */
export const isBehindProviders = (): boolean => (process.env['TEST_PROVIDERS'] ?? '') !== '';

/**
 * Puts before each chain the profiles of TEST_PROVIDERS that serve it, as its upstreams in this order (`npm run
 * test:providers`): `helius-free,base:quicknode`, the latter before Base only. Without that variable the services reach
 * the chains themselves.
 * @throws Error for a profile that does not exist
 */
export async function behindProviders(
  chains: readonly StackChain[],
  names = process.env['TEST_PROVIDERS'],
): Promise<BehindProviders> {
  if (names === undefined || names === '') return { chains, stop: () => Promise.resolve() };
  const { PROFILES, startProvider } = await import('../providers/index.ts');
  const started: Provider[] = [];
  const behind = chains.map(async (chain): Promise<StackChain> => {
    const { family } = networkOf(chain.caip2 as ChainId);
    const providers: Provider[] = [];
    for (const entry of names.split(',')) {
      const [name = '', only = family] = entry.split(':').reverse();
      if (!Object.hasOwn(PROFILES, name)) throw new Error(`TEST_PROVIDERS: there is no profile "${name}"`);
      const profile = name as ProfileName;
      if (only !== family || !PROFILES[profile].families.some((one) => one === family)) continue;
      providers.push(
        await startProvider(profile, chain.rpcUrl, {
          now: () => performance.now() * SPEED,
          limits: LIMITS[profile] ?? {},
        }),
      );
    }
    started.push(...providers);
    return providers.length === 0 ? chain : { ...chain, rpcUrl: providers.map(({ url }) => url).join(',') };
  });
  return {
    chains: await Promise.all(behind),
    stop: async () => void (await Promise.all(started.map((provider) => provider.stop()))),
  };
}
