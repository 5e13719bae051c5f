/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; `null` on the last one. */
  readonly nextCursor: string | null;
  /** On the last page, where older items are archived: of those created up to then, some are not listed. */
  readonly endsAt?: string;
}

/**
 * A list whose pages are fetched as you iterate.
 *
 * @example
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

  /** Fetches only the first page. */
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
