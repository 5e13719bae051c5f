import type { Address, TransactionHash } from '@pf/domain';
import type { ChainTransaction } from '../../evm/calls.ts';
import { LogWindow } from '../../evm/observe/log-window.ts';
import { ReceiptSchedule } from '../../evm/observe/receipt-schedule.ts';
import type { PaymentCall } from '../calldata.ts';
import { decodePayment } from '../calldata.ts';

/** What a look at a transaction told. */
export interface TransactionSummary {
  readonly from: Address;
  readonly nonce: bigint;
  /** Whose contract it called. */
  readonly to: Address | null;
  /** Null where its calldata is no payment with a reference. */
  readonly payment: PaymentCall | null;
}

const SUMMARIES_MAX = 20_000;
/** A final transfer is observed again when the ledger has not taken it after this time. */
const REPEAT_MS = 30_000;

/** What saves the observer work between steps. All of it can be lost. */
export class Memory {
  readonly #looks = new Map<TransactionHash, TransactionSummary>();
  readonly #finalized = new Map<TransactionHash, number>();
  readonly receipts = new ReceiptSchedule();
  readonly logs = new LogWindow();
  /** Somebody waits for what the next steps will see. */
  isAwaiting = false;
  /** When `safe` and `finalized` were last asked for, by our clock. */
  tagsAskedAt = 0;

  look(hash: TransactionHash): TransactionSummary | undefined {
    return this.#looks.get(hash);
  }

  /** The oldest look goes when there are too many. */
  remember({ hash, from, nonce, to, input }: ChainTransaction): TransactionSummary {
    const look = { from, nonce, to, payment: decodePayment(input) };
    this.#looks.set(hash, look);
    const oldest = this.#looks.keys().next();
    if (this.#looks.size > SUMMARIES_MAX && oldest.done !== true) this.#looks.delete(oldest.value);
    return look;
  }

  wasFinalizedLately(hash: TransactionHash, now: number): boolean {
    return now - (this.#finalized.get(hash) ?? -Infinity) < REPEAT_MS;
  }
  finalized(hash: TransactionHash, now: number): void {
    for (const [old, at] of this.#finalized) if (now - at >= REPEAT_MS) this.#finalized.delete(old);
    this.#finalized.set(hash, now);
  }
}
