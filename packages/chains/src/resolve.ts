import { type ChainId, formatAmount, type PaymentTerms } from '@pf/domain';
import { getAddress, isAddress } from 'ethers';
import { networks } from './networks.ts';
import type { Network, Token } from './port.ts';

const byChain: ReadonlyMap<string, Network> = new Map(networks.map((network) => [network.chain, network]));

/** The network of a chain id that the service itself wrote. Throws on one that the registry does not have. */
export function networkOf(chain: ChainId): Network {
  const network = byChain.get(chain);
  if (network === undefined) throw new Error(`the registry has no network ${chain}`);
  return network;
}

const counterpart = (network: Network, livemode: boolean): Network | undefined =>
  networks.find(({ family, livemode: live }) => family === network.family && live === livemode);

/**
 * The network where a request in this mode moves money (decisions.md "Chains, tokens, modes"): a test key that names a
 * live chain means its testnet. In bodies and in filters alike.
 * @param text CAIP-2: `eip155:8453`.
 * @returns null for what names no network, or a testnet in live mode: 422 `chain.not_available`.
 */
export function resolveChain(text: string, livemode: boolean): Network | null {
  const named = byChain.get(text);
  if (named === undefined) return null;
  if (named.livemode === livemode) return named;
  return livemode ? null : (counterpart(named, false) ?? null);
}

/** One spelling of an address for look-ups: EVM addresses have three (checksummed, lower and upper case); base58 has one. */
const spelling = (text: string): string => (isAddress(text) && text.startsWith('0x') ? getAddress(text) : text);

/**
 * The token of a network by its symbol (any case) or address; on a testnet also by the address it has on the live
 * network, mapped by its symbol.
 * @returns null where this network has no such token: 422 `token.not_available`.
 */
export function resolveToken(network: Network, text: string): Token | null {
  const symbol = text.toUpperCase();
  const own = network.tokens.find((token) => token.symbol.toUpperCase() === symbol);
  if (own !== undefined) return own;
  const address = spelling(text);
  const listed = network.tokens.find((token) => token.address === address);
  if (listed !== undefined || network.livemode) return listed ?? null;
  const live = counterpart(network, true)?.tokens.find((token) => token.address === address);
  return network.tokens.find((token) => token.symbol === live?.symbol) ?? null;
}

/** An amount of the token that the terms name, as people say it: `3 USDC`. */
export function inTokens(
  { chain, tokenAddress }: Pick<PaymentTerms, 'chain' | 'tokenAddress'>,
  amount: bigint,
): string {
  const token = networkOf(chain).tokens.find(({ address }) => address === tokenAddress);
  return token === undefined
    ? `${amount} base units of ${tokenAddress}`
    : `${formatAmount(amount, token.decimals)} ${token.symbol}`;
}
