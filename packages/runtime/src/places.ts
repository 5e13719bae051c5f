interface Waiter {
  readonly timer: NodeJS.Timeout;
  readonly enter: () => void;
}

/** A number of places; who finds none free waits in line. */
export class Places {
  readonly #most: number;
  readonly #waiting: number;
  #taken = 0;
  #line: Waiter[] = [];

  /** @param waiting how many may wait in line */
  constructor(most: number, waiting: number) {
    this.#most = most;
    this.#waiting = waiting;
  }

  get empty(): boolean {
    return this.#taken === 0 && this.#line.length === 0;
  }

  /**
   * Runs the work in a place.
   * @param refuse makes the error if none becomes free within `waitMs`, or too many wait already; nothing was done
   */
  async run<Result>(
    { waitMs, refuse }: { readonly waitMs: number; readonly refuse: () => Error },
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (!(await this.take(waitMs))) throw refuse();
    try {
      return await work();
    } finally {
      this.free();
    }
  }

  /** @returns false if none became free within `waitMs`, or too many wait already */
  take(waitMs: number): Promise<boolean> | true {
    if (this.#taken < this.#most && this.#line.length === 0) {
      this.#taken += 1;
      return true;
    }
    if (this.#line.length >= this.#waiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        timer: setTimeout(() => {
          this.#line = this.#line.filter((other) => other !== waiter);
          resolve(false);
        }, waitMs),
        enter: () => {
          clearTimeout(waiter.timer);
          resolve(true);
        },
      };
      this.#line.push(waiter);
    });
  }

  free(): void {
    const next = this.#line.shift();
    if (next) next.enter();
    else this.#taken -= 1;
  }
}
