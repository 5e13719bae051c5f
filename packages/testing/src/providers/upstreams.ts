import type { Network } from '@pf/chains/networks';
import type { Provider } from './provider.ts';

/** The variables with the upstreams of networks behind simulated providers. */
export const upstreamsBehind = (
  served: readonly {
    readonly network: Pick<Network, 'name' | 'upstreamVariable'>;
    readonly providers: readonly Pick<Provider, 'url' | 'stream'>[];
  }[],
): Readonly<Record<string, string>> => ({
  // A network stands in one of the two.
  ...Object.fromEntries(served.map(({ network }) => [network.upstreamVariable, ''])),
  ...(served.length > 0 && {
    RPC_CONFIG: JSON.stringify(
      Object.fromEntries(
        served.map(({ network, providers }) => [
          network.name,
          providers.map(({ url, stream }) => (stream === null ? url : { url, stream })),
        ]),
      ),
    ),
  }),
});
