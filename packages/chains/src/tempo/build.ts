import { type Address, formatAmount, type Instant, type TokenAddress } from '@pf/domain';
import { ifSupported, refusable, type RpcNode, RpcRefusedError, RpcUpstreamError } from '@pf/rpc';
import * as TxEnvelopeTempo from 'ox/tempo/TxEnvelopeTempo';
import type { BlockPace } from '../block-pace.ts';
import { isContract } from '../evm/account.ts';
import { getBlock, getCode, getFeeHistory } from '../evm/calls.ts';
import { baseFeeOf, feeHistoryBlocks, proposedTip } from '../evm/fees.ts';
import type { BuildRequest, BuildResult } from '../port.ts';
import { inTokens } from '../resolve.ts';
import { isVirtual } from './address.ts';
import { encodePayment } from './calldata.ts';
import {
  estimateTempoGas,
  getClientVersion,
  getTokenBalance,
  getTransferPolicy,
  isForbiddenRecipient,
  isForbiddenAccount,
  isBlockedByReceivePolicy,
} from './calls.ts';
import { describeShortage, FEE_DECIMALS, feeOf, maxFeeOf, otherFeeToken, resolveFeeToken } from './fees.ts';
import { EXPIRING, newNonceKey } from './nonce.ts';
import { refusalOf } from './refusal.ts';
import { validBefore } from './time.ts';

/** A recipient whose balance drops to zero costs a new slot, and a passkey's signature costs more than a key's. */
const GAS_MARGIN = 275_000n;
const limitFor = (estimate: bigint): bigint => estimate + estimate / 5n + GAS_MARGIN;
/** Where there is no estimate, as with a fee token of which the payer has nothing. */
const GAS_ASSUMED = 1_000_000n;

/** True where another fee token may do: the payer has too little of this one, or no validator can swap it. */
const cannotPay = ({ gas, missing }: { readonly gas: bigint | RpcRefusedError; readonly missing: string | null }) =>
  missing !== null || (gas instanceof RpcRefusedError && /liquidity/i.test(gas.message));

const rejected = (reason: string): BuildResult => ({ kind: 'rejected', reason });
const notPayable = (param: 'requestor' | 'fulfiller', reason: string): BuildResult => ({
  kind: 'not_payable',
  param,
  reason,
});

/**
 * Builds the unsigned transaction of type 0x76 that pays these terms, from the state of one upstream
 * (docs/internals/chains.md).
 */
export async function buildPayment(
  node: RpcNode,
  now: Instant,
  { terms, fulfiller, expiresAt, sponsored = false }: BuildRequest,
  pace: BlockPace,
): Promise<BuildResult> {
  const { tokenAddress: token, requestor } = terms;
  if (isVirtual(fulfiller))
    return notPayable('fulfiller', 'is a virtual address, which forwards payments and cannot sign');
  const [code, newest, fees, client, held, keptBack] = await node.batch([
    getCode(fulfiller),
    getBlock('latest'),
    getFeeHistory(feeHistoryBlocks(pace.blockMs())),
    ifSupported(refusable(getClientVersion())),
    getTokenBalance(token, fulfiller),
    refusable(isBlockedByReceivePolicy(token, fulfiller, requestor)),
  ]);
  if (newest === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');
  pace.saw(newest.number);
  if (isContract(code)) return notPayable('fulfiller', 'is a contract account, which cannot sign the payment itself');
  if (keptBack === true) return notPayable('requestor', 'has a receive policy that would block this payment');
  if (held < terms.amount)
    return rejected(`the payer has ${inTokens(terms, held)} and needs ${inTokens(terms, terms.amount)}`);
  const until = validBefore(newest, now, expiresAt);
  if (until === null) return rejected('the payment intent expires before a transaction could land');

  const baseFee = baseFeeOf(fees);
  const tip = proposedTip(fees);
  const maxFee = maxFeeOf(baseFee, tip);
  const nonceKey = newNonceKey(client);
  const data = encodePayment({ to: requestor, amount: terms.amount, reference: terms.reference });
  const nonce = { nonceKey, nonce: 0n, ...(nonceKey === EXPIRING ? { validBefore: until } : {}) };
  const estimate = async (feeToken: TokenAddress) => {
    const [gas, balance] = await node.batch([
      refusable(estimateTempoGas({ from: fulfiller, to: token, data, feeToken, nonce })),
      getTokenBalance(feeToken, fulfiller),
    ]);
    const most = feeOf(gas instanceof RpcRefusedError ? GAS_ASSUMED : limitFor(gas), maxFee);
    return { feeToken, gas, missing: sponsored ? null : describeShortage(terms, feeToken, balance, most, true) };
  };
  const called = sponsored ? null : token;
  const first = await estimate(await resolveFeeToken(node, { chosen: null, feePayer: fulfiller, called }));
  const other =
    !sponsored && cannotPay(first)
      ? await otherFeeToken(node, terms, fulfiller, first.feeToken, feeOf(GAS_ASSUMED, maxFee))
      : null;
  const { feeToken, gas, missing } = other === null ? first : await estimate(other);
  if (gas instanceof RpcRefusedError) {
    const { reason, isRecipientFault, isPolicyRefusal } = refusalOf(gas);
    if (isPolicyRefusal && (await isForbiddenBy(node, token, requestor)))
      return notPayable('requestor', 'may not receive this token: its issuer has blocked the address');
    return isRecipientFault ? notPayable('requestor', reason) : rejected(`the transfer would fail: ${reason}`);
  }
  if (missing !== null) return rejected(missing);

  const unsigned = TxEnvelopeTempo.serialize({
    chainId: Number(terms.chain.slice('eip155:'.length)),
    calls: [{ to: token as string as `0x${string}`, data }],
    // The sponsor chooses the token, and signs for it after the payer.
    ...(sponsored ? { feePayerSignature: null } : { feeToken: feeToken as string as `0x${string}` }),
    gas: limitFor(gas),
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: tip,
    nonceKey,
    nonce: 0n,
    validBefore: Number(until),
  });
  return {
    kind: 'built',
    transaction: {
      blob: Buffer.from(unsigned.slice(2), 'hex').toString('base64'),
      format: 'tempo_tip20',
      ataRentLamports: null,
      estimatedFeeLamports: null,
      estimatedFeeUsdc: sponsored ? null : formatAmount(feeOf(gas, baseFee + tip), FEE_DECIMALS),
      estimatedFeeEth: null,
    },
    lifetime: { kind: 'time', validBefore: until },
  };
}

/** True where the token issuer's policy lets this account receive nothing. */
async function isForbiddenBy(node: RpcNode, token: TokenAddress, account: Address): Promise<boolean> {
  const policy = await node.call(getTransferPolicy(token));
  const [barred, altogether] = await node.batch([
    refusable(isForbiddenRecipient(policy, account)),
    refusable(isForbiddenAccount(policy, account)),
  ]);
  return (barred instanceof RpcRefusedError ? altogether : barred) === true;
}
