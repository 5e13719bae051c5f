/** Something that happens at a moment of virtual time. */
export interface Entry {
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
  /** Decides between entries of the same moment. */
  readonly tie: number;
  /** Decides between entries of the same moment and tie: first in, first out. */
  readonly order: number;
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.at !== b.at ? a.at < b.at : a.tie !== b.tie ? a.tie < b.tie : a.order < b.order;

/** A binary heap, earliest entry first. */
export class TimeQueue<Item extends Entry> {
  readonly #heap: Item[] = [];

  get size(): number {
    return this.#heap.length;
  }

  push(item: Item): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above] as Item;
      if (!isBefore(item, parent)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = item;
  }

  pop(): Item | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      const right = below + 1;
      if (right < heap.length && isBefore(heap[right] as Item, heap[below] as Item)) below = right;
      const child = heap[below] as Item;
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
    return first;
  }
}
