import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import fc from 'fast-check';
import { concat, encodeAbiParameters, encodeFunctionData, type Hex, pad, parseAbi, toHex } from 'viem';
import { encodePayment } from '../../../src/base/calldata.ts';
import { callsOf } from '../../../src/base/user-operations/account-calls.ts';
import { terms } from '../payments.ts';

const ACCOUNT = '0x2C82Ea4567b5a64A910e6BCE4B0158e483D1d5E6' as Address;
const USDC = terms.tokenAddress as string as Address;

const abi = parseAbi([
  'struct Call { address to; uint256 value; bytes data; }',
  'function execute(address to, uint256 value, bytes data)',
  'function execute(bytes32 mode, bytes executionData)',
  'function executeBatch(Call[] calls)',
]);
const bufferOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
const payment = (): Hex => encodePayment(terms.requestor, terms.amount, terms.reference) as Hex;
const execute = (to: Address, data: Hex): Hex =>
  encodeFunctionData({ abi, functionName: 'execute', args: [to as string as Hex, 0n, data] });
const executeBatch = (calls: readonly (readonly [Address, Hex])[]): Hex =>
  encodeFunctionData({
    abi,
    functionName: 'executeBatch',
    args: [calls.map(([to, data]) => ({ to: to as string as Hex, value: 0n, data }))],
  });
const uint = (value: bigint): Hex => toHex(value, { size: 32 });
const callsIn = (calldata: Hex): unknown => callsOf(ACCOUNT, bufferOf(calldata))?.map(({ to }) => to) ?? null;

describe('the calls of an account', () => {
  it('are opened where the account calls itself, up to a depth', () => {
    const nested = (depth: number): Hex =>
      depth === 0 ? execute(USDC, payment()) : executeBatch([[ACCOUNT, nested(depth - 1)]]);
    expect(callsIn(nested(3))).toEqual([USDC]);
    expect(callsIn(nested(4))).toEqual([ACCOUNT]);
  });

  it('are unknown when there are more than 256, also in calls that repeat each other', () => {
    const many = (length: number): Hex => executeBatch(Array.from({ length }, () => [USDC, payment()] as const));
    expect(callsIn(many(256))).toHaveLength(256);
    expect(callsIn(many(257))).toBeNull();
    expect(callsIn(executeBatch(Array.from({ length: 20 }, () => [ACCOUNT, many(20)] as const)))).toBeNull();
  });

  it('are of the account itself where a mode names none, and nowhere else', () => {
    const zero = `0x${'00'.repeat(20)}` as Address;
    const batch = executeBatch([[zero, execute(USDC, payment())]]);
    expect(callsIn(batch)).toEqual([zero]);
    const args = [pad('0x01', { dir: 'right' }), `0x${batch.slice(10)}`] as const;
    expect(callsIn(encodeFunctionData({ abi, functionName: 'execute', args }))).toEqual([USDC]);
  });

  it('are unknown for delegate calls, static calls and other functions', () => {
    const data = encodeAbiParameters([{ type: 'address' }, { type: 'bytes' }], [USDC as string as Hex, payment()]);
    for (const type of ['0xff', '0xfe', '0x02'] as const)
      expect(
        callsIn(encodeFunctionData({ abi, functionName: 'execute', args: [pad(type, { dir: 'right' }), data] })),
      ).toBeNull();
    expect(callsIn(payment())).toBeNull();
  });

  it('are read in no time when all offsets name the same bytes', () => {
    // 4,000 elements, each of which is the whole of the calldata.
    const head = concat(['0x34fcd5be', uint(32n), uint(4_000n), ...Array.from({ length: 4_000 }, () => uint(0n))]);
    // The time of the processor, which other work does not take.
    const began = process.cpuUsage();
    expect(callsIn(head)).toBeNull();
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});

describe('calldata that anyone can write', () => {
  const good = [
    executeBatch([[USDC, payment()]]),
    executeBatch([[ACCOUNT, execute(USDC, payment())]]),
    encodeFunctionData({
      abi,
      functionName: 'execute',
      args: [
        pad('0x0100000000007821000200', { dir: 'right', size: 32 }),
        encodeAbiParameters([{ type: 'bytes[]' }], [[payment()]]),
      ],
    }),
  ].map(bufferOf);

  it('never throws, whatever is changed in it, and has no call that is not in it', () => {
    const change = fc.record({
      of: fc.nat(good.length - 1),
      at: fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 6 }),
      end: fc.nat(3_000),
    });
    fc.assert(
      fc.property(change, ({ of, at, end }) => {
        const bytes = Buffer.from(good[of] ?? Buffer.alloc(0));
        for (const [place, value] of at) if (place < bytes.length) bytes[place] = value;
        const calldata = bytes.subarray(0, end);
        for (const { data } of callsOf(ACCOUNT, calldata) ?? []) expect(calldata.includes(data)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
