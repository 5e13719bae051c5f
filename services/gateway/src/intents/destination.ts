import { type ChainAdapter, type Network, networks, resolveChain, type Token } from '@pf/chains';
import { ApiError } from '../api-error.ts';
import type { Adapters } from './lookup.ts';

/**
 * The adapter of the network where a request in this mode moves money. With a test key, a live chain selects its
 * testnet.
 * @throws ApiError `chain.not_available`, with the chains that are available
 */
export function resolveAdapter(adapters: Adapters, chain: string, livemode: boolean): ChainAdapter {
  const network = resolveChain(chain, livemode);
  const adapter = network && adapters.get(network.chain);
  if (!adapter)
    throw chainNotAvailable(
      chain,
      livemode,
      [...adapters.values()].map((served) => served.network),
    );
  return adapter;
}

/** 422 `chain.not_available` for a chain that is not among these networks in this mode. */
export function chainNotAvailable(chain: string, livemode: boolean, among: readonly Network[]): ApiError {
  const available = among.filter((network) => network.livemode === livemode).map((network) => network.chain);
  const known = networks.find((network) => network.chain === chain);
  const problem =
    known && livemode && !known.livemode
      ? `The chain ${chain} is a testnet, and this is a live key`
      : `The chain ${chain} is not available`;
  return new ApiError('chain.not_available', {
    message: `${problem}: use ${available.join(' or ') || 'another key'}.`,
    param: 'chain',
    details: { chain, available },
  });
}

/** A token of the adapter's network. @throws ApiError `token.not_available`, with the tokens that are available */
export function requireToken(adapter: ChainAdapter, text: string): Token {
  const token = adapter.token(text);
  if (!token) throw tokenNotAvailable(text, [adapter.network]);
  return token;
}

/** 422 `token.not_available` for a token that none of these networks supports. */
export function tokenNotAvailable(token: string, among: readonly Network[]): ApiError {
  const tokens = among.flatMap((network) => network.tokens);
  const symbols = [...new Set(tokens.map(({ symbol }) => symbol))];
  const chains = among.map(({ chain }) => chain);
  return new ApiError('token.not_available', {
    message: `The token ${token} is not available on ${chains.join(' or ')}: use ${symbols.join(' or ')}.`,
    param: 'token',
    details: {
      chain: chains.length === 1 ? chains[0] : null,
      token,
      available: tokens.map(({ symbol, address }) => ({ symbol, address })),
    },
  });
}
