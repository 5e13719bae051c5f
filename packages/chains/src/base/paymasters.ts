import { type Address, formatAmount, type PaymentTerms } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { z } from 'zod';
import type {
  AskedOperation,
  Differences,
  Network,
  OperationJudgment,
  Parsed,
  PaymasterMethod,
  Paymasters,
} from '../port.ts';
import { parseBaseAddress } from './address.ts';
import { decodePayment } from './calldata.ts';
import type { SponsoredOperation } from './sponsored-operation.ts';
import { callsOf } from './user-operations/account-calls.ts';
import { isEntryPoint, isUnpacked } from './user-operations/entry-points.ts';

/** What an operation may cost its sponsor: some ten times a payment at a gas price that Base has seldom seen. */
const COST_MAX = 1_000_000_000_000_000n;
const ETH_DECIMALS = 18;
/** EntryPoint 0.6 takes a deposit of so many times the limit of verification where a paymaster is used. */
const VERIFICATIONS = 3n;
/**
 * What a payment takes, with room: the transfer through an account, and the check of its signature, by a passkey
 * without the chain's precompile, too. For a deployment there is about twice what wallets publish for theirs.
 */
const GAS_MAX = {
  callGasLimit: 300_000n,
  verificationGasLimit: 700_000n,
  paymasterVerificationGasLimit: 300_000n,
  paymasterPostOpGasLimit: 200_000n,
} as const;
const DEPLOYMENT_GAS_MAX = 800_000n;

/** Of calldata, deployment and signature, each: some ten times what they are for the payment of a new account. */
const BYTES_MAX = 8_192;
/** A payment is one call, perhaps within calls of the account to itself. */
const CALLS_MAX = 32;

const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const bytes = z
  .string()
  .max(2 + 2 * BYTES_MAX)
  .regex(/^0x(?:[0-9a-fA-F]{2})*$/);
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/);

/** The fields of a user operation, of all versions of the EntryPoint. Others are not passed on. */
const operation = z.object({
  sender: address,
  nonce: quantity,
  initCode: bytes.optional(),
  factory: address.nullish(),
  factoryData: bytes.nullish(),
  callData: bytes,
  callGasLimit: quantity.optional(),
  verificationGasLimit: quantity.optional(),
  preVerificationGas: quantity.optional(),
  maxFeePerGas: quantity.optional(),
  maxPriorityFeePerGas: quantity.optional(),
  paymasterVerificationGasLimit: quantity.optional(),
  paymasterPostOpGasLimit: quantity.optional(),
  signature: bytes.optional(),
});
type Operation = z.infer<typeof operation>;
/** With a context of the wallet, which is not passed on: what may be asked for is the account's to say. */
const asked = z.tuple([operation, address, quantity]).rest(z.unknown());

/** What a wallet gets: which paymaster, and its data. `isFinal` is left out, so that the limits are seen before. */
const promise = z
  .object({
    sponsor: z.object({ name: z.string().max(100) }).optional(),
    paymaster: address.optional(),
    paymasterData: bytes.optional(),
    paymasterVerificationGasLimit: quantity.optional(),
    paymasterPostOpGasLimit: quantity.optional(),
    paymasterAndData: bytes.optional(),
  })
  .refine(
    ({ paymaster, paymasterData, paymasterAndData }) =>
      paymasterAndData !== undefined || (paymaster !== undefined && paymasterData !== undefined),
  );

/**
 * What a wallet gets that has said no limits of gas: estimates need no more. A final one would be a promise of any gas.
 */
const estimate = z.object({ isFinal: z.literal(false).optional() }).and(promise);

const LIMITS = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas', 'maxFeePerGas'] as const;

/** Asks the chain of an operation: null where no upstream that responds can simulate it. */
type Judge = (operation: SponsoredOperation, terms: PaymentTerms) => Promise<OperationJudgment | null>;

/** Paymaster services of ERC-7677, for the smart accounts of ERC-4337. */
export const paymastersOf = (network: Network, judge: Judge): Paymasters => ({
  parse(method: PaymasterMethod, params: readonly unknown[]): Parsed<AskedOperation> {
    const read = asked.safeParse(params);
    if (!read.success) return malformed(problemIn(read.error));
    const [op, entryPoint, chainId] = read.data;
    if (BigInt(chainId) !== BigInt(network.chain.slice('eip155:'.length)))
      return malformed(`is for the chain ${BigInt(chainId)}, and the payment is on ${network.chain}`);
    const canonical = getAddress(entryPoint.toLowerCase());
    if (!isEntryPoint(canonical)) return malformed(`names an EntryPoint that is not known: ${entryPoint}`);
    const sender = parseBaseAddress(network, op.sender);
    if (!sender.ok) return malformed(`names a sender that ${sender.problem}`);
    const missing = LIMITS.find((field) => op[field] === undefined);
    if (missing !== undefined && method === 'pm_getPaymasterData') return malformed(`has no ${missing}`);
    const result = missing === undefined ? promise : estimate;
    const isOldest = isUnpacked(canonical);
    const deployment = deploymentOf(op, isOldest);
    if (deployment === 'malformed') return malformed('deploys its account by no valid factory');
    return {
      ok: true,
      value: {
        sender: sender.value,
        excess: excessOf(op, isOldest, deployment !== null),
        differences: (terms) => differencesOf(sender.value, op.callData, terms),
        judge: (terms) =>
          judge(
            {
              sender: sender.value,
              entryPoint: canonical as Address,
              callData: op.callData,
              deployment,
              callGas: numberIn(op.callGasLimit) ?? GAS_MAX.callGasLimit,
              verificationGas: numberIn(op.verificationGasLimit) ?? GAS_MAX.verificationGasLimit + DEPLOYMENT_GAS_MAX,
              preVerificationGas: numberIn(op.preVerificationGas),
              maxFee: numberIn(op.maxFeePerGas),
              maxTip: numberIn(op.maxPriorityFeePerGas),
            },
            terms,
          ),
        call: (context) => ({ method, params: [op, entryPoint, chainId, context], result }),
      },
    };
  },
});

const malformed = (problem: string): Parsed<AskedOperation> => ({ ok: false, problem });
const eth = (wei: bigint): string => `${formatAmount(wei, ETH_DECIMALS)} ETH`;

function problemIn({ issues: [issue] }: z.ZodError): string {
  const [place, field] = issue?.path ?? [];
  const names = ['user operation', 'EntryPoint', 'chain id'];
  const name = typeof place === 'number' ? (names[place] ?? 'params') : 'params';
  return `has no valid ${field === undefined ? name : `${String(field)} in the ${name}`}`;
}

/** Null where it is not known yet. */
const numberIn = (text: string | undefined): bigint | null => (text === undefined ? null : BigInt(text));

const EVM_ADDRESS_LENGTH = 42;
/** How the account of an operation is deployed; null where it exists. */
function deploymentOf(
  { initCode, factory, factoryData }: Operation,
  isOldest: boolean,
): SponsoredOperation['deployment'] | 'malformed' {
  if (!isOldest) return factory ? { factory, data: factoryData ?? '0x' } : null;
  if (initCode === undefined || initCode === '0x') return null;
  const named = initCode.slice(0, EVM_ADDRESS_LENGTH);
  return address.safeParse(named).success
    ? { factory: named, data: `0x${initCode.slice(EVM_ADDRESS_LENGTH)}` }
    : 'malformed';
}

/** Why it may cost more than any payment, whatever the chain asks for now. */
function excessOf(op: Operation, isOldest: boolean, isDeployed: boolean): string | null {
  for (const [field, most] of Object.entries(GAS_MAX)) {
    const asked = numberIn(op[field as keyof typeof GAS_MAX]) ?? 0n;
    const allowed = most + (field === 'verificationGasLimit' && isDeployed ? DEPLOYMENT_GAS_MAX : 0n);
    if (asked > allowed) return `its ${field} is ${asked}, and a payment takes less than ${allowed}`;
  }
  const cost = costOf(op, isOldest);
  return cost > COST_MAX ? `it may cost ${eth(cost)}, and a sponsor pays ${eth(COST_MAX)} at most` : null;
}

/** Wei at most. What is not known yet counts as nothing. */
function costOf(op: Operation, isOldest: boolean): bigint {
  const of = (text: string | undefined): bigint => numberIn(text) ?? 0n;
  const gas =
    of(op.callGasLimit) +
    of(op.verificationGasLimit) * (isOldest ? VERIFICATIONS : 1n) +
    of(op.preVerificationGas) +
    of(op.paymasterVerificationGasLimit) +
    of(op.paymasterPostOpGasLimit);
  return gas * of(op.maxFeePerGas);
}

/** The account must make one call: the transfer of these terms. */
function differencesOf(sender: AskedOperation['sender'], callData: string, terms: PaymentTerms): Differences {
  const calls = callsOf(sender, Buffer.from(callData.slice(2), 'hex'), CALLS_MAX);
  const [only, another] = calls ?? [];
  if (only === undefined || another !== undefined)
    return { calls: { expected: '1', actual: calls === null ? null : String(calls.length) } };
  const payment = decodePayment(`0x${only.data.toString('hex')}`);
  const found: Readonly<Record<string, readonly [expected: string, actual: string | null]>> = {
    token: [terms.tokenAddress, only.to],
    recipient: [terms.requestor, payment?.to ?? null],
    amount: [terms.amount.toString(), payment?.amount.toString() ?? null],
    reference: [terms.reference, payment?.reference ?? null],
    data: ['the payment', payment === null || payment.clean ? 'the payment' : 'the payment and more'],
  };
  return Object.fromEntries(
    Object.entries(found)
      .filter(([, [expected, actual]]) => expected !== actual)
      .map(([name, [expected, actual]]) => [name, { expected, actual }]),
  );
}
