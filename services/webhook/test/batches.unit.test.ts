import { describe, expect, it, jest } from '@jest/globals';
import { Batches } from '../src/batches.ts';

describe('Batches', () => {
  it('gather what arrives while one is in progress, up to a limit', async () => {
    const seen: (readonly number[])[] = [];
    let free: () => void = () => undefined;
    const batches = new Batches<number>(3, 1, (items) => {
      seen.push(items);
      return new Promise((resolve) => (free = resolve));
    });
    batches.add(1);
    batches.add(2);
    await Promise.resolve();
    for (const item of [3, 4, 5, 6]) batches.add(item);
    expect(seen).toEqual([[1, 2]]);
    for (let batch = 0; batch < 3; batch += 1) {
      free();
      await new Promise(setImmediate);
    }
    expect(seen).toEqual([[1, 2], [3, 4, 5], [6]]);
    batches.add(7);
    await new Promise(setImmediate);
    expect(seen.at(-1)).toEqual([7]);
  });

  it('begin no sooner than they may, where nothing waits for them', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const seen: (readonly number[])[] = [];
    const batches = new Batches<number>(
      100,
      1,
      async (items) => {
        seen.push(items);
      },
      25,
    );
    batches.add(1);
    await new Promise(setImmediate);
    batches.add(2);
    await jest.advanceTimersByTimeAsync(20);
    batches.add(3);
    expect(seen).toEqual([[1]]);
    await jest.advanceTimersByTimeAsync(5);
    expect(seen).toEqual([[1], [2, 3]]);
    await jest.advanceTimersByTimeAsync(25);
    batches.add(4);
    await new Promise(setImmediate);
    expect(seen.at(-1)).toEqual([4]);
    jest.useRealTimers();
  });
});
