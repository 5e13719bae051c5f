import { count } from '@pf/runtime';
import type { Cluster } from './cluster.ts';
import type { OpenTransaction, TransactionState } from './transaction-requests.ts';
import type { LogSink } from '../port.ts';

/** The coordinator still has to write the marker, or to abort after the time-out: no one else may. */
const UNFINISHED = ['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'];
const COMMITTED = ['PrepareCommit', 'CompleteCommit'];
/** Fencing an ongoing transaction aborts it. */
const ABORTED = ['Ongoing', 'PrepareAbort', 'CompleteAbort', 'PrepareEpochFence'];

export interface Fenced {
  readonly cluster: Pick<Cluster, 'openTransactions' | 'transactionsOf' | 'endTransaction'>;
  /** The cluster's name of intent.events. */
  readonly topic: string;
  readonly partition: number;
  /** What the coordinator knew of the partition's transactional id before the fence. */
  readonly former: TransactionState | null;
  /** The position up to which the partition is projected. */
  readonly projected: () => Promise<bigint>;
  readonly log: LogSink;
}

/**
 * Ends transactions that hang: they have records in the partition, and their coordinator has forgotten them. It wrote
 * no marker because the partition had no leader at that moment, as while a broker starts after kill -9, and took the
 * partition for a deleted one (TransactionMarkerChannelManager). Readers would stop there forever, and the next
 * transaction would decide the fate of the records of this one.
 *
 * After the fence no transaction of ours is open, so whatever is open hangs. What is projected was committed;
 * otherwise the coordinator's last word counts.
 *
 * @throws Error with the remedy where the outcome is not known, and while another transaction is still open
 */
export async function endHangingTransactions(fenced: Fenced): Promise<void> {
  const { cluster, topic, partition, log } = fenced;
  for (const open of await cluster.openTransactions(topic, partition)) {
    const other = (await cluster.transactionsOf(open.producerId)).find(({ state }) => UNFINISHED.includes(state));
    if (other)
      throw new Error(`Partition ${partition} waits for the transaction of ${other.transactionalId}, which is open.`);
    const committed = await outcomeOf(open, fenced);
    const { producerId, producerEpoch } = open;
    const about = { partition, producerId, producerEpoch, start: String(open.start) };
    if (committed === null) {
      count('payments.alarms', { alarm: 'hanging_transaction' });
      log.error({ ...about, alarm: 'hanging_transaction' }, 'a transaction hangs, and its outcome is not known');
      throw new Error(
        `Partition ${partition} has a hanging transaction from ${open.start} of producer ${producerId}: ` +
          'end it as docs/operations/runbooks/hanging-transaction.md says.',
      );
    }
    await cluster.endTransaction(topic, partition, open, committed);
    count('payments.hanging_transactions', { outcome: committed ? 'committed' : 'aborted' });
    log.warn({ ...about, committed }, 'a hanging transaction was ended');
  }
}

/** True: committed. Null: not known. */
async function outcomeOf(open: OpenTransaction, { former, projected }: Fenced): Promise<boolean | null> {
  // A batch is projected only when its commit was acknowledged.
  if ((await projected()) > open.start) return true;
  if (former?.producerId !== open.producerId) return null;
  if (COMMITTED.includes(former.state) && former.producerEpoch === open.producerEpoch) return true;
  // An abort by the coordinator raises the epoch.
  const raised = former.producerEpoch - open.producerEpoch;
  return ABORTED.includes(former.state) && (raised === 0 || raised === 1) ? false : null;
}
