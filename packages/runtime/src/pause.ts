/** Resolves after `ms`, or as soon as the signal aborts: without an error. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** Growing pauses between attempts: doubled each time up to the longest, at random between half and all of it. */
export class BackOff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  wait(signal?: AbortSignal): Promise<void> {
    return pause(this.takeMs(), signal);
  }

  /** The next pause in milliseconds, for who waits otherwise. */
  takeMs(): number {
    const ms = this.#nextMs * (0.5 + Math.random() / 2);
    this.#nextMs = Math.min(this.#nextMs * 2, this.#longestMs);
    return ms;
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}

/** Resolves with what `work` resolves with; with undefined if that takes longer. The work itself goes on. */
export async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([work, pause(timeoutMs, settled.signal).then(() => undefined)]);
  } finally {
    // A reason of its own: the default one is an error with a stack.
    settled.abort('settled');
  }
}
