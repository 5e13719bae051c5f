import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { doubleCheckSoon, SecondReader } from '../src/second-reader.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const RECIPIENT = `0x${'cd'.repeat(20)}` as Address;
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
      unread: () => '',
    });
    reader.collect().begin({ hash: HASH, block: 1n, recipient: RECIPIENT });
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
      unread: () => '',
    });
    const step = reader.collect();
    step.waited(300);
    expect(step.hasTime()).toBe(true);
    step.waited(300);
    expect(step.hasTime()).toBe(false);
    expect(reader.collect().hasTime()).toBe(true);
  });
});

describe('upstreams that are asked in a step', () => {
  it('have all that one has not returned in time read beside it, also where the next knows the others', async () => {
    const pool = {
      doubleCheck: async (
        by: RpcNode,
        _first: null,
        work: (by: RpcNode) => Promise<ReadonlySet<string>>,
        lacks: (shown: ReadonlySet<string>) => boolean,
      ) => {
        expect(lacks(await work({ name: 'second.example' } as RpcNode))).toBe(true);
        return [await work({ name: 'third.example' } as RpcNode), await work(by)];
      },
    } as unknown as RpcPool;
    const asked: string[] = [];
    const { late } = await doubleCheckSoon(pool, node, null, ['late', 'lacking', 'shown'], {
      ask: ({ name }, some) => {
        asked.push(`${name} ${some.join(' ')}`);
        return Promise.resolve(new Set(name === 'second.example' ? ['shown'] : some));
      },
      isLate: (shown, one) => one === 'late' && !shown.has(one),
      isLacking: (shown, one) => !shown.has(one),
    });
    expect(asked).toEqual([
      'second.example late lacking shown',
      'third.example lacking shown',
      'node.example lacking shown',
    ]);
    expect([...late]).toEqual(['late']);
  });
});
