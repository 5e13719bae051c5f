import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Address, TransactionHash } from '@pf/domain';
import { RpcUnavailableError, RpcUpstreamError } from '@pf/rpc';
import { LateReads } from '../src/late-reads.ts';

const [FIRST, SECOND, THIRD, FOURTH] = ['first', 'second', 'third', 'fourth'] as unknown as readonly [
  TransactionHash,
  TransactionHash,
  TransactionHash,
  TransactionHash,
];
const [CROWDED, ALONE] = ['crowded', 'alone'] as unknown as readonly [Address, Address];

describe('reads beside the steps', () => {
  let now: number;
  let reads: LateReads<string>;
  beforeEach(() => {
    now = 0;
    reads = new LateReads(() => now);
  });
  /** Begins to read it. @returns what ends that */
  function begin(hash: TransactionHash): PromiseWithResolvers<string> & { readonly hasBegun: boolean } {
    const read = Promise.withResolvers<string>();
    reads.note(hash);
    return { ...read, hasBegun: reads.begin(hash, () => read.promise) };
  }
  /** It comes at once. */
  const beginInTurn = (begun: string[], hash: TransactionHash, recipient: Address): void =>
    reads.beginInTurn(hash, recipient, (one) => {
      begun.push(one);
      return Promise.resolve('nothing');
    });
  /** What has come, once all that is settled was told. */
  const collected = async (): Promise<readonly (readonly [string, string])[]> => {
    await Promise.resolve();
    await Promise.resolve();
    return [...reads.collect()];
  };

  it('are two at a time, each once', async () => {
    const first = begin(FIRST);
    expect([first.hasBegun, begin(FIRST).hasBegun, begin(SECOND).hasBegun]).toEqual([true, false, true]);
    expect([begin(THIRD).hasBegun, reads.room]).toEqual([false, 0]);
    first.resolve('shown');
    expect(await collected()).toEqual([[FIRST, 'shown']]);
    expect([begin(THIRD).hasBegun, reads.room]).toEqual([true, 0]);
  });

  it('go by turns where they are begun so, also those that are wanted once', async () => {
    const begun: string[] = [];
    const want = (hash: TransactionHash): void => beginInTurn(begun, hash, CROWDED);
    for (const hash of [FIRST, SECOND, THIRD, FOURTH]) want(hash);
    expect(begun).toEqual([FIRST, SECOND]);
    await collected();
    expect(begun).toEqual([FIRST, SECOND, THIRD, FOURTH]);
    want(FIRST);
    want(THIRD);
    await collected();
    expect(begun).toEqual([FIRST, SECOND, THIRD, FOURTH, FIRST]);
  });

  it('go by turns of the recipients: a crowd of payments to one delays those to another by one turn', async () => {
    const begun: string[] = [];
    const crowd = Array.from({ length: 9 }, (_, at) => `crowd${at}` as TransactionHash);
    for (const hash of crowd) beginInTurn(begun, hash, CROWDED);
    beginInTurn(begun, FIRST, ALONE);
    beginInTurn(begun, SECOND, ALONE);
    for (let step = 0; step < 3; step += 1) await collected();
    expect(begun).toEqual([crowd[0], crowd[1], crowd[2], FIRST, crowd[3], SECOND, crowd[4], crowd[5]]);
  });

  it('read each of several to one recipient beside a crowd to others that is never returned', async () => {
    const begun: string[] = [];
    const name = (what: string, at: number) => `${what}${at}` as TransactionHash;
    const mine = [0, 1, 2].map((at) => name('mine', at));
    const [first] = mine as [TransactionHash];
    for (let step = 0; step < 200; step += 1) {
      // Whatever does not wait is wanted again.
      for (let at = 0; at < 40; at += 1) beginInTurn(begun, name('crowd', at), `alone${at}` as Address);
      for (const hash of mine) if (!begun.includes(hash)) beginInTurn(begun, hash, CROWDED);
      await collected();
    }
    expect(mine.map((hash) => begun.filter((one) => one === hash))).toEqual(mine.map((hash) => [hash]));
    expect(begun.indexOf(first)).toBeLessThan(45);
  });

  it('give one of a crowd’s places to a recipient who has none, where all are taken', async () => {
    const begun: string[] = [];
    for (let at = 0; at < 10_100; at += 1) beginInTurn(begun, `crowd${at}` as TransactionHash, CROWDED);
    beginInTurn(begun, FIRST, ALONE);
    await collected();
    expect(begun).toEqual(['crowd0', 'crowd1', 'crowd2', FIRST]);
  });

  it('bring what has come to one step, and say until then that none asks for it', async () => {
    const first = begin(FIRST);
    expect(await collected()).toEqual([]);
    expect(reads.isKnown(FIRST)).toBe(true);
    first.resolve('shown');
    expect(await collected()).toEqual([[FIRST, 'shown']]);
    expect(await collected()).toEqual([]);
    expect(reads.isKnown(FIRST)).toBe(false);
  });

  it('bring what has taken as long as it may, and has waited for the end of a step that did', async () => {
    const first = begin(FIRST);
    now = 59_000;
    first.resolve('shown');
    expect(await collected()).toEqual([[FIRST, 'shown']]);
  });

  it.each([
    ['began a minute ago', () => (now = 60_000)],
    ['began before the chain has changed', () => reads.forget()],
  ])('bring nothing of one that %s, which is read again', async (_when, passes) => {
    const first = begin(FIRST);
    passes();
    first.resolve('shown');
    expect(await collected()).toEqual([]);
    expect([reads.isKnown(FIRST), reads.room]).toEqual([true, 2]);
    begin(FIRST).resolve('shown');
    expect(await collected()).toEqual([[FIRST, 'shown']]);
  });

  it.each([
    ['the pool has no upstream left', new RpcUnavailableError('no RPC upstream responds')],
    ['an upstream is at fault', new RpcUpstreamError('it takes no more calls', 'no', undefined, 'throttled')],
  ])('leave it due where %s, which the pool has told of', async (_why, error) => {
    begin(FIRST).reject(error);
    expect(await collected()).toEqual([]);
    expect([reads.isKnown(FIRST), reads.room]).toEqual([true, 2]);
  });

  it('fail the step for any other error', async () => {
    begin(FIRST).reject(new TypeError('a bug'));
    await expect(collected()).rejects.toThrow('a bug');
  });
});
