/** Traces of each kind in one step, and how many of them at a time. */
const TRACES_MAX = 20;
export const TRACES_AT_ONCE = 4;
/** Ms after which a step begins no more, but for those that each kind has for certain. */
const TRACES_MS = 700;

/**
 * What a step may spend on traces. Anyone can make transactions that take long to trace, so the time is that of the
 * whole step, since it began the first one. What is beyond waits for the next steps, and is not judged until then.
 */
export class Room {
  #taken = 0;
  readonly #certain: number;
  #isLate = false;
  readonly #step: { beganAt: number | null };

  /**
   * @param before what the step has room for otherwise, whose time this shares. Default: the step begins
   * @param certain so many it has however long the others have taken
   */
  constructor(before: Room | null = null, certain = 0) {
    this.#step = before === null ? { beganAt: null } : before.#step;
    this.#certain = certain;
  }

  /** A trace was not returned in time: this kind has no more in this step, as each of them may cost as much. */
  wasLate(): void {
    this.#isLate = true;
  }

  /** Takes the room of one trace. False where none is left. */
  takeTrace(): boolean {
    if (this.#isLate) return false;
    const now = performance.now();
    this.#step.beganAt ??= now;
    const isOver = now - this.#step.beganAt > TRACES_MS;
    if (this.#taken === TRACES_MAX || (isOver && this.#taken >= this.#certain)) return false;
    this.#taken += 1;
    return true;
  }
}
