import { type Address, formatAmount, type PaymentTerms } from '@pf/domain';
import { ifSupported, refusable, type RpcNode, RpcRefusedError } from '@pf/rpc';
import { getCreateAddress } from 'ethers/address';
import { wordOf } from '../evm/account.ts';
import { type FeeHistory, getFeeHistory, simulateCalls, type Simulated, type SimulatedCall } from '../evm/calls.ts';
import { baseFeeOf, feeHistoryBlocks, highestFee, newestBlockOf, proposedTip, sponsoredFee } from '../evm/fees.ts';
import { reasonOf } from '../evm/refusal.ts';
import type { PacedHead } from '../newest-head.ts';
import type { OperationJudgment } from '../port.ts';
import { getL1Fee } from './l1-fee.ts';
import { TRANSFER } from './observe/landings.ts';

/** A user operation for which a paymaster is asked, as far as it is judged. Absent figures are not known yet. */
export interface SponsoredOperation {
  readonly sender: Address;
  readonly entryPoint: Address;
  readonly callData: string;
  /** How the account is deployed before; null where it exists. */
  readonly deployment: { readonly factory: string; readonly data: string } | null;
  readonly callGas: bigint;
  readonly verificationGas: bigint;
  readonly preVerificationGas: bigint | null;
  readonly maxFee: bigint | null;
  readonly maxTip: bigint | null;
}

/** Of a transaction that makes one call: its base, and each byte of its calldata (EIP-7623). */
const TRANSACTION_GAS = { base: 21_000n, byte: 40n } as const;
/** What bundlers take beside an operation's bytes: their transaction, the EntryPoint's work, and its signatures. */
const BUNDLING_GAS = 150_000n;
/** Bundlers add to the fee of L1, which moves, and is theirs to estimate for more bytes than are known here. */
const L1_HEADROOM = 4n;
const GWEI_DECIMALS = 9;

/**
 * Whether an operation would make this payment now, at a price of the chain. It is simulated as its EntryPoint makes
 * it, deployment included, but for the account's check of the signature, which is not there yet. What an account does
 * later is its own affair: this bounds what a promise can cost.
 * @returns null where the upstream cannot simulate
 */
export async function judgeOperation(
  node: RpcNode,
  operation: SponsoredOperation,
  terms: PaymentTerms,
  blocks: PacedHead,
): Promise<OperationJudgment | null> {
  const [fees, simulated] = await node.batch([
    getFeeHistory(feeHistoryBlocks(blocks.pace.blockMs())),
    ifSupported(refusable(simulateCalls(callsOf(operation)))),
  ]);
  const newest = newestBlockOf(fees);
  blocks.saw(newest);
  if (simulated === null) return null;
  const reason =
    priceProblem(operation, fees) ??
    (await bundlingProblem(node, operation, fees)) ??
    paymentProblem(operation, terms, simulated);
  if (reason === null) return { kind: 'pays' };
  // A node that is behind may not have the money, or the account.
  blocks.requireReached(node, newest);
  return { kind: 'rejected', reason };
}

/** What the EntryPoint calls: the factory, by its helper, then the account. */
const callsOf = ({ sender, entryPoint, callData, deployment, ...op }: SponsoredOperation): readonly SimulatedCall[] => [
  ...(deployment === null
    ? []
    : [
        {
          from: getCreateAddress({ from: entryPoint, nonce: 1 }),
          to: deployment.factory,
          data: deployment.data,
          gas: op.verificationGas + gasOfTransaction(deployment.data),
        },
      ]),
  { from: entryPoint, to: sender, data: callData, gas: op.callGas + gasOfTransaction(callData) },
];

const bytesIn = (hex: string): bigint => BigInt((hex.length - 2) / 2);
const gasOfTransaction = (data: string): bigint => TRANSACTION_GAS.base + TRANSACTION_GAS.byte * bytesIn(data);
const gwei = (wei: bigint): string => `${formatAmount(wei, GWEI_DECIMALS)} gwei`;

function priceProblem({ maxFee, maxTip }: SponsoredOperation, fees: FeeHistory): string | null {
  if (maxFee === null) return null;
  const [most, mostNow] = [highestFee(fees), sponsoredFee(fees)];
  if (maxFee > most) return `its maxFeePerGas is ${gwei(maxFee)}, and a sponsor pays ${gwei(most)} at most now`;
  const withTip = baseFeeOf(fees) + (maxTip ?? maxFee);
  // As the EntryPoint has it: both are the same where there was no base fee.
  const now = maxFee === maxTip || maxFee < withTip ? maxFee : withTip;
  return now > mostNow
    ? `it pays ${gwei(now)} for each gas with its maxPriorityFeePerGas, and a sponsor pays ${gwei(mostNow)} at most now`
    : null;
}

/** All of `preVerificationGas` is paid to the bundler, whatever it takes. */
async function bundlingProblem(
  node: RpcNode,
  { sender, callData, deployment, preVerificationGas }: SponsoredOperation,
  fees: FeeHistory,
): Promise<string | null> {
  if (preVerificationGas === null) return null;
  const bytes = `${callData}${deployment?.data.slice(2) ?? ''}`;
  const most = BUNDLING_GAS + TRANSACTION_GAS.byte * bytesIn(bytes);
  if (preVerificationGas <= most) return null;
  const l1Gas = ((await getL1Fee(node, sender, bytes)) * L1_HEADROOM) / (baseFeeOf(fees) + proposedTip(fees));
  return preVerificationGas > most + l1Gas
    ? `its preVerificationGas is ${preVerificationGas}, and a sponsor pays for ${most + l1Gas} at most now`
    : null;
}

function paymentProblem(
  { sender, deployment }: SponsoredOperation,
  { tokenAddress, requestor, amount }: PaymentTerms,
  simulated: readonly Simulated[] | RpcRefusedError,
): string | null {
  if (simulated instanceof RpcRefusedError) return `its simulation fails: ${reasonOf(simulated)}`;
  const failed = simulated.findIndex(({ status }) => status !== 1n);
  if (failed !== -1) {
    const what = failed === 0 && deployment !== null ? 'the deployment of the account' : 'the payment';
    return `${what} would fail: ${simulated[failed]?.error?.message ?? 'it reverts'}`;
  }
  const topics = [TRANSFER, `0x${wordOf(sender)}`, `0x${wordOf(requestor)}`];
  const isPaid = simulated
    .at(-1)
    ?.logs.some(
      ({ address, topics: logged, data }) =>
        (address as string) === tokenAddress &&
        logged.length === topics.length &&
        topics.every((topic, at) => topic === logged[at]) &&
        data !== '0x' &&
        BigInt(data) === amount,
    );
  return isPaid === true ? null : 'the account would not make the payment: its simulation logs no such transfer';
}
