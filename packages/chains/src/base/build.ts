import { formatAmount, type PaymentTerms } from '@pf/domain';
import { refusable, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { Transaction } from 'ethers/transaction';
import { dataSlice } from 'ethers/utils';
import { balanceOf, isBlacklisted, isContract } from '../evm/account.ts';
import { callContract, estimateGas, getBalance, getCode, getFeeHistory, getTransactionCount } from '../evm/calls.ts';
import { baseFeeOf, feeHistoryBlocks, newestBlockOf, proposedFee, proposedTip } from '../evm/fees.ts';
import { reasonOf } from '../evm/refusal.ts';
import type { PacedHead } from '../newest-head.ts';
import { inTokens } from '../resolve.ts';
import type { BuildRequest, BuildResult } from '../port.ts';
import { encodePayment } from './calldata.ts';
import { getL1Fee } from './l1-fee.ts';

/** A transfer to a recipient whose balance has dropped to zero writes a new slot: 17,100 gas more than estimated. */
const COLD_RECIPIENT_GAS = 20_000n;
const ETH_DECIMALS = 18;
const eth = (wei: bigint): string => `${formatAmount(wei, ETH_DECIMALS)} ETH`;

const rejected = (reason: string): Refusal => ({ kind: 'rejected', reason });
const notPayable = (param: 'requestor' | 'fulfiller', reason: string): Refusal => ({
  kind: 'not_payable',
  param,
  reason,
});

/**
 * Builds the unsigned EIP-1559 transaction that pays these terms, from the state of one upstream
 * (docs/internals/chains.md). For a smart account it is the call that the account is to make.
 */
export async function buildPayment(
  node: RpcNode,
  { terms, fulfiller, sponsored = false }: BuildRequest,
  blocks: PacedHead,
): Promise<BuildResult> {
  const call = {
    from: fulfiller,
    to: terms.tokenAddress,
    data: encodePayment(terms.requestor, terms.amount, terms.reference),
  };
  const [code, nonce, fees, wei, balance, gas] = await node.batch([
    getCode(fulfiller),
    getTransactionCount(fulfiller, 'pending'),
    getFeeHistory(feeHistoryBlocks(blocks.pace.blockMs())),
    getBalance(fulfiller),
    refusable(callContract({ from: fulfiller, to: terms.tokenAddress, data: balanceOf(fulfiller) })),
    refusable(estimateGas(call)),
  ]);
  const newest = newestBlockOf(fees);
  blocks.saw(newest);
  /** A node that is behind may not have the money. */
  const refused = (result: Refusal): Refusal => {
    blocks.requireReached(node, newest);
    return result;
  };
  const refusal = refusalOfBalance(terms, balance);
  if (refusal !== null) return refused(refusal);
  if (gas instanceof RpcRefusedError) return refused(await refusalOfTransfer(node, { terms, fulfiller }, gas));

  const tip = proposedTip(fees);
  const transaction = Transaction.from({
    type: 2,
    chainId: BigInt(terms.chain.slice('eip155:'.length)),
    nonce: Number(nonce),
    to: terms.tokenAddress,
    value: 0n,
    data: call.data,
    gasLimit: gas + gas / 5n + COLD_RECIPIENT_GAS,
    maxFeePerGas: proposedFee(fees, tip),
    maxPriorityFeePerGas: tip,
  });
  const l1Fee = await getL1Fee(node, fulfiller, transaction.unsignedSerialized);
  const needed = transaction.gasLimit * (transaction.maxFeePerGas ?? 0n) + l1Fee;
  // A paymaster may pay for an account with code, and a contract's bundler decides what the fee is. An account that a
  // sponsor pays for may get its code with this very payment.
  if (code === '0x' && !sponsored && wei < needed)
    return refused(rejected(`the payer has ${eth(wei)} for fees and may need ${eth(needed)}`));
  return {
    kind: 'built',
    transaction: {
      blob: Buffer.from(transaction.unsignedSerialized.slice(2), 'hex').toString('base64'),
      format: 'evm_rlp',
      ataRentLamports: null,
      estimatedFeeLamports: null,
      estimatedFeeUsdc: null,
      estimatedFeeEth:
        isContract(code) || sponsored ? null : formatAmount(gas * (baseFeeOf(fees) + tip) + l1Fee, ETH_DECIMALS),
    },
    lifetime: { kind: 'unlimited' },
  };
}

type Refusal = Exclude<BuildResult, { readonly kind: 'built' }>;

/** Null where the payer has the amount. @param balance the answer to `balanceOf` */
export function refusalOfBalance(terms: PaymentTerms, balance: string | RpcRefusedError): Refusal | null {
  if (balance instanceof RpcRefusedError)
    return rejected(`the token contract did not return the payer's balance: ${reasonOf(balance)}`);
  const held = balance === '0x' ? 0n : BigInt(dataSlice(balance, 0, 32));
  return held < terms.amount
    ? rejected(`the payer has ${inTokens(terms, held)} and needs ${inTokens(terms, terms.amount)}`)
    : null;
}

/** Why a node refuses the transfer of these terms. */
export async function refusalOfTransfer(
  node: RpcNode,
  { terms, fulfiller }: Pick<BuildRequest, 'terms' | 'fulfiller'>,
  refused: RpcRefusedError,
): Promise<Refusal> {
  const blocked = await node.call(
    refusable(callContract({ from: fulfiller, to: terms.tokenAddress, data: isBlacklisted(terms.requestor) })),
  );
  return isTrue(blocked)
    ? notPayable('requestor', 'may not receive this token: its issuer has blocked the address')
    : rejected(`the transfer would fail: ${reasonOf(refused)}`);
}

/** True for a contract's `true`. A contract without the function returns nothing, or reverts. */
const isTrue = (answer: string | RpcRefusedError): boolean =>
  !(answer instanceof RpcRefusedError) && answer !== '0x' && BigInt(answer) === 1n;
