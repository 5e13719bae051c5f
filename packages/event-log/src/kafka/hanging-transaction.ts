import { count } from '@pf/runtime';
import type { Cluster } from './cluster.ts';
import type { OpenTransaction, TransactionState } from './transaction-requests.ts';
import type { LogSink } from '../port.ts';

/** The coordinator still has to write the marker, or to abort after the time-out: no one else may. */
const UNFINISHED = ['Ongoing', 'PrepareCommit', 'PrepareAbort', 'PrepareEpochFence'];
const COMPLETED = ['CompleteCommit', 'CompleteAbort'];
const COMMITTED = ['PrepareCommit', 'CompleteCommit'];
const ABORTED = ['PrepareAbort', 'CompleteAbort', 'PrepareEpochFence'];

/** What the coordinator knew of the partition's transactional id, which the fence erases. */
export interface FormerState {
  /** Before the fence. */
  readonly before: TransactionState;
  /** After it; null while it was not asked since. */
  after: TransactionState | null;
}

/** A partition of intent.events, and how its former owner is fenced. */
export interface FenceOptions {
  readonly cluster: Pick<Cluster, 'openTransactions' | 'transaction' | 'transactionsOf' | 'endTransaction'>;
  /** The cluster's name of the topic. */
  readonly topic: string;
  readonly partition: number;
  readonly transactionalId: string;
  /** Takes the transactional id. Aborts its open transaction. */
  readonly fence: () => Promise<void>;
  /** After it: fences those to whom the former owner has delegated the partition. @returns what was known of them */
  readonly fenceDelegates: () => Promise<readonly FormerState[]>;
  /** What coordinators knew when this process fenced, by partition. Shared by its attempts to open a writer. */
  readonly formerStates: Map<number, FormerState>;
  /** The position up to which it is projected. */
  readonly projected: () => Promise<bigint>;
  readonly log: LogSink;
}

type KnownOptions = Omit<FenceOptions, 'fence' | 'fenceDelegates' | 'formerStates'>;
type EndOptions = Pick<FenceOptions, 'cluster' | 'topic' | 'partition' | 'log'>;

/**
 * Fences the former owner, and ends transactions that hang: they have records in the partition, and their coordinator
 * has forgotten them. It wrote no marker because the partition had no leader at that moment, as while a broker starts
 * after kill -9, and took the partition for a deleted one (TransactionMarkerChannelManager). Readers would stop there
 * forever, and the next transaction would decide the fate of the records of this one.
 *
 * @throws Error with the remedy where the outcome is not known, and while another transaction is still open
 */
export async function fenceFormerOwner(options: FenceOptions): Promise<void> {
  const { cluster, partition, transactionalId, fence, formerStates } = options;
  await endKnownTransactions(options);
  // The fence erases what the coordinator knows. If what follows fails, the next attempt needs it.
  const before = await cluster.transaction(transactionalId);
  if (before !== null && before.state !== 'Empty') formerStates.set(partition, { before, after: null });
  const former = formerStates.get(partition) ?? null;
  // An earlier attempt has fenced.
  if (former && former.before !== before) former.after ??= before;
  await fence();
  if (former) former.after ??= await cluster.transaction(transactionalId);
  const delegates = await options.fenceDelegates();
  await endHangingTransactions(options, former ? [former, ...delegates] : delegates);
  formerStates.delete(partition);
}

/**
 * Before the fence: ends a transaction that hangs if its coordinator still knows how it ended. So only one that begins
 * to hang with the fence depends on what this process remembers.
 *
 * It was open before the coordinator said that the id's last transaction is completed, and is still open: no marker
 * comes. And its owner, if it lives, begins no other transaction before it has ended.
 */
async function endKnownTransactions(options: KnownOptions): Promise<void> {
  const { cluster, topic, partition, transactionalId } = options;
  const seen = await cluster.openTransactions(topic, partition);
  if (seen.length === 0) return;
  const before = await cluster.transaction(transactionalId);
  if (before === null || !COMPLETED.includes(before.state)) return;
  for (const open of await cluster.openTransactions(topic, partition)) {
    if (open.producerId !== before.producerId || !seen.some(({ start }) => start === open.start)) continue;
    const committed = await outcomeOf(open, options, [{ before, after: null }]);
    if (committed !== null) await end(open, options, committed);
  }
}

/**
 * After the fence no transaction of ours is open, so whatever is open hangs. What is projected was committed;
 * otherwise the coordinator's last word counts.
 */
async function endHangingTransactions(options: FenceOptions, former: readonly FormerState[]): Promise<void> {
  const { cluster, topic, partition, log } = options;
  for (const open of await cluster.openTransactions(topic, partition)) {
    const other = (await cluster.transactionsOf(open.producerId)).find(({ state }) => UNFINISHED.includes(state));
    if (other)
      throw new Error(`Partition ${partition} waits for the transaction of ${other.transactionalId}, which is open.`);
    const committed = await outcomeOf(open, options, former);
    if (committed === null) {
      count('payments.alarms', { alarm: 'hanging_transaction' });
      log.error(
        { ...fieldsOf(open, options), alarm: 'hanging_transaction' },
        'a transaction hangs, and its outcome is not known',
      );
      throw new Error(
        `Partition ${partition} has a hanging transaction from ${open.start} of producer ${open.producerId}: ` +
          'end it as docs/operations/runbooks/hanging-transaction.md says.',
      );
    }
    await end(open, options, committed);
  }
}

/**
 * Fences a delegate, whose last transaction may hang in any partition. Before that, these are ended as its coordinator
 * knows.
 * @returns what the coordinator knew of it
 */
export async function fenceDelegate(
  options: Pick<FenceOptions, 'cluster' | 'topic' | 'transactionalId' | 'fence' | 'log'>,
  partitions: number,
): Promise<FormerState | null> {
  const { cluster, transactionalId, fence } = options;
  await Promise.all(
    Array.from({ length: partitions }, (_, partition) =>
      endKnownTransactions({ ...options, partition, projected: async () => 0n }),
    ),
  );
  const before = await cluster.transaction(transactionalId);
  await fence();
  return before && { before, after: await cluster.transaction(transactionalId) };
}

async function end(open: OpenTransaction, options: EndOptions, committed: boolean): Promise<void> {
  const { cluster, topic, partition, log } = options;
  await cluster.endTransaction(topic, partition, open, committed);
  count('payments.hanging_transactions', { outcome: committed ? 'committed' : 'aborted' });
  log.warn({ ...fieldsOf(open, options), committed }, 'a hanging transaction was ended');
}

const fieldsOf = ({ producerId, producerEpoch, start }: OpenTransaction, { partition }: EndOptions) => ({
  partition,
  producerId,
  producerEpoch,
  start: String(start),
});

/** True: committed. Null: not known. */
async function outcomeOf(
  open: OpenTransaction,
  { projected }: Pick<FenceOptions, 'projected'>,
  formers: readonly FormerState[],
): Promise<boolean | null> {
  // A batch is projected only when its commit was acknowledged.
  if ((await projected()) > open.start) return true;
  const former = formers.find(({ before }) => before.producerId === open.producerId);
  if (!former) return null;
  const { before, after } = former;
  // An abort by the coordinator raises the epoch.
  const raised = before.producerEpoch - open.producerEpoch;
  // A fence raises it once where the transaction has ended, and twice where it aborts it. The former owner may still
  // have committed what was ongoing before the fence; and after the fence of yet another process it is unknown.
  const fences = after === null ? 1 : after.producerEpoch - before.producerEpoch;
  if (after !== null && after.producerId !== before.producerId) return null;
  if (fences === 1 && raised === 0 && COMMITTED.includes(before.state)) return true;
  if (fences === 1 && (raised === 0 || raised === 1) && ABORTED.includes(before.state)) return false;
  if (fences === 2 && raised === 0 && before.state === 'Ongoing') return false;
  return null;
}
