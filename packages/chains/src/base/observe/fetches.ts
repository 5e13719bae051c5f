import type { TransactionHash } from '@pf/domain';
import type { Logged } from '../../evm/calls.ts';

/** Receipts at a time. */
const FETCHES_MAX = 8;
/** ms that a step waits for all of them. */
const MOMENT_MS = 300;

interface Fetch {
  /** Or why there is none; undefined while it is not known. */
  receipt?: Logged | string;
}

/**
 * Receipts that strangers may have made long, or slow to read: they are read beside the steps. A step waits a moment
 * for them, and takes those that come later when it looks again at their transactions.
 */
export class Fetches {
  readonly #all = new Map<TransactionHash, Fetch & { readonly done: Promise<unknown> }>();

  /** The receipts, or why there is none of a transaction yet. */
  async take(
    hashes: readonly TransactionHash[],
    read: (hash: TransactionHash) => Promise<Logged | string>,
  ): Promise<readonly (Logged | string)[]> {
    for (const hash of hashes) this.#begin(hash, read);
    const fetches = hashes.map((hash) => this.#all.get(hash));
    await moment(Promise.all(fetches.flatMap((one) => (one === undefined ? [] : [one.done]))));
    return fetches.map((one, place) => {
      if (one === undefined) return 'there was no room for its receipt';
      if (one.receipt === undefined) return 'its receipt takes long';
      this.#all.delete(hashes[place] as TransactionHash);
      return one.receipt;
    });
  }

  #begin(hash: TransactionHash, read: (hash: TransactionHash) => Promise<Logged | string>): void {
    if (this.#all.has(hash)) return;
    // What came and was not taken: its transaction was given up.
    if (this.#all.size >= FETCHES_MAX)
      for (const [old, { receipt }] of this.#all) if (receipt !== undefined) this.#all.delete(old);
    if (this.#all.size >= FETCHES_MAX) return;
    const fetch: Fetch = {};
    const done = read(hash).then(
      (receipt) => (fetch.receipt = receipt),
      (error: unknown) => (fetch.receipt = error instanceof Error ? error.message : 'its receipt could not be read'),
    );
    this.#all.set(hash, Object.assign(fetch, { done }));
  }
}

async function moment(done: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MOMENT_MS);
  await Promise.race([done, promise]);
  clearTimeout(timer);
}
