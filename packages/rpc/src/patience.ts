/** How long what strangers have written is waited for at an upstream that is quick, in ms. */
const SOON_MS = 300;
/** At any other, as many times as long as it usually takes. */
const TIMES = 3;
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

  /** A request has brought a response after so many ms. */
  took(method: string, ms: number): void {
    const ofMethod = this.#byMethod.get(method) ?? [];
    this.#byMethod.set(method, ofMethod);
    for (const times of [this.#all, ofMethod]) if (times.push(ms) > REMEMBERED) times.shift();
  }

  /** How long a request with this method is waited for that shall cost others little time, in ms. */
  msOf(method: string): number {
    return Math.max(SOON_MS, TIMES * Math.max(usual(this.#all), usual(this.#byMethod.get(method) ?? [])));
  }
}

/** A quarter of them took no longer: 0 where there are none. */
const usual = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length / 4)] ?? 0;
