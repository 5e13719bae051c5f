/** Counts what is under way by name, up to a number for each. */
export class Slots {
  readonly #taken = new Map<string, number>();

  /**
   * Takes a slot of each name, or none.
   * @param wanted how many each name has
   * @returns what gives them back, or the first name that has none left
   */
  take(wanted: Readonly<Record<string, number>>): (() => void) | { readonly full: string } {
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
}
