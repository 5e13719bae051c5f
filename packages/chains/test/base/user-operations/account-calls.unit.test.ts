import { describe, expect, it } from '@jest/globals';
import type { Address } from '@pf/domain';
import { leastCpu } from '@pf/testing/quiet-core';
import { concat, encodeAbiParameters, encodeFunctionData, type Hex, pad } from 'viem';
import { callsOf } from '../../../src/base/user-operations/account-calls.ts';
import { abi, ACCOUNT, bufferOf, execute, executeBatch, payment, readChanged, uint, USDC } from '../nested/written.ts';

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

  it('are unknown when more than 256 were read, also in calls that end too early', () => {
    const offsets = [...Array.from({ length: 19 }, () => uint(640n)), uint(0xff_ff_ffn)];
    const call = [pad(USDC as string as Hex), uint(0n), uint(96n), uint(0n)];
    const cutOff = concat(['0x34fcd5be', uint(32n), uint(20n), ...offsets, ...call]);
    const times = (length: number): Hex => executeBatch(Array.from({ length }, () => [ACCOUNT, cutOff] as const));
    expect(callsIn(times(12))).toHaveLength(12);
    expect(callsIn(times(20))).toBeNull();
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
    expect(callsIn(head)).toBeNull();
    expect(leastCpu(() => callsIn(head))).toBeLessThan(1_000);
  });
});

describe('calldata that anyone can write', () => {
  it('never throws, whatever is changed in it, and has no call that is not in it', () => {
    readChanged(executeBatch([[USDC, payment()]]), (calldata) => {
      for (const { data } of callsOf(ACCOUNT, calldata) ?? []) expect(calldata.includes(data)).toBe(true);
    });
  });
});
