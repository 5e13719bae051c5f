import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Keyring } from '@pf/database';
import { BundleDamagedError, ColdBundles } from '../../src/cold/index.ts';
import { StoreUnavailableError } from '../../src/index.ts';
import { MemoryStore } from '../memory-store.ts';

const AT = Date.UTC(2026, 10, 25);
const rowsOf = (name: string) => ({ intent: `{"state":"${name}"}`, events: '[]' });
const INTENTS = new Map([
  ['pi_1', rowsOf('one')],
  ['pi_2', rowsOf('ünicode')],
]);

/** A store whose reads the test answers. */
class SlowStore extends MemoryStore {
  readonly reads: PromiseWithResolvers<Uint8Array | null>[] = [];
  override read(): Promise<Uint8Array | null> {
    const read = Promise.withResolvers<Uint8Array | null>();
    this.reads.push(read);
    return read.promise;
  }
}

const written = async (store = new MemoryStore()) => {
  const places = await new ColdBundles(store, null).write(INTENTS, AT);
  const [one, two] = [places.get('pi_1'), places.get('pi_2')];
  if (!one || !two) throw new Error('a place is missing');
  return { store, one, two };
};

describe('A bundle', () => {
  it('returns the rows of each intent, and reveals nothing of them without their keys', async () => {
    const { store, one, two } = await written();
    const bundles = new ColdBundles(store, null);
    expect([await bundles.read('pi_1', one), await bundles.read('pi_2', two)]).toEqual([...INTENTS.values()]);
    expect([...store.objects.keys()]).toEqual([one.bundle]);
    expect(one.bundle).toMatch(/^cold\/2026-11-25\/[0-9a-f]{16}$/);
    expect(Buffer.from(one.key).equals(Buffer.from(two.key))).toBe(false);
    expect(Buffer.from(store.objects.get(one.bundle) ?? []).toString('latin1')).not.toContain('state');
  });

  it('is refused when it is missing or damaged, or when a place belongs to another intent', async () => {
    const { store, one, two } = await written();
    const read = (place: typeof one, id = 'pi_1') => new ColdBundles(store, null).read(id, place);
    await expect(read(one, 'pi_2')).rejects.toThrow(BundleDamagedError);
    await expect(read({ ...one, key: two.key })).rejects.toThrow(BundleDamagedError);
    await expect(read({ ...one, bytes: 3 })).rejects.toThrow(BundleDamagedError);
    const content = Buffer.from(store.objects.get(one.bundle) ?? []);
    content[5] = (content[5] ?? 0) ^ 1;
    store.objects.set(one.bundle, content);
    await expect(read(one)).rejects.toThrow(BundleDamagedError);
    expect(await read(two, 'pi_2')).toEqual(INTENTS.get('pi_2'));
    store.objects.clear();
    await expect(read(one)).rejects.toThrow(new BundleDamagedError(`${one.bundle} is missing.`));
  });

  it('has keys that only SECRETS_KEY opens, where its writer had it', async () => {
    const store = new MemoryStore();
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const place = (await new ColdBundles(store, first).write(INTENTS, AT)).get('pi_1');
    if (!place) throw new Error('a place is missing');
    const read = (keyring: Keyring | null, id = 'pi_1') => new ColdBundles(store, keyring).read(id, place);
    expect(place.key).toHaveLength(73);
    expect(await read([second, first])).toEqual(INTENTS.get('pi_1'));
    await expect(read(null)).rejects.toThrow('the key of pi_1 is encrypted, and SECRETS_KEY is not set');
    await expect(read(second)).rejects.toThrow(BundleDamagedError);
    // The key of another intent.
    await expect(read(first, 'pi_2')).rejects.toThrow(BundleDamagedError);
  });

  it('is read with keys from before they were encrypted', async () => {
    const { store, one } = await written();
    expect(one.key).toHaveLength(32);
    expect(await new ColdBundles(store, randomBytes(32)).read('pi_1', one)).toEqual(INTENTS.get('pi_1'));
  });

  it('is read once for all who ask for its intents', async () => {
    const { store, one, two } = await written();
    const slow = new SlowStore();
    const bundles = new ColdBundles(slow, null);
    const both = Promise.all([bundles.read('pi_1', one), bundles.read('pi_2', two)]);
    expect(slow.reads).toHaveLength(1);
    slow.reads[0]?.resolve(store.objects.get(one.bundle) ?? null);
    await both;
    await bundles.read('pi_1', one);
    expect(slow.reads).toHaveLength(1);
  });

  it('is not waited for while the store is unavailable, nor while too many are read', async () => {
    const { store, one } = await written();
    let now = 0;
    const slow = new SlowStore();
    const bundles = new ColdBundles(slow, null, () => now);
    const failing = bundles.read('pi_1', one);
    slow.reads[0]?.reject(new StoreUnavailableError('refused'));
    await expect(failing).rejects.toThrow('refused');
    await expect(bundles.read('pi_1', one)).rejects.toThrow(StoreUnavailableError);
    expect(slow.reads).toHaveLength(1);
    now = 6_000;
    const others = Array.from({ length: 8 }, (_, n) => bundles.read('pi_1', { ...one, bundle: `cold/${n}` }));
    await expect(bundles.read('pi_1', one)).rejects.toThrow('8 bundles are being read.');
    for (const read of slow.reads) read.resolve(store.objects.get(one.bundle) ?? null);
    expect(await Promise.all(others)).toHaveLength(8);
    now = 12_000;
    const again = bundles.read('pi_1', one);
    slow.reads.at(-1)?.resolve(store.objects.get(one.bundle) ?? null);
    expect(await again).toEqual(INTENTS.get('pi_1'));
  });
});
