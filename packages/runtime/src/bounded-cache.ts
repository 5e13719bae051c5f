import { LRUCache } from 'lru-cache';

/**
 * A cache that forgets what was used longest ago when it has more than `most` entries. It takes memory for what it
 * has: with the library's own `max`, every process would fill arrays for all that it might ever have when it starts.
 */
export function boundedCache<Key extends string, Value extends NonNullable<unknown>, Context = unknown>(
  most: number,
  options: Omit<LRUCache.OptionsBase<Key, Value, Context>, 'max' | 'maxSize' | 'sizeCalculation'> = {},
): LRUCache<Key, Value, Context> {
  return new LRUCache<Key, Value, Context>({ ...options, maxSize: most, sizeCalculation: () => 1 });
}
