import { type ChainAdapter, type Network, networks, type Parsed, resolveChain, resolveToken } from '@pf/chains';
import type { ListIntentsQuery } from '@pf/contracts';
import type { IntentFilter } from '@pf/database';
import type { Reference } from '@pf/domain';
import { validationFailed } from '../api-error.ts';
import { chainNotAvailable, tokenNotAvailable } from './destination.ts';
import type { Adapters } from './lookup.ts';

/**
 * The filters of a list as intents are stored: chains and tokens mapped to the key's mode, addresses and hashes canonical.
 * @throws ApiError `chain.not_available` and `token.not_available` for what no intent of this mode can have, and
 *   `request.validation_failed` for what can be no address or hash
 */
export function filterOf(
  adapters: Adapters,
  query: Omit<ListIntentsQuery, 'limit' | 'cursor'>,
  livemode: boolean,
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
  const meant = chain === undefined ? null : resolveChain(chain, livemode);
  if (chain !== undefined && meant === null)
    throw chainNotAvailable(
      chain,
      livemode,
      networks.filter((network) => network.livemode === livemode),
    );
  const among = meant ? [meant] : networks.filter((network) => network.livemode === livemode);
  const readers = among.flatMap((network) => adapters.get(network.chain) ?? []);
  const read = <T>(param: string, text: string, by: (reader: ChainAdapter, text: string) => Parsed<T>): T => {
    if (meant && readers.length === 0)
      throw chainNotAvailable(
        meant.chain,
        livemode,
        [...adapters.values()].map(({ network }) => network),
      );
    return readAny(
      param,
      readers.map((reader) => by(reader, text)),
    );
  };
  const address = (reader: ChainAdapter, text: string) => reader.parseAddress(text);
  const hash = (reader: ChainAdapter, text: string) => reader.parseHash(text);
  return {
    ...(state && { states: state }),
    // The list of a chain is that of its tokens.
    ...(token === undefined
      ? meant && { tokens: meant.tokens.map(({ address: of }) => of) }
      : { tokens: tokensOf(among, token) }),
    ...(direction && { direction }),
    ...(requestor !== undefined && { requestor: read('requestor', requestor, address) }),
    ...(fulfiller !== undefined && { fulfiller: read('fulfiller', fulfiller, address) }),
    // Its form is the same on all chains of a kind, and was checked.
    ...(reference !== undefined && { reference: reference as Reference }),
    ...(txSignature !== undefined && { txSignature: read('txSignature', txSignature, hash) }),
    ...(createdAfter !== undefined && { createdAfter: Date.parse(createdAfter) }),
    ...(createdBefore !== undefined && { createdBefore: Date.parse(createdBefore) }),
    ...(metadata && { metadata }),
  };
}

/** What one of the chains takes it for: no text is an address or a hash of two that write it otherwise. */
function readAny<T>(param: string, readings: readonly Parsed<T>[]): T {
  const problems = new Set<string>();
  for (const reading of readings) {
    if (reading.ok) return reading.value;
    problems.add(reading.problem);
  }
  throw validationFailed([{ param, message: `${param} ${[...problems].join(', or ')}` }]);
}

/** A symbol is a token on each of the networks, an address of one. */
function tokensOf(among: readonly Network[], text: string): NonNullable<IntentFilter['tokens']> {
  const tokens = among.flatMap((network) => resolveToken(network, text)?.address ?? []);
  if (tokens.length === 0) throw tokenNotAvailable(text, among);
  return tokens;
}
