import type { TransactionHash } from '@pf/domain';

/** The receipt of a submission is read again when its age has grown by half, within these bounds. */
const MIN_MS = 1_000;
const MAX_MS = 600_000;

/** When to read each transaction's receipt next. */
export class ReceiptSchedule {
  readonly #due = new Map<TransactionHash, number>();
  /** Of the step that is under way. */
  readonly #asked = new Map<TransactionHash, number>();

  /** A step begins. One that failed midway has concluded nothing from what it asked for, which stays due. */
  begin(): void {
    this.#asked.clear();
  }
  isDue(hash: TransactionHash, now: number): boolean {
    return now >= (this.#due.get(hash) ?? 0);
  }
  /** @param since when the transaction could first be on chain. */
  asked(hash: TransactionHash, since: number, now: number): void {
    this.#asked.set(hash, now + Math.min(Math.max((now - since) / 2, MIN_MS), MAX_MS));
  }
  /** The step in which they were asked for has come to its end. */
  commit(): void {
    for (const [hash, at] of this.#asked) this.#due.set(hash, at);
    this.#asked.clear();
  }
  /** Forgets the transactions whose receipts are no longer read. */
  keep(asked: ReadonlySet<TransactionHash>): void {
    for (const hash of this.#due.keys()) if (!asked.has(hash)) this.#due.delete(hash);
  }
}
