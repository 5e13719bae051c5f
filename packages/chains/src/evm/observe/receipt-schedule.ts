import type { TransactionHash } from '@pf/domain';

/** Receipts of a submission are asked for when it is half as old again as the last time, within these bounds. */
const MIN_MS = 1_000;
const MAX_MS = 600_000;

/** When the receipt of which transaction is asked for next. */
export class ReceiptSchedule {
  readonly #due = new Map<TransactionHash, number>();

  isDue(hash: TransactionHash, now: number): boolean {
    return now >= (this.#due.get(hash) ?? 0);
  }
  /** @param since when the transaction could first be on chain. */
  asked(hash: TransactionHash, since: number, now: number): void {
    this.#due.set(hash, now + Math.min(Math.max((now - since) / 2, MIN_MS), MAX_MS));
  }
  /** Forgets the schedules of what is no longer asked about. */
  keep(asked: ReadonlySet<TransactionHash>): void {
    for (const hash of this.#due.keys()) if (!asked.has(hash)) this.#due.delete(hash);
  }
}
