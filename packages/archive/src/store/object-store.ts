/**
 * Where the archive lies: a folder, or a bucket of an object store. Keys are paths with `/`. Objects are small enough
 * for memory (partition-archive.ts bounds them).
 */
export interface ObjectStore {
  /** The file of this machine that has the content of an object; null where the store is elsewhere. */
  fileOf(key: string): string | null;
  /**
   * Creates an object, whole or not at all. False where the key is taken: its content stays as it is.
   * @throws StoreUnfitError where the store would replace it
   */
  create(key: string, content: Uint8Array): Promise<boolean>;
  /** Creates or replaces an object, whole or not at all. */
  replace(key: string, content: Uint8Array): Promise<void>;
  /** Null where there is no such object. */
  read(key: string): Promise<Uint8Array | null>;
  /**
   * The keys that begin with `prefix`, which ends with `/`, in ascending order: all of them, or an error.
   * @param after only keys that come after this text, which need not be a key
   */
  list(prefix: string, after?: string): Promise<readonly string[]>;
  /** Keys without an object are passed over. */
  delete(keys: readonly string[]): Promise<void>;
}

/** The store refuses, or does not respond: a retry may succeed. What was to be changed may have been, or will be. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** The store cannot refuse to replace an object, so it cannot have an archive. */
export class StoreUnfitError extends Error {
  override readonly name = 'StoreUnfitError';
}
