/** How long what strangers have written is waited for at an upstream that is quick, in ms. */
const SOON_MS = 300;
/** At any other, as many times as long as it usually takes. */
const TIMES = 3;
/** The most that is learned of a method whose time depends on what strangers have written, in ms. */
const VARYING_MS = 700;
/** Of so many requests with a method, and of as many with any, the time is remembered. */
const REMEMBERED = 9;

/**
 * How long an upstream usually takes, by the first method of a request. What took long for once changes nothing: three
 * quarters of the last requests have to take so long.
 */
export class Patience {
  readonly #all: number[] = [];
  /** By method, of which observers use a dozen. */
  readonly #byMethod = new Map<string, number[]>();

  /**
   * A request has brought a response after so many ms.
   * @param isVarying what is asked for decides that, and not the upstream: it says nothing of other methods
   */
  took(method: string, ms: number, isVarying = false): void {
    const ofMethod = this.#byMethod.get(method) ?? [];
    this.#byMethod.set(method, ofMethod);
    for (const times of isVarying ? [ofMethod] : [this.#all, ofMethod]) if (times.push(ms) > REMEMBERED) times.shift();
  }

  /** How long a request with this method is waited for that shall cost others little time, in ms. */
  msOf(method: string, isVarying = false): number {
    const learned = TIMES * usual(this.#byMethod.get(method) ?? []);
    return Math.max(SOON_MS, TIMES * usual(this.#all), isVarying ? Math.min(learned, VARYING_MS) : learned);
  }
}

/** A quarter of them took no longer: 0 where there are none. */
const usual = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 4)] ?? 0;
