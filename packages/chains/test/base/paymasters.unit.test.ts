import { describe, expect, it } from '@jest/globals';
import type { Address, Reference } from '@pf/domain';
import { concat, encodeFunctionData, type Hex, parseAbi, toHex } from 'viem';
import { encodePayment } from '../../src/base/calldata.ts';
import { paymastersOf } from '../../src/base/paymasters.ts';
import type { SponsoredOperation } from '../../src/base/sponsored-operation.ts';
import { networkOf, type PaymasterMethod } from '../../src/index.ts';
import { CHAIN, terms, tokenOf } from './payments.ts';

const ACCOUNT = '0x2C82Ea4567b5a64A910e6BCE4B0158e483D1d5E6' as Address;
const ENTRY_POINTS = {
  '0.6': '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
  '0.7': '0x0000000071727De22E5E9d8BAf0edAc6f37da032',
} as const;
const GWEI = 1_000_000_000n;
const abi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address to, uint256 value, bytes data)',
  'function executeBatch(Call[] calls)',
]);
let judged: SponsoredOperation | undefined;
const paymasters = paymastersOf(networkOf(CHAIN), (of) => {
  judged = of;
  return Promise.resolve(null);
});
const payment = (change: Partial<typeof terms> = {}): Hex => {
  const { requestor, amount, reference } = { ...terms, ...change };
  return encodePayment(requestor, amount, reference) as Hex;
};
const execute = (data: Hex, token: string = terms.tokenAddress): Hex =>
  encodeFunctionData({ abi, functionName: 'execute', args: [token as Hex, 0n, data] });
const operation = (callData: Hex, change: object = {}) => ({
  sender: ACCOUNT,
  nonce: '0x0',
  callData,
  callGasLimit: toHex(100_000),
  verificationGasLimit: toHex(200_000),
  preVerificationGas: toHex(50_000),
  maxFeePerGas: toHex(GWEI),
  maxPriorityFeePerGas: '0x1',
  signature: '0x',
  ...change,
});
interface Asking {
  readonly method?: PaymasterMethod;
  readonly entryPoint?: string;
  readonly chainId?: number;
}
const parse = (
  op: object,
  { method = 'pm_getPaymasterData', entryPoint = ENTRY_POINTS['0.7'], chainId = 84_532 }: Asking = {},
) => paymasters.parse(method, [op, entryPoint, toHex(chainId), { policyId: 'of the wallet' }]);
function parsed(...args: Parameters<typeof parse>) {
  const result = parse(...args);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
}
const problemOf = (...args: Parameters<typeof parse>): string => {
  const result = parse(...args);
  return result.ok ? 'none' : result.problem;
};
const differing = (callData: Hex): readonly string[] =>
  Object.keys(parsed(operation(callData)).differences(terms)).toSorted();

describe('an operation for which a paymaster is asked', () => {
  it('is the payment, by one call of the account, alone or in a batch', () => {
    const batch = encodeFunctionData({
      abi,
      functionName: 'executeBatch',
      args: [[{ to: terms.tokenAddress as string as Hex, value: 0n, data: payment() }]],
    });
    const suffix = '0x07626173655f747800802180218021802180218021802180218021' as const;
    expect([execute(payment()), batch].map(differing)).toEqual([[], []]);
    // Wallets put ERC-8021's suffix behind their calldata.
    expect(differing(concat([execute(payment()), suffix]))).toEqual([]);
    expect(parsed(operation(execute(payment()))).sender).toBe(ACCOUNT);
  });

  it.each([
    ['another recipient', execute(payment({ requestor: ACCOUNT })), ['recipient']],
    ['another amount', execute(payment({ amount: 1n })), ['amount']],
    ['another reference', execute(payment({ reference: `0x${'0e'.repeat(32)}` as Reference })), ['reference']],
    ['another token', execute(payment(), tokenOf('EURC').address), ['token']],
    ['more data than the payment', execute(concat([payment(), '0x1234'])), ['data']],
    ['no transfer', execute('0x095ea7b3'), ['amount', 'recipient', 'reference']],
    ['calldata that no account is known to take', payment(), ['calls']],
    ['no calldata', '0x', ['calls']],
  ] as const)('differs from its terms with %s', (_, callData, differs) => {
    expect(differing(callData)).toEqual(differs);
  });

  it('makes no call beside the payment', () => {
    const call = (data: Hex) => ({ to: terms.tokenAddress as string as Hex, value: 0n, data });
    const twice = [call(payment()), call(payment({ requestor: ACCOUNT }))];
    const callData = encodeFunctionData({ abi, functionName: 'executeBatch', args: [twice] });
    expect(parsed(operation(callData)).differences(terms)).toEqual({ calls: { expected: '1', actual: '2' } });
  });

  it('may cost 0.001 ETH, with all of its limits', () => {
    const of = (gas: bigint, change: object = {}, entryPoint: string = ENTRY_POINTS['0.7']) =>
      parsed(operation(execute(payment()), { preVerificationGas: toHex(gas), ...change }), { entryPoint }).excess;
    expect(of(700_000n)).toBeNull();
    expect(of(700_001n)).toBe('it may cost 0.001000001 ETH, and a sponsor pays 0.001 ETH at most');
    expect(of(700_000n, { paymasterVerificationGasLimit: '0x1' })).toContain('0.001000001');
    // Of version 0.6 the EntryPoint takes the limit of verification three times.
    expect(of(300_000n, {}, ENTRY_POINTS['0.6'])).toBeNull();
    expect(of(300_001n, {}, ENTRY_POINTS['0.6'])).toContain('0.001000001');
  });

  it.each([
    ['callGasLimit', 300_000],
    ['verificationGasLimit', 700_000],
    ['paymasterVerificationGasLimit', 300_000],
    ['paymasterPostOpGasLimit', 200_000],
  ])('has gas for a payment, and for its deployment: %s', (field, most) => {
    const of = (gas: number, change: object = {}) =>
      parsed(operation(execute(payment()), { [field]: toHex(gas), maxFeePerGas: '0x1', ...change })).excess;
    expect(of(most)).toBeNull();
    expect(of(most + 1)).toBe(`its ${field} is ${most + 1}, and a payment takes less than ${most}`);
    const isDeployment = field === 'verificationGasLimit';
    const more = most + 800_000;
    expect(of(more, { factory: ACCOUNT, factoryData: '0x12' })).toEqual(isDeployment ? null : expect.any(String));
    expect(of(more + 1, { factory: ACCOUNT, factoryData: '0x12' })).toContain('and a payment takes less than');
  });

  it('is simulated with its deployment, in the form of its EntryPoint', async () => {
    const judge = async (change: object, entryPoint: string) => {
      await parsed(operation(execute(payment()), change), { entryPoint }).judge(terms);
      return judged?.deployment;
    };
    const deployment = { factory: ACCOUNT.toLowerCase(), data: '0x1234' };
    const initCode = concat([ACCOUNT as string as Hex, '0x1234']);
    expect(await judge({ initCode: initCode.toLowerCase() }, ENTRY_POINTS['0.6'])).toEqual(deployment);
    expect(await judge({ initCode: '0x' }, ENTRY_POINTS['0.6'])).toBeNull();
    expect(await judge({ factory: ACCOUNT.toLowerCase(), factoryData: '0x1234' }, ENTRY_POINTS['0.7'])).toEqual(
      deployment,
    );
    expect(await judge({}, ENTRY_POINTS['0.7'])).toBeNull();
    expect(problemOf(operation(execute(payment()), { initCode: '0x12' }), { entryPoint: ENTRY_POINTS['0.6'] })).toBe(
      'deploys its account by no valid factory',
    );
    expect(judged).toMatchObject({ sender: ACCOUNT, callGas: 100_000n, verificationGas: 200_000n });
  });

  it('needs gas limits, except in the stub request', () => {
    const without = operation(execute(payment()), { callGasLimit: undefined, maxFeePerGas: undefined });
    expect(problemOf(without)).toBe('has no callGasLimit');
    expect(parsed(without, { method: 'pm_getPaymasterStubData' }).excess).toBeNull();
  });

  it('is for this chain, and a known EntryPoint', () => {
    const good = operation(execute(payment()));
    expect(problemOf(good, { chainId: 8453 })).toContain('is for the chain 8453');
    expect(problemOf(good, { entryPoint: ACCOUNT })).toContain('names an EntryPoint that is not known');
    expect(problemOf({ ...good, sender: '0x0000000000000000000000000000000000000000' })).toContain('names a sender');
    expect(problemOf({ ...good, callData: 'x' })).toBe('has no valid callData in the user operation');
    expect(problemOf(good, { entryPoint: 'x' })).toBe('has no valid EntryPoint');
    expect(paymasters.parse('pm_getPaymasterData', [])).toMatchObject({ ok: false });
  });

  it("is forwarded with the account's context instead of the wallet's", () => {
    const { call } = parsed(operation(execute(payment()), { more: 'of this' }));
    expect(call({ policyId: 'of the account' })).toMatchObject({
      method: 'pm_getPaymasterData',
      params: [operation(execute(payment())), ENTRY_POINTS['0.7'], '0x14a34', { policyId: 'of the account' }],
    });
  });

  it.each([
    [{ paymasterAndData: '0x12' }, { paymasterAndData: '0x12' }],
    [
      { paymaster: ACCOUNT, paymasterData: '0x', isFinal: true },
      { paymaster: ACCOUNT, paymasterData: '0x' },
    ],
    [
      { sponsor: { name: 'Shop', icon: 'https://x' }, paymasterAndData: '0x' },
      { sponsor: { name: 'Shop' }, paymasterAndData: '0x' },
    ],
    [{ paymaster: ACCOUNT }, null],
    [{ paymasterAndData: 'as you like' }, null],
    ['0x', null],
  ])('returns what wallets need of the response %j', (answer, gets) => {
    const read = parsed(operation(execute(payment())))
      .call({})
      .result.safeParse(answer);
    expect(read.success ? read.data : null).toEqual(gets);
  });

  it('passes a final stub on only where the limits were seen: without them it would promise any gas', () => {
    const stub = { paymaster: ACCOUNT, paymasterData: '0x' };
    const method = 'pm_getPaymasterStubData';
    const unlimited = operation(execute(payment()), { callGasLimit: undefined, maxFeePerGas: undefined });
    const accepts = (op: object, isFinal: boolean): boolean =>
      parsed(op, { method })
        .call({})
        .result.safeParse({ ...stub, isFinal }).success;
    expect([accepts(unlimited, true), accepts(unlimited, false)]).toEqual([false, true]);
    expect(accepts(operation(execute(payment())), true)).toBe(true);
  });
});
