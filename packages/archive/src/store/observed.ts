import type { ObjectStore } from './object-store.ts';

/** The same store, which tells of each operation that has succeeded. */
export function observed(store: ObjectStore, onDone: () => void): ObjectStore {
  const told = async <Result>(work: Promise<Result>): Promise<Result> => {
    const result = await work;
    onDone();
    return result;
  };
  return {
    fileOf: (key) => store.fileOf(key),
    create: (key, content) => told(store.create(key, content)),
    replace: (key, content) => told(store.replace(key, content)),
    read: (key) => told(store.read(key)),
    list: (prefix, after) => told(store.list(prefix, after)),
    delete: (keys) => told(store.delete(keys)),
  };
}
