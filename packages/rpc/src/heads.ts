/** Records older than this belong to a chain that has stalled or was reset. */
const FORGOTTEN_MS = 60_000;
const RECORDS_MAX = 256;

/**
 * When each head of a network was first reported, by any upstream. Tells how far behind an upstream is in time,
 * whatever the chain's block time.
 */
export class Heads {
  #records: readonly { readonly head: bigint; readonly at: number }[] = [];

  /**
   * Records the newest block or slot that an upstream reported.
   * @param askedAt when the request was sent, in ms
   * @param now when the response arrived, by the same clock
   * @returns for how many ms another upstream had already reported a newer head when this one was asked; 0 where none
   * had
   */
  record(head: bigint, askedAt: number, now: number): number {
    const newest = this.#records.at(-1);
    if (newest !== undefined && now - newest.at > FORGOTTEN_MS) this.#records = [];
    const newer = this.#records.find((record) => record.head > head);
    if (newer !== undefined) return Math.max(0, askedAt - newer.at);
    if (this.#records.at(-1)?.head !== head) this.#records = [...this.#records, { head, at: now }].slice(-RECORDS_MAX);
    return 0;
  }
}
