interface Lane {
  running: number;
  /** How many were turned away so far, and up to which of them nothing more was found waiting. */
  turnedAway: number;
  served: number;
}

/**
 * Bounds the attempts of one URL that are under way in this process, so that a slow one holds only its own lane. Who finds
 * the lane full is turned away without waiting; whoever is in it goes on with the next until none is found that was
 * turned away: nobody is forgotten, and nothing is asked where nobody was.
 */
export class EndpointConcurrency {
  readonly #width: number;
  readonly #lanes = new Map<string, Lane>();

  constructor(width: number) {
    this.#width = width;
  }

  /**
   * Runs `first` in the lane, then `next` as long as it finds something for those who were turned away.
   * @param next does one more and tells whether it found one; it must look after it was called
   * @returns false where the lane was full: neither was called
   */
  async run(endpointId: string, first: () => Promise<unknown>, next: () => Promise<boolean>): Promise<boolean> {
    let lane = this.#lanes.get(endpointId);
    if (!lane) this.#lanes.set(endpointId, (lane = { running: 0, turnedAway: 0, served: 0 }));
    if (lane.running >= this.#width) {
      lane.turnedAway += 1;
      return false;
    }
    lane.running += 1;
    try {
      await first();
      while (lane.served < lane.turnedAway) {
        const before = lane.turnedAway;
        if (!(await next())) lane.served = Math.max(lane.served, before);
      }
      return true;
    } finally {
      lane.running -= 1;
      if (lane.running === 0) this.#lanes.delete(endpointId);
    }
  }
}
