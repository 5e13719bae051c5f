/** Records older than this are of a chain that stands still, or began anew. */
const FORGOTTEN_MS = 60_000;
const RECORDS_MAX = 256;

/** When each head of a network was shown for the first time, by whichever upstream: how far behind one is, in time, whatever the pace of the blocks. */
export class Heads {
  #records: readonly { readonly head: bigint; readonly at: number }[] = [];

  /**
   * Takes what an upstream gave as its newest block or slot.
   * @param askedAt when it was asked @param now when it answered, by the same clock in ms
   * @returns for how long a newer one had been shown by another when this one was asked; 0 where none had
   */
  note(head: bigint, askedAt: number, now: number): number {
    const newest = this.#records.at(-1);
    if (newest !== undefined && now - newest.at > FORGOTTEN_MS) this.#records = [];
    const newer = this.#records.find((record) => record.head > head);
    if (newer !== undefined) return Math.max(0, askedAt - newer.at);
    if (this.#records.at(-1)?.head !== head) this.#records = [...this.#records, { head, at: now }].slice(-RECORDS_MAX);
    return 0;
  }
}
