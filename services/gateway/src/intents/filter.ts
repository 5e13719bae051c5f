import { type ChainAdapter, type Network, networks, type Parsed, resolveChain, resolveToken } from '@pf/chains';
import type { ListIntentsQuery } from '@pf/contracts';
import type { IntentFilter } from '@pf/database';
import type { Reference } from '@pf/domain';
import { validationFailed } from '../api-error.ts';
import { chainNotAvailable, tokenNotAvailable } from './destination.ts';
import type { Adapters } from './lookup.ts';

/**
 * Translates the filters of a list into those of the database: chains and tokens mapped to the key's mode, addresses
 * and hashes canonical.
 * @param requestorName the parameter that has the requestor
 * @throws ApiError `chain.not_available` and `token.not_available` for values that no intent of this mode can have, and
 *   `request.validation_failed` for invalid addresses and hashes
 */
export function filterOf(
  adapters: Adapters,
  query: Omit<ListIntentsQuery, 'limit' | 'cursor'>,
  livemode: boolean,
  requestorName = 'requestor',
): IntentFilter {
  const {
    state,
    chain,
    token,
    direction,
    requestor,
    fulfiller,
    reference,
    txSignature,
    createdAfter,
    createdBefore,
    metadata,
  } = query;
  const network = chain === undefined ? null : resolveChain(chain, livemode);
  const networksOfMode = networks.filter((known) => known.livemode === livemode);
  if (chain !== undefined && network === null) throw chainNotAvailable(chain, livemode, networksOfMode);
  const among = network ? [network] : networksOfMode;
  const parsers = among.flatMap((each) => adapters.get(each.chain) ?? []);
  const parse = <T>(param: string, text: string, by: (adapter: ChainAdapter, text: string) => Parsed<T>): T => {
    if (network && parsers.length === 0)
      throw chainNotAvailable(
        network.chain,
        livemode,
        [...adapters.values()].map((served) => served.network),
      );
    return firstValid(
      param,
      parsers.map((adapter) => by(adapter, text)),
    );
  };
  const address = (adapter: ChainAdapter, text: string) => adapter.parseAddress(text);
  const hash = (adapter: ChainAdapter, text: string) => adapter.parseHash(text);
  return {
    ...(state && { states: state }),
    // Tokens are indexed, chains are not: a chain is filtered by its tokens.
    ...(token === undefined
      ? network && { tokens: network.tokens.map((each) => each.address) }
      : { tokens: tokensOf(among, token) }),
    ...(direction && { direction }),
    ...(requestor !== undefined && { requestor: parse(requestorName, requestor, address) }),
    ...(fulfiller !== undefined && { fulfiller: parse('fulfiller', fulfiller, address) }),
    // The schema has checked its format, which needs no adapter.
    ...(reference !== undefined && { reference: reference as Reference }),
    ...(txSignature !== undefined && { txSignature: parse('txSignature', txSignature, hash) }),
    ...(createdAfter !== undefined && { createdAfter: Date.parse(createdAfter) }),
    ...(createdBefore !== undefined && { createdBefore: Date.parse(createdBefore) }),
    ...(metadata && { metadata }),
  };
}

/** The first valid reading. Chains that accept the same text write it in the same canonical form, so any will do. */
function firstValid<T>(param: string, results: readonly Parsed<T>[]): T {
  const problems = new Set<string>();
  for (const result of results) {
    if (result.ok) return result.value;
    problems.add(result.problem);
  }
  throw validationFailed([{ param, message: `${param} ${[...problems].join(', or ')}` }]);
}

/** A symbol matches a token on each network, an address a token on one. */
function tokensOf(among: readonly Network[], text: string): NonNullable<IntentFilter['tokens']> {
  const tokens = among.flatMap((network) => resolveToken(network, text)?.address ?? []);
  if (tokens.length === 0) throw tokenNotAvailable(text, among);
  return tokens;
}
