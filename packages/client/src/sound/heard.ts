import type { Announced } from './payload.ts';

/** An intent whose id was heard. Any device near can say any id: it proves nothing. */
export interface Heard extends Announced {
  /** How often it was heard. */
  readonly count: number;
}

/** A device may say a new id every two seconds. */
const MAX_IDS = 100;

/** Counts the ids that are heard; of too many it forgets the first. */
export class Tally {
  readonly #heard = new Map<string, Heard>();

  count({ id, livemode }: Announced): Heard {
    const key = `${String(livemode)} ${id}`;
    const heard = { id, livemode, count: (this.#heard.get(key)?.count ?? 0) + 1 };
    this.#heard.set(key, heard);
    const [first] = this.#heard.keys();
    if (this.#heard.size > MAX_IDS && first !== undefined) this.#heard.delete(first);
    return heard;
  }

  all(): readonly Heard[] {
    return [...this.#heard.values()];
  }
}
