import type { Address, ChainId, PaymentTerms, Reference } from '@pf/domain';
import type { Hex, TransactionSerializable } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { networkOf, type Token } from '../../src/index.ts';

/** A good payment on Base Sepolia without any chain: its terms, its payer, and viem's view of its transaction. */
export const CHAIN = 'eip155:84532' as ChainId;
export const payer = privateKeyToAccount(`0x${'a1'.repeat(32)}`);
export const fulfiller = payer.address as string as Address;

export const tokenOf = (symbol: string): Token => {
  const token = networkOf(CHAIN).tokens.find((one) => one.symbol === symbol);
  if (token === undefined) throw new Error(`Base Sepolia has no ${symbol}`);
  return token;
};

export const terms: PaymentTerms = {
  chain: CHAIN,
  tokenAddress: tokenOf('USDC').address,
  amount: 12_345_678n,
  requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address,
  reference: `0x${'5e'.repeat(32)}` as Reference,
};

const word = (hex: string): string => hex.padStart(64, '0');
const to = word(terms.requestor.slice(2).toLowerCase());
export const calldata: Hex = `0xa9059cbb${to}${word(terms.amount.toString(16))}${terms.reference.slice(2)}`;

export const good = {
  type: 'eip1559',
  chainId: 84_532,
  nonce: 7,
  to: terms.tokenAddress as string as Hex,
  value: 0n,
  data: calldata,
  gas: 80_000n,
  maxFeePerGas: 3_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
} as const satisfies TransactionSerializable;

export const signed = async (transaction: TransactionSerializable, account = payer): Promise<Buffer> =>
  Buffer.from((await account.signTransaction(transaction)).slice(2), 'hex');
