import { describe, expect, it } from '@jest/globals';
import { type DeliveryFile, deliveryFile, deliveryFilesIn, mergeable } from '../../src/deliveries/files.ts';

const file = (day: string, rows: number, n = 0): DeliveryFile => deliveryFile(day, rows, Buffer.from(`${rows} ${n}`));
const files = (count: number, day: string, rows: number): readonly DeliveryFile[] =>
  Array.from({ length: count }, (_, n) => file(day, rows, n));
const sizes = (groups: readonly (readonly DeliveryFile[])[]): readonly number[] => groups.map(({ length }) => length);

const TODAY = '2026-11-25';
const YESTERDAY = '2026-11-24';

describe('the files of deliveries', () => {
  it('are named by their content, and found by their names', () => {
    const one = deliveryFile(TODAY, 12, Buffer.from('content'));
    expect(one.key).toMatch(/^deliveries\/day=2026-11-25\/12-[0-9a-f]{64}\.parquet$/);
    expect(deliveryFilesIn([one.key, 'deliveries/day=2026-11-25/other.parquet', 'events/day=2026-11-25/x'])).toEqual([
      one,
    ]);
  });

  it('are merged once their day is over', () => {
    expect(mergeable(files(3, TODAY, 5), TODAY)).toEqual([]);
    expect(sizes(mergeable(files(3, YESTERDAY, 5), TODAY))).toEqual([3]);
    expect(mergeable(files(1, YESTERDAY, 5), TODAY)).toEqual([]);
  });

  it('are merged before that when they are many', () => {
    expect(mergeable(files(23, TODAY, 5), TODAY)).toEqual([]);
    expect(sizes(mergeable(files(24, TODAY, 5), TODAY))).toEqual([24]);
  });

  it('are merged with those of their day only', () => {
    const groups = mergeable([...files(2, '2026-11-23', 5), ...files(2, YESTERDAY, 5), file(TODAY, 5)], TODAY);
    expect(groups.map((group) => new Set(group.map(({ day }) => day)).size)).toEqual([1, 1]);
  });

  it('are merged up to a size: large ones are left', () => {
    const large = files(3, YESTERDAY, 150_000);
    expect(mergeable(large, TODAY)).toEqual([]);
    const [group, ...others] = mergeable([...large, ...files(4, YESTERDAY, 10_000)], TODAY);
    expect(others).toEqual([]);
    expect(group?.map(({ rows }) => rows)).toEqual([10_000, 10_000, 10_000, 10_000, 150_000]);
  });

  it('are merged a few hundred at a time', () => {
    expect(sizes(mergeable(files(1_200, YESTERDAY, 1), TODAY))).toEqual([500, 500, 200]);
  });
});
