import { LEARNED_MS } from './pace.ts';

/** How long it is believed at first: behind one URL a single node may have responded so. */
const FIRST_MS = 60_000;
/** Known for so long, it has turned out several times in a row. */
const LASTING_MS = 240_000;

/**
 * Something that an upstream does not have, learned from an error: known for a minute, twice as long each time that it
 * turns out again, an hour at most. Times are of performance.now(), in ms.
 */
export class Lack {
  #until = Number.NEGATIVE_INFINITY;
  #ms = 0;

  isKnown(now: number): boolean {
    return now < this.#until;
  }
  /** It is no odd error: it has turned out again and again. */
  isLasting(now: number): boolean {
    return this.isKnown(now) && this.#ms >= LASTING_MS;
  }
  learned(now: number): void {
    if (this.isKnown(now)) return;
    const isForgotten = now - this.#until > LEARNED_MS;
    this.#ms = isForgotten ? FIRST_MS : Math.min(this.#ms * 2, LEARNED_MS);
    this.#until = now + this.#ms;
  }
}
