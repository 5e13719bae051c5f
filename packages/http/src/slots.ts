/** How many slots each name has. */
type Numbers = Readonly<Record<string, number>>;

/** What all who ask share. */
export interface SharedSlots {
  /** The rooms in which each of them needs a slot. */
  readonly rooms: Numbers;
  /** Beside these, once one is full: for those who have next to nothing under way, so that a few never have all. */
  readonly reserve: Numbers;
  /** How many of the reserve each name of whoever asks has, with what it has of the rooms. Default: 1 */
  readonly each?: number;
}

/** Counts what is under way by name, up to a number for each. */
export class Slots {
  readonly #taken = new Map<string, number>();

  /**
   * Takes a slot of each name, or none.
   * @param wanted how many each name has
   * @returns what gives them back, or the first name that has none left
   */
  take(wanted: Numbers): (() => void) | { readonly full: string } {
    const names = Object.keys(wanted);
    const full = names.find((name) => (this.#taken.get(name) ?? 0) >= (wanted[name] ?? 0));
    if (full !== undefined) return { full };
    for (const name of names) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      for (const name of names) {
        const left = (this.#taken.get(name) ?? 1) - 1;
        if (left > 0) this.#taken.set(name, left);
        else this.#taken.delete(name);
      }
    };
  }

  /**
   * Takes a slot of each name and of each room, or of the reserve where a room is full, or none.
   * @param own how many each name has of whoever asks: an account, a person, an address
   * @returns what gives them back, or the first name that has none left: that of a room also where the reserve has none
   */
  takeShared(own: Numbers, { rooms, reserve, each = 1 }: SharedSlots): (() => void) | { readonly full: string } {
    const taken = this.take({ ...own, ...rooms });
    if (typeof taken === 'function' || !(taken.full in rooms)) return taken;
    const few = Object.fromEntries(Object.entries(own).map(([name, most]) => [name, Math.min(most, each)]));
    const reserved = this.take({ ...few, ...reserve });
    return typeof reserved === 'function' ? reserved : taken;
  }
}
