import { networkOf } from '@pf/chains/networks';
import type { ChainId } from '@pf/domain';
import type { Provider, ProfileNames } from '../providers/index.ts';
import type { StackChain } from './stack.ts';

/** How much faster time passes at the providers: a test has a minute, and some plans a call a second. */
const SPEED = 10;
/** Pauses that a provider asks for are by the services' clock. */
const LIMITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  infura: { backOffSeconds: 3 },
};

export interface BehindProviders {
  /** The variables that name the upstreams of the chains behind a profile, with the streams of those that have some. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Whether the services of this run reach the chains over simulated providers. */
export const isBehindProviders = (): boolean => (process.env['TEST_PROVIDERS'] ?? '') !== '';

/**
 * Puts before each chain the profiles of TEST_PROVIDERS that serve it, as its upstreams in this order (`npm run
 * test:providers`): `helius-free,base:quicknode`, the latter before Base only. `cdp+envelopes` is one upstream. Without
 * that variable the services reach the chains themselves.
 * @throws Error for a profile that does not exist
 */
export async function behindProviders(
  chains: readonly StackChain[],
  names = process.env['TEST_PROVIDERS'],
): Promise<BehindProviders> {
  if (names === undefined || names === '') return { environment: {}, stop: () => Promise.resolve() };
  const { profileOf, startProvider, upstreamsBehind } = await import('../providers/index.ts');
  const started: Provider[] = [];
  const behind = chains.map(async ({ caip2, rpcUrl }) => {
    const network = networkOf(caip2 as ChainId);
    const providers: Provider[] = [];
    for (const entry of names.split(',')) {
      const [name = '', only = network.family] = entry.split(':').reverse();
      if (!profileOf(name).families.some((family) => family === network.family && family === only)) continue;
      const limits = name.split('+').map((part) => LIMITS[part] ?? {});
      const provider = await startProvider(name as ProfileNames, rpcUrl, {
        now: () => performance.now() * SPEED,
        limits: Object.assign({}, ...limits) as Record<string, number>,
      });
      started.push(provider);
      providers.push(provider);
    }
    return { network, providers };
  });
  const served = (await Promise.all(behind)).filter(({ providers }) => providers.length > 0);
  return {
    environment: upstreamsBehind(served),
    stop: async () => void (await Promise.all(started.map((provider) => provider.stop()))),
  };
}
