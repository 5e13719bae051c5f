/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** For the page after this one; `null` on the last. */
  readonly nextCursor: string | null;
}

/**
 * A list that is read as it is walked:
 *
 * ```ts
 * for await (const intent of client.intents.list({ state: ['confirmed'] })) …
 * const { items, nextCursor } = await client.intents.list({ limit: 10 }).page();
 * ```
 */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>;
  readonly #start: string | undefined;

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>, start?: string) {
    this.#read = read;
    this.#start = start;
  }

  /** The first page alone. */
  page(): Promise<Page<Item>> {
    return this.#read(this.#start);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let cursor = this.#start;
    for (;;) {
      const { items, nextCursor } = await this.#read(cursor);
      yield* items;
      if (nextCursor === null) return;
      cursor = nextCursor;
    }
  }
}
