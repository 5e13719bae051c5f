/** Traces in one step, how many of them at a time, and ms after which no more are begun. */
const TRACES_MAX = 20;
export const TRACES_AT_ONCE = 4;
const TRACES_MS = 700;

/**
 * What a step may spend on traces. What is beyond waits for the next steps, and is not judged until then.
 */
export class Room {
  #traces = TRACES_MAX;
  #tracingUntil: number | null = null;

  /** Takes the room of one trace. False where none is left. */
  takeTrace(): boolean {
    this.#tracingUntil ??= performance.now() + TRACES_MS;
    if (this.#traces === 0 || performance.now() > this.#tracingUntil) return false;
    this.#traces -= 1;
    return true;
  }
}
