import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../src/index.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (content: Uint8Array | null): string | null => content && Buffer.from(content).toString();

/** What every store does. @param open a store that is empty */
export function describeObjectStore(name: string, open: () => Promise<ObjectStore>): void {
  describe(`the archive in ${name}`, () => {
    let store: ObjectStore;
    beforeEach(async () => {
      store = await open();
    });

    it('creates an object once: the first content stays', async () => {
      expect(await store.create('events/a.parquet', bytes('first'))).toBe(true);
      expect(await store.create('events/a.parquet', bytes('second'))).toBe(false);
      expect(textOf(await store.read('events/a.parquet'))).toBe('first');
    });

    it('creates an object for one of many concurrent writers', async () => {
      const tries = await Promise.all(Array.from({ length: 8 }, (_, n) => store.create('a', bytes(String(n)))));
      expect(tries.filter(Boolean)).toHaveLength(1);
      expect(textOf(await store.read('a'))).toBe(String(tries.indexOf(true)));
    });

    it('replaces an object, or creates it', async () => {
      await store.replace('heads/1.json', bytes('one'));
      await store.replace('heads/1.json', bytes('two'));
      expect(textOf(await store.read('heads/1.json'))).toBe('two');
    });

    it('lists the keys under a prefix in order, and nothing that is under another', async () => {
      for (const key of ['events/b/2', 'events/b/10', 'events/a/1', 'eventsx/1', 'heads/1'])
        await store.create(key, bytes(key));
      expect(await store.list('events/')).toEqual(['events/a/1', 'events/b/10', 'events/b/2']);
      expect(await store.list('nothing/')).toEqual([]);
    });

    it('lists only the keys after a text, where one is given', async () => {
      for (const key of ['events/a/1', 'events/b/1', 'events/b/2', 'events/c/1']) await store.create(key, bytes(key));
      expect(await store.list('events/', 'events/b')).toEqual(['events/b/1', 'events/b/2', 'events/c/1']);
      expect(await store.list('events/', 'events/b/1')).toEqual(['events/b/2', 'events/c/1']);
      expect(await store.list('events/', 'events/d')).toEqual([]);
    });

    it('deletes objects, and skips missing ones', async () => {
      await store.create('events/a', bytes('a'));
      await store.delete(['events/a', 'events/b']);
      expect([await store.read('events/a'), await store.list('events/')]).toEqual([null, []]);
    });
  });
}
