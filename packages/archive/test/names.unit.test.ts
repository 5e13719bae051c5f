import { describe, expect, it } from '@jest/globals';
import { currentOf, eventsKey, manifestKey, readName } from '../src/names.ts';

const file = (first: number, last: number | null = null) => ({ partition: 3, first, last });
const key = (first: number, last: number | null = null): string => eventsKey('2026-11-23', file(first, last));

describe('the names of the archive', () => {
  it('say day, partition and place', () => {
    expect(key(350)).toBe('events/day=2026-11-23/partition=3/000000000350.parquet');
    expect(key(0, 349)).toBe('events/day=2026-11-23/partition=3/000000000000-000000000349.parquet');
    expect(manifestKey(file(0, 349))).toBe('manifests/partition=3/000000000000-000000000349.json');
  });

  it('are parsed, and others are refused', () => {
    expect(readName(key(350))).toEqual(file(350));
    expect(readName(manifestKey(file(0, 349)))).toEqual(file(0, 349));
    for (const other of ['heads/partition=3.json', 'events/readme.txt', `${key(1)}.tmp`])
      expect(readName(other)).toBeNull();
  });

  it('tell which files a merged one replaces, also one that was merged before', () => {
    const keys = [key(0), key(10), key(20), key(0, 19), key(30), key(0, 29)];
    const { current, replaced } = currentOf(keys);
    expect(current.map(({ key }) => key)).toEqual([key(0, 29), key(30)]);
    expect(replaced.map(({ key }) => key).sort()).toEqual([key(0), key(0, 19), key(10), key(20)].sort());
  });

  it('keep partitions apart', () => {
    const other = eventsKey('2026-11-23', { partition: 4, first: 5, last: null });
    expect(currentOf([key(0, 29), other]).replaced).toEqual([]);
  });
});
