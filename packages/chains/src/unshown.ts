/** An upstream may lag. What has waited for longer is told of, in ms. */
const TOLD_AFTER_MS = 60_000;

/** Whether what has waited for a second upstream since then is told of. Both by our clock, in ms. */
export const isLongUnshown = (since: number, now: number): boolean => now - since >= TOLD_AFTER_MS;

/**
 * What is final by one upstream, and what no second one has shown so far, by any name. In memory: after a restart each
 * waits from when a second one was first asked for it. Times are by our clock, in ms.
 */
export class Unshown {
  readonly #since = new Map<string, number>();

  /** No second upstream has shown it so far. */
  lacked(name: string, now: number): void {
    if (!this.#since.has(name)) this.#since.set(name, now);
  }
  shown(name: string): void {
    this.#since.delete(name);
  }

  /**
   * Forgets all that are not among these, which are not final in the ledger.
   * @returns how many of them have waited for over a minute
   */
  longAmong(open: () => Iterable<string>, now: number): number {
    if (this.#since.size === 0) return 0;
    const gone = new Set(this.#since.keys());
    for (const name of open()) gone.delete(name);
    for (const name of gone) this.#since.delete(name);
    return [...this.#since.values()].filter((since) => isLongUnshown(since, now)).length;
  }
}
