import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitting, sizeOf, toLogRecord } from '../src/record.ts';

describe('what goes together in one request', () => {
  it('is the longest beginning within count and bytes, and one item at least', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 500 }),
        (sizes, count, bytes) => {
          const fits = fitting(sizes, (size) => size, { count, bytes });
          const sum = (length: number): number => sizes.slice(0, length).reduce((total, size) => total + size, 0);
          expect(fits).toBeGreaterThan(0);
          expect(fits === 1 || (fits <= count && sum(fits) <= bytes)).toBe(true);
          expect(fits === sizes.length || fits === count || sum(fits + 1) > bytes).toBe(true);
        },
      ),
    );
  });

  it('is counted in bytes, not in characters', () => {
    expect(sizeOf({ key: 'ü', value: '€' }) - sizeOf({ key: 'u', value: 'E' })).toBe(3);
  });
});

describe('a record as it comes from the broker', () => {
  it('keeps nulls, takes the last of repeated headers and leaves out empty ones', () => {
    const message = {
      key: null,
      value: null,
      timestamp: '1700000000000',
      attributes: 0,
      offset: '9007199254740993',
      headers: { trace: ['a', Buffer.from('b')], empty: undefined },
    };
    expect(toLogRecord('intent.dead', 1, message)).toEqual({
      topic: 'intent.dead',
      partition: 1,
      offset: 9_007_199_254_740_993n,
      timestamp: 1_700_000_000_000,
      key: null,
      value: null,
      headers: { trace: 'b' },
    });
  });
});
