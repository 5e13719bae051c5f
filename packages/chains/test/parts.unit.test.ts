import { describe, expect, it } from '@jest/globals';
import { inPieces } from '../src/parts.ts';

describe('what is worked on in pieces', () => {
  it('has the results of the whole, and lets the process do other work after 500 items at most', async () => {
    const numbers = Array.from({ length: 5_000 }, (_, number) => number);
    const done: number[] = [];
    let [inOne, most] = [0, 0];
    const other = (): void => {
      inOne = 0;
      if (done.length < numbers.length) setImmediate(other);
    };
    setImmediate(other);
    const results = await inPieces(numbers, (number) => {
      done.push(number);
      most = Math.max(most, (inOne += 1));
      return number % 2 === 0 ? [number, number] : [];
    });
    expect(done).toEqual(numbers);
    expect(most).toBeLessThanOrEqual(500);
    expect(results).toEqual(numbers.flatMap((number) => (number % 2 === 0 ? [number, number] : [])));
  });
});
