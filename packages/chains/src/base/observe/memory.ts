import type { Address, TransactionHash } from '@pf/domain';
import type { ChainTransaction } from '../../evm/calls.ts';
import type { PaymentCall } from '../calldata.ts';
import { decodePayment } from '../calldata.ts';

/** What a look at a transaction told. */
export interface Look {
  readonly from: Address;
  readonly nonce: bigint;
  /** Whose contract it called. */
  readonly to: Address | null;
  /** Null where its calldata is no payment with a reference. */
  readonly payment: PaymentCall | null;
}

const LOOKS_MAX = 20_000;
/** Blocks of one eth_getLogs while catching up. Providers' limits differ: it halves when one refuses, and grows again. */
const WINDOW_MAX = 2_000n;
/** A final transfer is observed again when the ledger has not taken it after this time. */
const REPEAT_MS = 30_000;
/** Receipts of a submission are asked for when it is half as old again as the last time, within these bounds. */
const RECEIPT_MIN_MS = 1_000;
const RECEIPT_MAX_MS = 600_000;

/** What saves the observer work between steps. All of it can be lost. */
export class Memory {
  readonly #looks = new Map<TransactionHash, Look>();
  readonly #finalised = new Map<TransactionHash, number>();
  readonly #receiptDue = new Map<TransactionHash, number>();
  window = WINDOW_MAX;
  /** Somebody waits for what the next steps will see. */
  isAwaited = false;
  /** When `safe` and `finalized` were last asked for, by our clock. */
  tagsAskedAt = 0;

  look(hash: TransactionHash): Look | undefined {
    return this.#looks.get(hash);
  }

  /** The oldest look goes when there are too many. */
  remember({ hash, from, nonce, to, input }: ChainTransaction): Look {
    const look = { from, nonce, to, payment: decodePayment(input) };
    this.#looks.set(hash, look);
    const oldest = this.#looks.keys().next();
    if (this.#looks.size > LOOKS_MAX && oldest.done !== true) this.#looks.delete(oldest.value);
    return look;
  }

  shrinkWindow(): void {
    this.window = this.window > 1n ? this.window / 2n : 1n;
  }
  growWindow(): void {
    this.window = this.window * 2n > WINDOW_MAX ? WINDOW_MAX : this.window * 2n;
  }

  wasFinalisedLately(hash: TransactionHash, now: number): boolean {
    return now - (this.#finalised.get(hash) ?? -Infinity) < REPEAT_MS;
  }
  finalised(hash: TransactionHash, now: number): void {
    for (const [old, at] of this.#finalised) if (now - at >= REPEAT_MS) this.#finalised.delete(old);
    this.#finalised.set(hash, now);
  }

  isReceiptDue(hash: TransactionHash, now: number): boolean {
    return now >= (this.#receiptDue.get(hash) ?? 0);
  }
  /** @param since when the transaction could first be on chain. */
  receiptAsked(hash: TransactionHash, since: number, now: number): void {
    this.#receiptDue.set(hash, now + Math.min(Math.max((now - since) / 2, RECEIPT_MIN_MS), RECEIPT_MAX_MS));
  }
  /** Forgets the schedules of what is no longer asked about. */
  keepReceipts(asked: ReadonlySet<TransactionHash>): void {
    for (const hash of this.#receiptDue.keys()) if (!asked.has(hash)) this.#receiptDue.delete(hash);
  }
}
