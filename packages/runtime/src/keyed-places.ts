import { Places } from './places.ts';

/** A number of places for each of many keys; one without work takes no memory. */
export class KeyedPlaces {
  readonly #waiting: number;
  readonly #places = new Map<string, Places>();

  /** @param waiting how many may wait in line for a place of one key */
  constructor(waiting: number) {
    this.#waiting = waiting;
  }

  /** Runs the work in a place of the key, as `take` gives it. */
  async run<Result>(place: KeyedPlace, work: () => Promise<Result>): Promise<Result> {
    const free = await this.take(place);
    try {
      return await work();
    } finally {
      free();
    }
  }

  /**
   * Waits for a place of the key.
   * @param most how many places the key has
   * @param until when it stops waiting, by performance.now()
   * @param refuse makes the error if none becomes free in time; nothing was done
   * @returns gives the place back, to be called once
   */
  async take({ key, most, until, refuse }: KeyedPlace): Promise<() => void> {
    const places = this.#places.get(key) ?? new Places(most, this.#waiting);
    this.#places.set(key, places);
    if (!(await places.take(Math.max(0, until - performance.now())))) throw refuse();
    return () => {
      places.free();
      if (places.empty) this.#places.delete(key);
    };
  }
}

interface KeyedPlace {
  readonly key: string;
  readonly most: number;
  readonly until: number;
  readonly refuse: () => Error;
}
