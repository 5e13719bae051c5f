import type { Address, Instant, PaymentTerms, TokenAddress } from '@pf/domain';
import { refusable, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import { getAddress } from 'ethers/address';
import { getBlock, getReceipt, getTransactionCount } from '../evm/calls.ts';
import type { SignedTransaction } from '../port.ts';
import { encodePayment } from './calldata.ts';
import { getKeyedNonce, getTokenBalance, isBlockedByReceivePolicy, simulate } from './calls.ts';
import { feeOf, resolveFeeToken, describeShortage } from './fees.ts';
import { EXPIRING } from './nonce.ts';
import { refusalOf } from './refusal.ts';
import { feePayerOf, type TempoTransaction } from './signed-transaction.ts';
import { isTooLong } from './time.ts';

/**
 * Why a transaction that pays these terms cannot land now, or might never end; null where it can, and where it has
 * landed. All read from one upstream.
 */
export async function whyItCannotLand(
  node: RpcNode,
  now: Instant,
  { hash }: SignedTransaction,
  transaction: TempoTransaction,
  terms: PaymentTerms,
  sender: Address,
): Promise<string | null> {
  const { nonceKey = 0n, nonce = 0n, gas = 0n, maxFeePerGas = 0n, validBefore = 0, validAfter = 0 } = transaction;
  const feePayer = feePayerOf(transaction, sender) ?? sender;
  const isPayer = feePayer === sender;
  const chosen = typeof transaction.feeToken === 'string' ? (getAddress(transaction.feeToken) as TokenAddress) : null;
  const feeToken = await resolveFeeToken(node, { chosen, feePayer, called: isPayer ? terms.tokenAddress : null });
  const data = encodePayment({ to: terms.requestor, amount: terms.amount, reference: terms.reference });
  const isOneBalance = isPayer && feeToken === terms.tokenAddress;
  const [receipt, newest, next, held, keptBack, ofFee] = await node.batch([
    getReceipt(hash, () => false),
    getBlock('latest'),
    nonceKey === 0n || nonceKey === EXPIRING ? getTransactionCount(sender, 'latest') : getKeyedNonce(sender, nonceKey),
    getTokenBalance(terms.tokenAddress, sender),
    refusable(isBlockedByReceivePolicy(terms.tokenAddress, sender, terms.requestor)),
    ...(isOneBalance ? [] : [refusable(getTokenBalance(feeToken, feePayer))]),
  ]);
  // In a block already: the wallet has sent it too, or this is a repeated request.
  if (receipt !== null) return null;
  if (newest === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');

  const until = BigInt(validBefore);
  if (until <= newest.timestamp)
    return `it has expired: its validBefore is ${until}, and the chain's time is ${newest.timestamp}`;
  if (isTooLong(until, newest, now))
    return `its validBefore ${until} is too far ahead: choose a time at most five minutes from now`;
  // Wallets choose one in the past, so that two transactions that are otherwise equal have two hashes.
  if (BigInt(validAfter) > newest.timestamp)
    return `it cannot land yet: its validAfter is ${validAfter}, and the chain's time is ${newest.timestamp}`;
  if (nonceKey === EXPIRING && nonce !== 0n) return 'an expiring nonce must be 0';
  if (nonceKey !== EXPIRING && nonce < next) return `nonce ${nonce} is already used: the next one is ${next}`;
  if (maxFeePerGas < newest.baseFeePerGas)
    return `its maxFeePerGas ${maxFeePerGas} is below the base fee of ${newest.baseFeePerGas}`;
  // It would land, and the money be kept back: whoever the policy names could take it later, beside another payment.
  if (keptBack === true) return 'the receive policy of the recipient would keep the money back';
  if (held < terms.amount) return `the payer has ${held} base units of the token and needs ${terms.amount}`;
  const feeBalance = ofFee ?? held;
  if (feeBalance instanceof RpcRefusedError) return 'its fee token is not a TIP-20 token';
  const missing = describeShortage(terms, feeToken, feeBalance, feeOf(gas, maxFeePerGas), isPayer);
  if (missing !== null) return missing;
  // Nonces of key 0 and expiring nonces do not affect the payment: it is simulated with the next one.
  const keyed = nonceKey === 0n || nonceKey === EXPIRING ? {} : { nonce: { nonceKey, nonce } };
  const simulated = await node.call(
    refusable(simulate({ from: sender, to: terms.tokenAddress, data, feeToken, gas, ...keyed })),
  );
  return simulated instanceof RpcRefusedError ? `the transaction would fail: ${refusalOf(simulated).reason}` : null;
}
