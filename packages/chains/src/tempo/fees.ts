import { formatAmount, type Address, type PaymentTerms, type TokenAddress } from '@pf/domain';
import { refusable, type RpcNode } from '@pf/rpc';
import { networkOf, type Token } from '../networks.ts';
import { inTokens } from '../resolve.ts';
import { getCurrency, getTokenBalance, getUserToken } from './calls.ts';

/** The fee token where nothing else determines it. */
const PATH_USD = '0x20C0000000000000000000000000000000000000' as TokenAddress;
/** Gas is priced in 10^-18 USD; TIP-20 tokens have 6 decimals. */
const ATTO_PER_UNIT = 1_000_000_000_000n;
export const FEE_DECIMALS = 6;

/**
 * The base fee may double between build and landing, while a person decides; and since T7 it goes from its floor to its
 * cap within 13 s of full blocks (TIP-1067): what is worth less than a cent outlives that. Only what is needed is paid.
 */
const BASE_FEE_HEADROOM = 2n;
const BASE_FEE_CAP = 12_000_000_000n;

/** The `maxFeePerGas` that we propose, in 10^-18 USD. */
export const maxFeeOf = (baseFee: bigint, tip: bigint): bigint => {
  const doubled = baseFee * BASE_FEE_HEADROOM;
  return (doubled > BASE_FEE_CAP ? doubled : BASE_FEE_CAP) + tip;
};

/** A fee in base units of the fee token. @param price 10^-18 USD for one gas */
export const feeOf = (gas: bigint, price: bigint): bigint => (gas * price + ATTO_PER_UNIT - 1n) / ATTO_PER_UNIT;

/** What determines the fee token. */
export interface FeeQuestion {
  /** The transaction's own choice. */
  readonly chosen: TokenAddress | null;
  readonly feePayer: Address;
  /** The payment's token: it pays the fee too, unless another account pays that. */
  readonly called: TokenAddress | null;
}

/**
 * The fee token, in the chain's order: the transaction's choice, the one that the payer has set at the fee manager, the
 * token that is called (only a dollar token), pathUSD.
 */
export async function resolveFeeToken(node: RpcNode, { chosen, feePayer, called }: FeeQuestion): Promise<TokenAddress> {
  if (chosen !== null) return chosen;
  const [own, currency] = await node.batch([getUserToken(feePayer), refusable(getCurrency(called ?? PATH_USD))]);
  return own ?? (called !== null && currency === 'USD' ? called : PATH_USD);
}

/**
 * Another dollar token of the registry of which the payer has enough: the payment's first, then pathUSD. Null where
 * there is none.
 * @param fee the most that it may cost, in base units
 */
export async function otherFeeToken(
  node: RpcNode,
  terms: PaymentTerms,
  payer: Address,
  not: TokenAddress,
  fee: bigint,
): Promise<TokenAddress | null> {
  const isOfPayment = ({ address }: Token): boolean => address === terms.tokenAddress;
  const dollars = networkOf(terms.chain).tokens.filter(
    ({ address, currency }) => currency === 'USD' && address !== not,
  );
  const tokens = [...dollars.filter(isOfPayment), ...dollars.filter((token) => !isOfPayment(token))];
  const balances = await node.batch(tokens.map(({ address }) => refusable(getTokenBalance(address, payer))));
  const found = tokens.find(({ address }, place) => {
    const held = balances[place];
    return typeof held === 'bigint' && describeShortage(terms, address, held, fee, true) === null;
  });
  return found?.address ?? null;
}

/**
 * What is missing for amount and fee, as text; null where nothing is.
 * @param held the fee payer's balance of the fee token, in base units
 * @param fee the most that the transaction may cost
 * @param isPayer the payer also pays the fee
 */
export function describeShortage(
  terms: PaymentTerms,
  feeToken: TokenAddress,
  held: bigint,
  fee: bigint,
  isPayer: boolean,
): string | null {
  if (isPayer && feeToken === terms.tokenAddress) {
    if (held >= terms.amount + fee) return null;
    const amounts = `has ${inTokens(terms, held)} and needs ${inTokens(terms, terms.amount)}`;
    return `the payer ${amounts}, and up to ${formatAmount(fee, FEE_DECIMALS)} more for the fee`;
  }
  if (held >= fee) return null;
  const who = isPayer ? 'the payer' : 'the fee sponsor';
  const shown = (units: bigint): string => inTokens({ chain: terms.chain, tokenAddress: feeToken }, units);
  return `${who} has ${shown(held)} for the fee and may need ${shown(fee)}`;
}
