import type { Instant, TransactionHash } from '@pf/domain';
import { RpcUnavailableError, RpcUpstreamError } from '@pf/rpc';
import { boundedCache } from '@pf/runtime';
import { STEP_MS } from './networks.ts';

/** Why a transaction is set aside that a step does not wait for. It is read again beside the steps. */
export const NOT_IN_TIME = 'it was not returned in time';

/** At a time: one of Solana takes up to 8 MiB while it is read, a receipt 4 MiB. */
const AT_ONCE = 2;
/**
 * What began longer ago may be of a chain that has changed since. Twice as long as a read may take: what has come waits
 * for the end of a step, which takes no longer either.
 */
const FRESH_MS = 2 * STEP_MS;
/** Of so many it is known that no step asks for them. */
const KNOWN_MAX = 2_000;

interface LateRead<T> {
  begunAt: Instant;
  outcome?: { readonly value: T } | { readonly error: unknown };
}

/**
 * What no step waits for: transactions that were not returned in time are read beside the steps, with all the time that
 * a request has. What comes is used by one step, as if that had read it.
 */
export class LateReads<T> {
  readonly #now: () => Instant;
  readonly #reads = new Map<TransactionHash, LateRead<T>>();
  readonly #known = boundedCache<TransactionHash, true>(KNOWN_MAX);
  /** Those that have found no place, in the order in which they were first wanted, and how each is read. */
  readonly #queue = new Map<TransactionHash, (hash: TransactionHash) => Promise<T>>();

  /** @param now our clock */
  constructor(now: () => Instant) {
    this.#now = now;
  }

  /** It was not returned in time: until it has come, no step asks for it. */
  note(hash: TransactionHash): void {
    this.#known.set(hash, true);
  }
  isKnown(hash: TransactionHash): boolean {
    return this.#known.has(hash);
  }

  /** How many can begin now. */
  get room(): number {
    return AT_ONCE - this.#reads.size;
  }

  /** Begins to read it, where there is room and it is not being read. @returns whether it has begun now */
  begin(hash: TransactionHash, read: (hash: TransactionHash) => Promise<T>): boolean {
    if (this.room === 0 || this.#reads.has(hash)) return false;
    const late: LateRead<T> = { begunAt: this.#now() };
    this.#reads.set(hash, late);
    void read(hash).then(
      (value) => (late.outcome = { value }),
      (error: unknown) => (late.outcome = { error }),
    );
    return true;
  }

  /**
   * The same, by turns: where there is no place it is begun when one comes free, behind those that wait already. So
   * what is never returned delays the others by its turn, and not for good.
   * @returns false where it waits for that
   */
  beginInTurn(hash: TransactionHash, read: (hash: TransactionHash) => Promise<T>): boolean {
    if (this.#reads.has(hash)) return true;
    if (this.#queue.size === 0 && this.room > 0) return this.begin(hash, read);
    if (this.#queue.size < KNOWN_MAX || this.#queue.has(hash)) this.#queue.set(hash, read);
    return false;
  }

  /** The chain has changed: of what is being read nothing is used. */
  forget(): void {
    for (const late of this.#reads.values()) late.begunAt = Number.NEGATIVE_INFINITY;
    this.#queue.clear();
  }

  /**
   * A step begins: what has come since the last one, without what is too old. What no upstream could be asked for is
   * due again as it is: the pool has told of that.
   * @throws whatever else a read has failed with
   */
  collect(): ReadonlyMap<TransactionHash, T> {
    const come = new Map<TransactionHash, T>();
    for (const [hash, { begunAt, outcome }] of this.#reads) {
      if (outcome === undefined) continue;
      this.#reads.delete(hash);
      if ('value' in outcome) {
        if (this.#now() - begunAt >= FRESH_MS) continue;
        come.set(hash, outcome.value);
        this.#known.delete(hash);
      } else if (!(outcome.error instanceof RpcUnavailableError || outcome.error instanceof RpcUpstreamError))
        throw outcome.error;
    }
    for (const [hash, read] of this.#queue) {
      if (this.room === 0) break;
      this.#queue.delete(hash);
      this.begin(hash, read);
    }
    return come;
  }
}
