import { setTimeout as delay } from 'node:timers/promises';

/** Waits; ends early, without an error, when the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** Growing waits between tries: doubled each time up to the longest, at random between half and all of it. */
export class BackOff {
  readonly #first: number;
  readonly #longest: number;
  #next: number;

  constructor(firstMs: number, longestMs: number) {
    this.#first = firstMs;
    this.#longest = longestMs;
    this.#next = firstMs;
  }

  wait(signal?: AbortSignal): Promise<void> {
    const ms = this.#next * (0.5 + Math.random() / 2);
    this.#next = Math.min(this.#next * 2, this.#longest);
    return pause(ms, signal);
  }

  reset(): void {
    this.#next = this.#first;
  }
}
