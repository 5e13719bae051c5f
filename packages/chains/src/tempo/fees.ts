import { formatAmount, type Address, type PaymentTerms, type TokenAddress } from '@pf/domain';
import { refusable, type RpcNode } from '@pf/rpc';
import { inTokens } from '../resolve.ts';
import { getCurrency, getUserToken } from './calls.ts';

/** Where nothing else says in which token a fee is paid. */
const PATH_USD = '0x20C0000000000000000000000000000000000000' as TokenAddress;
/** Gas is priced in 10^-18 USD; TIP-20 tokens have 6 decimals. */
const ATTO_PER_UNIT = 1_000_000_000_000n;
export const FEE_DECIMALS = 6;

/** A fee in base units of whatever token it is paid in. @param price 10^-18 USD for one gas */
export const feeOf = (gas: bigint, price: bigint): bigint => (gas * price + ATTO_PER_UNIT - 1n) / ATTO_PER_UNIT;

/** What decides in which token a fee is paid. */
export interface FeeQuestion {
  /** The transaction's own choice. */
  readonly chosen: TokenAddress | null;
  readonly feePayer: Address;
  /** The token that is paid with: it pays the fee too, unless another account pays that. */
  readonly called: TokenAddress | null;
}

/**
 * In which token the fee is paid, in the chain's order: the transaction's own choice, the one that the payer has set at the
 * fee manager, the token that is called, pathUSD. The called one only where it stands for dollars.
 */
export async function resolveFeeToken(node: RpcNode, { chosen, feePayer, called }: FeeQuestion): Promise<TokenAddress> {
  if (chosen !== null) return chosen;
  const [own, currency] = await node.batch([getUserToken(feePayer), refusable(getCurrency(called ?? PATH_USD))]);
  return own ?? (called !== null && currency === 'USD' ? called : PATH_USD);
}

/**
 * What is missing for amount and fee; null where nothing is.
 * @param held base units that who pays the fee has of the fee token
 * @param fee what the transaction may cost at most
 * @param isPayer who pays the fee is who pays the amount
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
    return `the payer has ${inTokens(terms, held)} and needs ${inTokens(terms, terms.amount)}, and up to ${formatAmount(fee, FEE_DECIMALS)} more for the fee`;
  }
  if (held >= fee) return null;
  const who = isPayer ? 'the payer' : 'the fee sponsor';
  const shown = (units: bigint): string => inTokens({ chain: terms.chain, tokenAddress: feeToken }, units);
  return `${who} has ${shown(held)} for the fee and may need ${shown(fee)}`;
}
