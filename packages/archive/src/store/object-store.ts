/**
 * Where the archive lies: a folder, or a bucket of an object store. Keys are paths with `/`. Objects are small enough
 * for memory (files.ts bounds them).
 */
export interface ObjectStore {
  /** The file of this machine that has the content of an object; where the store is elsewhere, a copy of it. */
  fileOf(key: string): Promise<string>;
  /** Creates an object, whole or not at all. False where the key is taken: its content stays as it is. */
  create(key: string, content: Uint8Array): Promise<boolean>;
  /** Creates or replaces an object, whole or not at all. */
  replace(key: string, content: Uint8Array): Promise<void>;
  /** Null where there is no such object. */
  read(key: string): Promise<Uint8Array | null>;
  /** The keys that begin with `prefix`, which ends with `/`, in ascending order. */
  list(prefix: string): Promise<readonly string[]>;
  /** Keys without an object are passed over. */
  delete(keys: readonly string[]): Promise<void>;
}

/** The store refuses, or does not respond: a retry may succeed. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}
