import { formatAmount, type PaymentTerms } from '@pf/domain';
import { getAddress } from 'ethers/address';
import { z } from 'zod';
import { parseWalletAddress } from '../evm/address.ts';
import type { AskedOperation, Differences, Network, Parsed, PaymasterMethod, Paymasters } from '../port.ts';
import { decodePayment } from './calldata.ts';
import { callsOf } from './user-operations/account-calls.ts';
import { isEntryPoint, isUnpacked } from './user-operations/entry-points.ts';

/** What an operation may cost its sponsor: some ten times a payment at a gas price that Base has seldom seen. */
const COST_MAX = 1_000_000_000_000_000n;
const ETH_DECIMALS = 18;
/** EntryPoint 0.6 takes a deposit of so many times the limit of verification where a paymaster is used. */
const VERIFICATIONS = 3n;

const quantity = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const bytes = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/);
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

const LIMITS = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas', 'maxFeePerGas'] as const;

/** Paymaster services of ERC-7677, for the smart accounts of ERC-4337. */
export const paymastersOf = (network: Network): Paymasters => ({
  parse(method: PaymasterMethod, params: readonly unknown[]): Parsed<AskedOperation> {
    const read = asked.safeParse(params);
    if (!read.success) return malformed(problemIn(read.error));
    const [op, entryPoint, chainId] = read.data;
    if (BigInt(chainId) !== BigInt(network.chain.slice('eip155:'.length)))
      return malformed(`is for the chain ${BigInt(chainId)}, and the payment is on ${network.chain}`);
    const canonical = getAddress(entryPoint.toLowerCase());
    if (!isEntryPoint(canonical)) return malformed(`names an EntryPoint that is not known: ${entryPoint}`);
    const sender = parseWalletAddress(network, op.sender);
    if (!sender.ok) return malformed(`names a sender that ${sender.problem}`);
    const missing = method === 'pm_getPaymasterData' ? LIMITS.find((field) => op[field] === undefined) : undefined;
    if (missing !== undefined) return malformed(`has no ${missing}`);
    const cost = costOf(op, isUnpacked(canonical));
    return {
      ok: true,
      value: {
        sender: sender.value,
        excess: cost > COST_MAX ? `it may cost ${eth(cost)}, and a sponsor pays ${eth(COST_MAX)} at most` : null,
        differences: (terms) => differencesOf(sender.value, op.callData, terms),
        call: (context) => ({ method, params: [op, entryPoint, chainId, context], result: promise }),
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

/** Wei at most. What is not known yet counts as nothing. */
function costOf(op: Operation, isOldest: boolean): bigint {
  const of = (text: string | undefined): bigint => (text === undefined ? 0n : BigInt(text));
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
  const calls = callsOf(sender, Buffer.from(callData.slice(2), 'hex'));
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
