import { describe, expect, it } from '@jest/globals';
import { PAGE_BYTES_MAX } from '@pf/contracts';
import { bytesOfJson, pageOf } from '../src/pages.ts';

describe('pageOf', () => {
  const rows = (count: number, text: string) => Array.from({ length: count }, (_, id) => ({ id, text }));
  const page = (count: number, limit: number, text: string) =>
    pageOf(rows(count, text), limit, ({ id }) => `after ${id}`, bytesOfJson);

  it('has as many rows as are asked for, and a cursor where there are more', () => {
    expect(page(3, 2, '')).toEqual({ rows: rows(2, ''), hasMore: true, nextCursor: 'after 1' });
    expect(page(2, 2, '')).toEqual({ rows: rows(2, ''), hasMore: false, nextCursor: null });
    expect(page(0, 2, '')).toEqual({ rows: [], hasMore: false, nextCursor: null });
  });

  it('ends before its rows are too large together, with a cursor for the rest', () => {
    const large = 'ä'.repeat(PAGE_BYTES_MAX / 8);
    const { rows: shown, hasMore, nextCursor } = page(10, 20, large);
    expect([shown.length, hasMore, nextCursor]).toEqual([3, true, 'after 2']);
  });

  it('has a row that is too large by itself', () => {
    const { rows: shown, nextCursor } = page(2, 20, 'x'.repeat(PAGE_BYTES_MAX));
    expect([shown.length, nextCursor]).toEqual([1, 'after 0']);
  });
});
