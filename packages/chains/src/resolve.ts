import { formatAmount, type PaymentTerms } from '@pf/domain';
import { getAddress, isAddress } from 'ethers/address';
import { counterpartOf, findNetwork, isCalled, type Network, networkOf, type Token } from './networks.ts';

/**
 * The network where a request in this mode moves money: a test key that names a live chain means its testnet. In bodies
 * and in filters alike.
 * @param text CAIP-2: `eip155:8453`
 * @returns null for an unknown network, and for a testnet in live mode: 422 `chain.not_available`
 */
export function resolveChain(text: string, livemode: boolean): Network | null {
  const network = findNetwork(text);
  if (network === undefined) return null;
  if (network.livemode === livemode) return network;
  return livemode ? null : (counterpartOf(network) ?? null);
}

/**
 * The canonical spelling of an address: EVM addresses have three (checksummed, lower and upper case); base58 has one.
 */
const spelling = (text: string): string => (isAddress(text) && text.startsWith('0x') ? getAddress(text) : text);

/**
 * The token of a network by one of its names (any case) or its address; on a testnet also by the address it has on the
 * live network, mapped by its symbol.
 * @returns null where the network has no such token: 422 `token.not_available`
 */
export function resolveToken(network: Network, text: string): Token | null {
  const own = network.tokens.find((token) => isCalled(token, text));
  if (own !== undefined) return own;
  const address = spelling(text);
  const listed = network.tokens.find((token) => token.address === address);
  if (listed !== undefined || network.livemode) return listed ?? null;
  const live = counterpartOf(network)?.tokens.find((token) => token.address === address);
  return network.tokens.find((token) => token.symbol === live?.symbol) ?? null;
}

/** An amount of the payment's token for texts: `3 USDC`. */
export function inTokens(
  { chain, tokenAddress }: Pick<PaymentTerms, 'chain' | 'tokenAddress'>,
  amount: bigint,
): string {
  const token = networkOf(chain).tokens.find(({ address }) => address === tokenAddress);
  return token === undefined
    ? `${amount} base units of ${tokenAddress}`
    : `${formatAmount(amount, token.decimals)} ${token.symbol}`;
}
