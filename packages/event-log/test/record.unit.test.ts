import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toLogRecord } from '../src/kafka/record.ts';
import { fitting, sizeOf } from '../src/record.ts';

describe('the number of items in one request', () => {
  it('is the most that fits count and bytes, and at least one', () => {
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

  it('depends on bytes, not on characters', () => {
    expect(sizeOf({ key: 'ü', value: '€' }) - sizeOf({ key: 'u', value: 'E' })).toBe(3);
  });
});

describe('a record from the broker', () => {
  it('keeps nulls, has the last value of repeated headers and omits empty ones', () => {
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
