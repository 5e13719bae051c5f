/** Traces in one step, how many of them at a time, and ms after which no more are begun. */
const TRACES_MAX = 20;
export const TRACES_AT_ONCE = 4;
const TRACES_MS = 700;
/** Receipts in one step that come too late, are too long, or cannot be read. After them only small ones are asked for. */
const FAILURES_MAX = 3;

/**
 * What a step may spend on transactions that strangers have made expensive to read. What is beyond waits for the next
 * steps, and is not judged until then.
 */
export class Room {
  #traces = TRACES_MAX;
  #failures = FAILURES_MAX;
  #tracingUntil: number | null = null;

  /** Takes the room of one trace. False where none is left. */
  takeTrace(): boolean {
    this.#tracingUntil ??= performance.now() + TRACES_MS;
    if (this.#traces === 0 || performance.now() > this.#tracingUntil) return false;
    this.#traces -= 1;
    return true;
  }

  get hasReceipts(): boolean {
    return this.#failures > 0;
  }
  receiptFailed(): void {
    this.#failures -= 1;
  }
}
