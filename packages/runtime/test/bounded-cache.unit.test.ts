import { describe, expect, it } from '@jest/globals';
import { boundedCache } from '../src/bounded-cache.ts';

describe('A bounded cache', () => {
  it('forgets what was used longest ago', () => {
    const cache = boundedCache<string, number>(2);
    cache.set('first', 1).set('second', 2);
    expect(cache.get('first')).toBe(1);
    cache.set('third', 3);
    expect([...cache.keys()].sort()).toEqual(['first', 'third']);
  });

  it('counts neither what is replaced nor what is being fetched twice', async () => {
    const cache = boundedCache<string, number>(2, { fetchMethod: async (key) => key.length });
    await Promise.all(['a', 'bb', 'a', 'bb'].map((key) => cache.fetch(key)));
    cache.set('a', 5);
    expect([...cache.entries()].sort()).toEqual([
      ['a', 5],
      ['bb', 2],
    ]);
  });
});
