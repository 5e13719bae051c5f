/** What was seen before refuses nothing any more, should it have been wrong, or should the chain have started again. */
const FORGOTTEN_MS = 60_000;
/** Over less time a node that lags changes the result; over more, the network may have changed its pace meanwhile. */
const MEASURED_MS = { least: 30_000, most: 600_000 };

interface Sight {
  readonly height: bigint;
  /** ms of a clock that only goes forward. */
  readonly at: number;
}

/**
 * How fast the blocks of a chain come, measured from the heights that its nodes report. Networks change it: Solana went
 * from slots of 400 ms to 200 ms within a quarter.
 */
export class BlockPace {
  readonly #assumedMs: number;
  readonly #now: () => number;
  #newest: Sight | null = null;
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Since when is measured, and since when after the next turn. */
  #since: Sight | null = null;
  #next: Sight | null = null;

  /** @param assumedMs between blocks, until it is measured: a low number makes lives look short, which does no harm */
  constructor(assumedMs: number, now: () => number = () => performance.now()) {
    this.#assumedMs = assumedMs;
    this.#now = now;
  }

  /** Takes the height that a node reports. @returns the newest that is known, of any node */
  saw(height: bigint): bigint {
    const sight = { height, at: this.#now() };
    if (this.#newest === null || (height < this.#newest.height && sight.at - this.#seenAt >= FORGOTTEN_MS)) {
      this.#newest = this.#since = this.#next = sight;
    } else if (height > this.#newest.height) {
      this.#newest = sight;
      if (this.#next !== null && sight.at - this.#next.at >= MEASURED_MS.most) {
        this.#since = this.#next;
        this.#next = sight;
      }
    }
    if (height === this.#newest.height) this.#seenAt = sight.at;
    return this.#newest.height;
  }

  /** ms between blocks. */
  blockMs(): number {
    if (this.#newest === null || this.#since === null) return this.#assumedMs;
    const elapsedMs = this.#newest.at - this.#since.at;
    if (elapsedMs < MEASURED_MS.least) return this.#assumedMs;
    return elapsedMs / Number(this.#newest.height - this.#since.height);
  }

  /** ms until the chain is past this height; null where no height of it is known. */
  msUntil(height: bigint): number | null {
    if (this.#newest === null) return null;
    return Number(height - this.#newest.height) * this.blockMs() - (this.#now() - this.#newest.at);
  }
}
