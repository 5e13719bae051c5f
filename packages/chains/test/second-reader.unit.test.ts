import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { SecondReader } from '../src/second-reader.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const node = { name: 'node.example' } as RpcNode;
/** The second upstream is unavailable. */
const alonePool = {
  size: 2,
  run: (work: (by: RpcNode) => unknown) => work(node),
  doubleCheck: async (
    by: RpcNode,
    _first: null,
    work: (by: RpcNode) => Promise<unknown>,
    _lacks: unknown,
    { alone }: { readonly alone: boolean },
  ) => (alone ? [await work(by)] : null),
} as unknown as RpcPool;

describe('a reading beside the steps of what makes payments final', () => {
  it('brings nothing by one alone, and is made again by no step', async () => {
    const reader = new SecondReader(alonePool, () => 0, {
      read: (by) => Promise.resolve(by.name),
      isLacking: () => false,
      isUnread: () => false,
    });
    reader.collect().begin(HASH, 1n);
    await setImmediate();
    const { come, reads } = reader.collect();
    expect([...come]).toEqual([[HASH, null]]);
    expect(reads.isKnown(HASH)).toBe(true);
  });

  it('leaves no time for more where the step has waited for what is late', () => {
    const reader = new SecondReader(alonePool, () => 0, {
      read: () => Promise.resolve(''),
      isLacking: () => false,
      isUnread: () => false,
    });
    const step = reader.collect();
    step.waited(300);
    expect(step.hasTime()).toBe(true);
    step.waited(300);
    expect(step.hasTime()).toBe(false);
    expect(reader.collect().hasTime()).toBe(true);
  });
});
