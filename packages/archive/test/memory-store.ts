import { type ObjectStore, StoreUnavailableError } from '../src/index.ts';

/** A store in memory, which can fail before or after each change, as a process that ends does. */
export class MemoryStore implements ObjectStore {
  readonly objects = new Map<string, Uint8Array>();
  /** How many more changes succeed. */
  changesLeft = Infinity;
  /** How many keys were listed. */
  listed = 0;
  /** The first change that fails happens all the same, as where the answer to it is lost. */
  losesAnswers = false;

  fileOf(): null {
    return null;
  }
  create(key: string, content: Uint8Array): Promise<boolean> {
    return this.#change(() => {
      if (this.objects.has(key)) return false;
      this.objects.set(key, content);
      return true;
    });
  }
  async replace(key: string, content: Uint8Array): Promise<void> {
    await this.#change(() => this.objects.set(key, content));
  }
  async read(key: string): Promise<Uint8Array | null> {
    return this.objects.get(key) ?? null;
  }
  async list(prefix: string, after = ''): Promise<readonly string[]> {
    const found = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    this.listed += found.length;
    return found;
  }
  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#change(() => this.objects.delete(key));
  }

  async #change<Result>(change: () => Result): Promise<Result> {
    this.changesLeft -= 1;
    if (this.changesLeft === -1 && this.losesAnswers) change();
    if (this.changesLeft < 0) throw new StoreUnavailableError('no more changes');
    return change();
  }
}
