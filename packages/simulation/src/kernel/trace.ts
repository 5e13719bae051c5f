/** One line of a trace: what happened when, and where. */
export interface TraceLine {
  /** True virtual time in milliseconds since 1970. */
  readonly at: number;
  /** The process or server that did it; an empty text for the simulation itself. */
  readonly where: string;
  readonly text: string;
}

/** The last lines of a run, and a fingerprint of everything that happened in it. */
export class Trace {
  readonly #kept: TraceLine[] = [];
  readonly #limit: number;
  #hash = 0x811c9dc5;

  /** @param limit how many lines are kept; 0 keeps none, which is fastest */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get keeps(): boolean {
    return this.#limit > 0;
  }

  /** Mixes a number into the fingerprint. */
  mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ (value | 0), 0x01000193) ^ (this.#hash >>> 15);
  }

  add(line: TraceLine): void {
    if (!this.keeps) return;
    this.#kept.push(line);
    // In steps, because shifting a long list for each line is slow.
    if (this.#kept.length > 2 * this.#limit) this.#kept.splice(0, this.#kept.length - this.#limit);
  }

  lines(): readonly TraceLine[] {
    return this.#kept.slice(-this.#limit || this.#kept.length);
  }

  /** Equal for two runs in which the same happened at the same times. */
  fingerprint(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }
}
