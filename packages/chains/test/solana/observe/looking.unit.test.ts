import { describe, expect, it, jest } from '@jest/globals';
import type { TransactionHash } from '@pf/domain';
import { type RpcCall, type RpcNode, type RpcPool, RpcUpstreamError } from '@pf/rpc';
import { lookAt, lookSoon, lookTwice } from '../../../src/solana/observe/looking.ts';

const HASHES = Array.from({ length: 12 }, (_, number) => `hash ${number}` as TransactionHash);

/** A node that sends so many transactions in time, and none of more. */
function nodeWith(most: number, requests: number[], delivered: 'no' | 'maybe' = 'maybe'): RpcNode {
  const batch = async (calls: readonly RpcCall<unknown>[]): Promise<unknown> => {
    requests.push(calls.length);
    if (calls.length > most) throw new RpcUpstreamError('too late', delivered, undefined, 'timeout');
    return calls.map(() => null);
  };
  return { name: 'node', batch } as unknown as RpcNode;
}

describe('a look at many transactions', () => {
  it('is one request', async () => {
    const requests: number[] = [];
    expect(await lookAt(nodeWith(100, requests), HASHES)).toHaveLength(12);
    expect(requests).toEqual([12]);
  });

  it('takes a few at a time where strangers have made them too much together', async () => {
    const requests: number[] = [];
    expect(await lookAt(nodeWith(5, requests), HASHES)).toHaveLength(12);
    expect(requests).toEqual([12, 5, 5, 2]);
  });

  it('takes each alone where a node is too slow for a few', async () => {
    const requests: number[] = [];
    const looks = await lookAt(nodeWith(1, requests), HASHES);
    expect(looks).toEqual(HASHES.map(() => ({ kind: 'missing', refusal: null })));
    expect(requests).toEqual([12, 5, 1, 1, 1, 1, 1, 5, 1, 1, 1, 1, 1, 2, 1, 1]);
  });

  it('costs no others what a node never sends', async () => {
    const requests: number[] = [];
    const node = nodeWith(100, requests);
    const all = node.batch.bind(node);
    const slow = (call: RpcCall<unknown>): boolean => call.params[0] === HASHES[7];
    node.batch = (calls) =>
      calls.some(slow) ? Promise.reject(new RpcUpstreamError('too late', 'maybe', undefined, 'timeout')) : all(calls);
    const looks = await lookAt(node, HASHES);
    const late = (_hash: TransactionHash, place: number) => ({
      kind: 'missing',
      refusal: place === 7 ? 'too late' : null,
    });
    expect(looks).toEqual(HASHES.map(late));
  });

  it('leaves the rest where none can be had alone, or the time is over, and has an answer to the first', async () => {
    const requests: number[] = [];
    const kinds = (looks: Awaited<ReturnType<typeof lookAt>>): readonly string[] => looks.map(({ kind }) => kind);
    const [missing, left] = [Array<string>(5).fill('missing'), Array<string>(7).fill('left')];
    expect(kinds(await lookAt(nodeWith(0, requests), HASHES))).toEqual([...missing, ...left]);
    expect(requests).toEqual([12, 5, 1, 1, 1, 1, 1]);
    const began = performance.now();
    const passed = jest
      .spyOn(performance, 'now')
      .mockReturnValueOnce(began)
      .mockReturnValue(began + 10_000);
    expect(kinds(await lookAt(nodeWith(1, []), HASHES))).toEqual(['missing', ...Array<string>(11).fill('left')]);
    passed.mockRestore();
  });

  it('has one time for two upstreams together', async () => {
    const second: number[] = [];
    const pool: Pick<RpcPool, 'onAnother'> = { onAnother: (_than, work) => work(nodeWith(1, second)) };
    const began = performance.now();
    const passed = jest
      .spyOn(performance, 'now')
      .mockReturnValueOnce(began)
      .mockReturnValue(began + 10_000);
    const looks = await lookTwice(pool, nodeWith(1, []), HASHES);
    passed.mockRestore();
    expect(second).toEqual([12, 5, 1]);
    expect(looks.map(({ kind }) => kind)).toEqual(['missing', ...Array<string>(11).fill('left')]);
  });

  it('fails where the upstream was not reached', async () => {
    const requests: number[] = [];
    await expect(lookAt(nodeWith(0, requests, 'no'), HASHES)).rejects.toThrow('too late');
    expect(requests).toEqual([12]);
  });
});

describe('a look of a step', () => {
  const never = (hash: TransactionHash): boolean => hash === HASHES[7];
  /** A node that never sends some. @param requests how many were asked for each time, and whether it was to be soon */
  const nodeWithout = (isLate: (hash: TransactionHash) => boolean, requests: (readonly [number, boolean])[]): RpcNode =>
    ({
      name: 'node',
      batch: async (calls: readonly RpcCall<unknown>[]): Promise<unknown> => {
        requests.push([calls.length, calls.every(({ isSoon }) => isSoon === true)]);
        if (calls.some(({ params: [hash] }) => isLate(hash as TransactionHash)))
          throw new RpcUpstreamError('too late', 'maybe', undefined, 'timeout');
        return calls.map(() => null);
      },
    }) as unknown as RpcNode;
  const poolOver = (other: RpcNode): Pick<RpcPool, 'onAnother'> => ({ onAnother: (_than, work) => work(other) });
  const none: Pick<RpcPool, 'onAnother'> = { onAnother: () => Promise.resolve(null) };
  const kinds = (looks: Awaited<ReturnType<typeof lookAt>>): readonly string[] => looks.map(({ kind }) => kind);

  it('asks for each alone where they do not come soon, and takes null for an answer', async () => {
    const requests: (readonly [number, boolean])[] = [];
    const looks = await lookSoon(none, nodeWithout(never, requests), HASHES, 100);
    expect(kinds(looks)).toEqual(HASHES.map((hash) => (never(hash) ? 'late' : 'missing')));
    expect(requests).toEqual([[12, true], ...HASHES.map(() => [1, true])]);
  });

  it('makes no more calls than the plan allows, and one at least', async () => {
    const requests: (readonly [number, boolean])[] = [];
    const looks = await lookSoon(none, nodeWithout(never, requests), HASHES, 15);
    expect(kinds(looks)).toEqual(HASHES.map((_hash, place) => (place < 3 ? 'missing' : 'left')));
    expect(kinds(await lookSoon(none, nodeWithout(never, []), HASHES, 12))).toEqual(
      HASHES.map((_hash, place) => (place < 1 ? 'missing' : 'left')),
    );
    expect(requests).toHaveLength(4);
  });

  it('asks another upstream for what is late only where nothing comes, and once', async () => {
    const [first, second]: (readonly [number, boolean])[][] = [[], []];
    const all = (): boolean => true;
    const looks = await lookSoon(poolOver(nodeWithout(all, second ?? [])), nodeWithout(all, first ?? []), HASHES, 100);
    expect(kinds(looks)).toEqual(HASHES.map(() => 'late'));
    expect([first?.length, second]).toEqual([13, [[12, true]]]);
    const some: (readonly [number, boolean])[] = [];
    await lookSoon(poolOver(nodeWithout(all, some)), nodeWithout(never, []), HASHES, 100);
    // For what the first one does not have.
    expect(some.map(([count]) => count)).toEqual([11, ...Array<number>(11).fill(1)]);
  });
});
