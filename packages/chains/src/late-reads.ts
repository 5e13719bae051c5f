import type { Address, Instant, TransactionHash } from '@pf/domain';
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
/** Of so many it is known that no step asks for them, and so many wait for a place. */
const KNOWN_MAX = 10_000;

interface LateRead<T> {
  begunAt: Instant;
  outcome?: { readonly value: T } | { readonly error: unknown };
}

type Read<T> = (hash: TransactionHash) => Promise<T>;

/**
 * What no step waits for: transactions that were not returned in time are read beside the steps, with all the time that
 * a request has. What comes is used by one step, as if that had read it.
 */
export class LateReads<T> {
  readonly #now: () => Instant;
  readonly #reads = new Map<TransactionHash, LateRead<T>>();
  readonly #known = boundedCache<TransactionHash, true>(KNOWN_MAX);
  /** Those that have found no place, by whom they pay: the recipient in front has the next turn. */
  readonly #queue = new Map<Address, Map<TransactionHash, Read<T>>>();
  readonly #waiting = new Set<TransactionHash>();

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
  begin(hash: TransactionHash, read: Read<T>): boolean {
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
   * The same, by turns of the recipients: where there is no place it is begun when one comes free. So what is never
   * returned delays others of its recipient by their turns, those of another by one, and none for good.
   * @param recipient whom it pays
   */
  beginInTurn(hash: TransactionHash, recipient: Address, read: Read<T>): void {
    if (this.#reads.has(hash) || this.#waiting.has(hash)) return;
    if (this.#waiting.size === 0 && this.room > 0) this.begin(hash, read);
    else if (this.#waiting.size < KNOWN_MAX || this.#makesRoomFor(recipient)) {
      this.#waiting.add(hash);
      this.#queue.set(recipient, (this.#queue.get(recipient) ?? new Map<TransactionHash, Read<T>>()).set(hash, read));
    }
  }

  /** Of whom most wait, the last one gives way to one of whom fewer do. */
  #makesRoomFor(recipient: Address): boolean {
    const crowd = [...this.#queue.values()].reduce((one, other) => (other.size > one.size ? other : one));
    const [last] = [...crowd.keys()].slice(-1);
    if (last === undefined || crowd.size <= (this.#queue.get(recipient)?.size ?? 0) + 1) return false;
    crowd.delete(last);
    return this.#waiting.delete(last);
  }

  /** The chain has changed: of what is being read nothing is used. */
  forget(): void {
    for (const late of this.#reads.values()) late.begunAt = Number.NEGATIVE_INFINITY;
    this.#queue.clear();
    this.#waiting.clear();
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
    this.#beginWaiting();
    return come;
  }

  #beginWaiting(): void {
    // One that is set again comes at the end.
    for (const [recipient, own] of this.#queue) {
      const [first] = own;
      if (this.room === 0 || first === undefined) return;
      this.#queue.delete(recipient);
      own.delete(first[0]);
      this.#waiting.delete(first[0]);
      if (own.size > 0) this.#queue.set(recipient, own);
      this.begin(...first);
    }
  }
}
