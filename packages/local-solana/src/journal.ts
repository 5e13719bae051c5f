import type { Account } from './runtime.ts';

interface Change {
  readonly slot: number;
  readonly before: Account | null;
}

/**
 * The accounts before each change that is not final yet: reads at `confirmed` and `finalized` see the state of
 * their slot, and a reorg can roll back.
 */
export class Journal {
  /** By address, oldest change first. */
  readonly #changes = new Map<string, Change[]>();
  #prunedTo = 0;

  add(slot: number, address: string, before: Account | null): void {
    const changes = this.#changes.get(address);
    if (changes === undefined) this.#changes.set(address, [{ slot, before }]);
    else changes.push({ slot, before });
  }
  /** The account at the end of `slot`; undefined: it has not changed since. */
  at(address: string, slot: number): Account | null | undefined {
    return this.#changes.get(address)?.find((change) => change.slot > slot)?.before;
  }
  /** The addresses of all recorded changes. */
  addresses(): Iterable<string> {
    return this.#changes.keys();
  }
  /** Removes all changes after `slot` and returns the accounts as they were before. */
  undo(slot: number): Map<string, Account | null> {
    const before = new Map<string, Account | null>();
    for (const [address, changes] of this.#changes) {
      const first = changes.findIndex((change) => change.slot > slot);
      const change = changes[first];
      if (change === undefined) continue;
      before.set(address, change.before);
      changes.length = first;
    }
    return before;
  }
  /** Drops changes of final slots, which no request can reach. */
  prune(finalized: number): void {
    if (finalized === this.#prunedTo) return;
    this.#prunedTo = finalized;
    for (const [address, changes] of this.#changes) {
      const kept = changes.filter(({ slot }) => slot > finalized);
      if (kept.length === 0) this.#changes.delete(address);
      else if (kept.length < changes.length) this.#changes.set(address, kept);
    }
  }
}
