import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Found, ProjectionBatch, Wanted } from '@pf/database';
import { gatheredLedger } from '../src/gathered-ledger.ts';

const wanted = (partition: number): Wanted => ({ partition, ids: [], keys: [], commandIds: [] });
const batch = (partition: number): ProjectionBatch => ({
  ...{ partition, from: 0n, next: 2n, lastAt: 0, intents: [], events: [], outcomes: [] },
});
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A statement that the test ends. */
interface Statement {
  readonly partitions: readonly number[];
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}

describe('The gathered ledger', () => {
  let statements: Statement[];
  let ledger: ReturnType<typeof gatheredLedger>;
  beforeEach(() => {
    // On a busy machine a turn may take longer than a statement holds others back.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    statements = [];
    const state = <Result>(items: readonly { readonly partition: number }[], result: Result): Promise<Result> =>
      new Promise((resolve, fail) =>
        statements.push({ partitions: items.map(({ partition }) => partition), end: () => resolve(result), fail }),
      );
    ledger = gatheredLedger({
      checkpointAll: (all: readonly number[]) =>
        state(
          all.map((partition) => ({ partition })),
          all.map((partition) => ({ position: BigInt(partition), lastAt: 0 })),
        ),
      lookUpAll: (all: readonly Wanted[]) =>
        state(
          all,
          all.map(({ partition }): Found => ({
            position: BigInt(partition),
            intents: [],
            outcomes: [],
            deposits: [],
            cold: [],
          })),
        ),
      // The checkpoint of partition 9 is elsewhere.
      projectAll: (all: readonly ProjectionBatch[]) =>
        state(all, new Set(all.map(({ partition }) => partition).filter((partition) => partition !== 9))),
    });
  });
  afterEach(() => void jest.useRealTimers());
  const asked = (): (readonly number[])[] => statements.map(({ partitions }) => partitions);

  it('reads in one statement the checkpoints that several partitions compare in one turn', async () => {
    const read = Promise.all([2, 0, 5].map((partition) => ledger.checkpoint(partition)));
    await settled();
    expect(asked()).toEqual([[2, 0, 5]]);
    statements[0]?.end();
    expect((await read).map(({ position }) => position)).toEqual([2n, 0n, 5n]);
  });

  it('requests in one statement what several partitions need in one turn', async () => {
    const found = Promise.all([2, 0, 5].map((partition) => ledger.lookUp(wanted(partition))));
    await settled();
    expect(asked()).toEqual([[2, 0, 5]]);
    statements[0]?.end();
    expect((await found).map(({ position }) => position)).toEqual([2n, 0n, 5n]);
  });

  it('writes together in the next statement what arrives during one', async () => {
    const first = ledger.project(batch(1));
    await settled();
    const others = Promise.all([2, 9].map((partition) => ledger.project(batch(partition))));
    await settled();
    expect(asked()).toEqual([[1]]);
    statements[0]?.end();
    expect(await first).toBe(true);
    await settled();
    statements[1]?.end();
    expect(await others).toEqual([true, false]);
    expect(asked()).toEqual([[1], [2, 9]]);
  });

  it('has a partition once in a statement', async () => {
    void ledger.lookUp(wanted(1));
    void ledger.lookUp(wanted(1));
    await settled();
    statements[0]?.end();
    await settled();
    expect(asked()).toEqual([[1], [1]]);
  });

  it('repeats a statement of several that fails for each of them, so that one failure stops no other', async () => {
    const both = Promise.allSettled([1, 2].map((partition) => ledger.project(batch(partition))));
    await settled();
    statements[0]?.fail(new Error('a gap in one of them'));
    await settled();
    expect(asked()).toEqual([[1, 2], [1], [2]]);
    statements[1]?.fail(new Error('a gap'));
    statements[2]?.end();
    expect(await both).toMatchObject([{ status: 'rejected', reason: { message: 'a gap' } }, { value: true }]);
  });

  it('lets nothing wait for a statement that takes long', async () => {
    void ledger.lookUp(wanted(1));
    await settled();
    const second = ledger.lookUp(wanted(2));
    await settled();
    expect(asked()).toEqual([[1]]);
    jest.advanceTimersByTime(1_000);
    await settled();
    statements[1]?.end();
    expect((await second).position).toBe(2n);
  });
});
