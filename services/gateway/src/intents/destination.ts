import { type ChainAdapter, networks, resolveChain, type Token } from '@pf/chains';
import { ApiError } from '../api-error.ts';
import type { Adapters } from './lookup.ts';

/**
 * The adapter of the network where a request in this mode moves money: a test key that names a live chain means its testnet.
 * @throws ApiError `chain.not_available`, with the chains that are
 */
export function resolveAdapter(adapters: Adapters, chain: string, livemode: boolean): ChainAdapter {
  const network = resolveChain(chain, livemode);
  const adapter = network && adapters.get(network.chain);
  if (adapter) return adapter;
  const available = networks.filter((served) => served.livemode === livemode && adapters.has(served.chain)).map((served) => served.chain);
  const named = networks.find((known) => known.chain === chain);
  const why = named && livemode && !named.livemode ? `The chain ${chain} is a testnet, and this is a live key` : `The chain ${chain} is not available`;
  throw new ApiError('chain.not_available', { message: `${why}: use ${available.join(' or ') || 'another key'}.`, param: 'chain', details: { chain, available } });
}

/** A token of the adapter's network. @throws ApiError `token.not_available`, with the tokens that are */
export function requireToken(adapter: ChainAdapter, text: string): Token {
  const token = adapter.token(text);
  if (token) return token;
  const { chain, tokens } = adapter.network;
  const available = tokens.map(({ symbol, address }) => ({ symbol, address }));
  throw new ApiError('token.not_available', {
    message: `The token ${text} is not available on ${chain}: use ${tokens.map(({ symbol }) => symbol).join(' or ')}.`,
    param: 'token',
    details: { chain, token: text, available },
  });
}
