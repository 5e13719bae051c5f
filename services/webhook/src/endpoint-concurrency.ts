/** One endpoint's attempts in this process. */
interface Slots {
  running: number;
  /** Attempts refused so far because all slots were taken. */
  refused: number;
  /** Of these, the number up to which no delivery is left waiting. */
  caughtUp: number;
}

/**
 * Bounds the attempts of one endpoint that are under way in this process, so that a slow endpoint takes only its own
 * slots. An attempt that finds all slots taken is refused without waiting. Whoever holds a slot goes on with the next
 * waiting delivery until none is left that was refused: no delivery is forgotten, and the database is queried only
 * after a refusal.
 */
export class EndpointConcurrency {
  readonly #limit: number;
  readonly #endpoints = new Map<string, Slots>();

  /** @param limit attempts of one endpoint at once */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Runs `first` in a slot of the endpoint, then `next` for as long as it finds one of the refused deliveries.
   * @param next attempts one more delivery and returns whether it found one; it must query after it was called
   * @returns false if all slots were taken: neither was called
   */
  async run(endpointId: string, first: () => Promise<unknown>, next: () => Promise<boolean>): Promise<boolean> {
    let slots = this.#endpoints.get(endpointId);
    if (!slots) this.#endpoints.set(endpointId, (slots = { running: 0, refused: 0, caughtUp: 0 }));
    if (slots.running >= this.#limit) {
      slots.refused += 1;
      return false;
    }
    slots.running += 1;
    try {
      await first();
      while (slots.caughtUp < slots.refused) {
        const before = slots.refused;
        if (!(await next())) slots.caughtUp = Math.max(slots.caughtUp, before);
      }
      return true;
    } finally {
      slots.running -= 1;
      if (slots.running === 0) this.#endpoints.delete(endpointId);
    }
  }
}
