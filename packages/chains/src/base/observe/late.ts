import type { TransactionHash } from '@pf/domain';
import type { CallingTransaction, Logged, Receipt } from '../../evm/calls.ts';
import type { LateReads } from '../../late-reads.ts';
import type { Explanation } from '../nested/explain.ts';

/** A transaction that was read beside the steps: each part, or why that cannot be had. */
export interface Whole {
  /** The upstream that was asked. */
  readonly by: string;
  readonly transaction: CallingTransaction | string;
  readonly receipt: Receipt | string;
  /** The same or, of a receipt that cannot be read, the logs in its block. */
  readonly logged: Logged | string;
  /** What its trace tells, where no step waits for that and the other parts were had. */
  readonly traced?: Explanation;
}

/** What no step waits for: where it is read, and what has come of that since the last step. */
export interface LateTransactions {
  readonly reads: Pick<LateReads<Whole>, 'isKnown' | 'note' | 'room'>;
  readonly come: ReadonlyMap<TransactionHash, Whole>;
  /**
   * It was not returned in time: it is read beside the steps, where there is room.
   * @param block where its logs are; null: not known
   * @param isTraced its trace was not returned in time, and is read there, too
   * @returns whether that has begun now
   */
  readonly begin: (hash: TransactionHash, block: bigint | null, isTraced?: boolean) => boolean;
}
