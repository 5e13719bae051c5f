import { Places } from './places.ts';

/** A number of places for each of many keys; one without work takes no memory. */
export class KeyedPlaces {
  readonly #waiting: number;
  readonly #places = new Map<string, Places>();

  /** @param waiting how many may wait in line for a place of one key */
  constructor(waiting: number) {
    this.#waiting = waiting;
  }

  /**
   * Runs the work in a place of the key.
   * @param most how many places the key has
   * @param until when it stops waiting, by performance.now()
   * @param refuse makes the error if none becomes free in time; nothing was done
   */
  async run<Result>({ key, most, until, refuse }: KeyedPlace, work: () => Promise<Result>): Promise<Result> {
    const places = this.#placesOf(key, most);
    if (!(await places.take(Math.max(0, until - performance.now())))) throw refuse();
    try {
      return await work();
    } finally {
      this.#free(key, places);
    }
  }

  /** Waits for a place of the key, as `run` does. @returns gives it back, to be called once */
  async take({ key, most, until, refuse }: KeyedPlace): Promise<() => void> {
    const places = this.#placesOf(key, most);
    if (!(await places.take(Math.max(0, until - performance.now())))) throw refuse();
    return () => this.#free(key, places);
  }

  #placesOf(key: string, most: number): Places {
    let places = this.#places.get(key);
    if (!places) this.#places.set(key, (places = new Places(most, this.#waiting)));
    return places;
  }

  #free(key: string, places: Places): void {
    places.free();
    if (places.empty) this.#places.delete(key);
  }
}

interface KeyedPlace {
  readonly key: string;
  readonly most: number;
  readonly until: number;
  readonly refuse: () => Error;
}
