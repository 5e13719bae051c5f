interface Commit {
  /** True time. */
  readonly at: number;
  readonly undo: readonly (() => void)[];
}

/** The transactions of a simulated database, which can be taken back, newest first. */
export class Journal {
  readonly #commits: Commit[] = [];
  #undo: (() => void)[] | null = null;

  /** Runs `work` as one transaction: if it throws, nothing of it stays. */
  transaction<Result>(at: number, work: () => Result): Result {
    if (this.#undo !== null) throw new Error('A transaction runs already.');
    const undo: (() => void)[] = [];
    this.#undo = undo;
    try {
      const result = work();
      if (undo.length > 0) this.#commits.push({ at, undo });
      return result;
    } catch (error) {
      takeBack(undo);
      throw error;
    } finally {
      this.#undo = null;
    }
  }

  /** Called by tables, for each change. */
  changed(undo: () => void): void {
    if (this.#undo === null) throw new Error('A table was changed outside of a transaction.');
    this.#undo.push(undo);
  }

  /** Takes back what was committed after a time; returns the number of transactions. */
  setBack(to: number): number {
    let count = 0;
    for (let last = this.#commits.at(-1); last !== undefined && last.at > to; last = this.#commits.at(-1)) {
      takeBack(last.undo);
      this.#commits.pop();
      count++;
    }
    return count;
  }
}

function takeBack(undo: readonly (() => void)[]): void {
  for (const step of undo.toReversed()) step();
}

/** Rows by primary key. What is read must not be changed: a change is a new row. */
export class Table<Key, Row> {
  readonly #journal: Journal;
  readonly #rows = new Map<Key, Row>();

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: Key): Row | undefined {
    return this.#rows.get(key);
  }

  has(key: Key): boolean {
    return this.#rows.has(key);
  }

  values(): Iterable<Row> {
    return this.#rows.values();
  }

  entries(): Iterable<[Key, Row]> {
    return this.#rows.entries();
  }

  set(key: Key, row: Row): void {
    const before = this.#rows.get(key);
    this.#journal.changed(before === undefined ? () => this.#rows.delete(key) : () => this.#rows.set(key, before));
    this.#rows.set(key, row);
  }

  delete(key: Key): void {
    const before = this.#rows.get(key);
    if (before === undefined) return;
    this.#journal.changed(() => this.#rows.set(key, before));
    this.#rows.delete(key);
  }
}
