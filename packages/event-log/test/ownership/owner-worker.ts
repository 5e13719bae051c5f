/**
 * A process with a partition owner, for tests that kill, suspend and resume it. Started by fork() with its
 * configuration as the only argument; reports to its parent; SIGTERM stops it gracefully.
 */
import { createEventLog, type EventLogOptions } from '../../src/index.ts';
import { Ledger, LedgerWork, type Moment } from './ledger.ts';

export interface WorkerConfig {
  readonly options: EventLogOptions;
  /** The file of the ledger that all workers share. */
  readonly file: string;
  /** The signal that this process sends itself at the moment's n-th time: SIGKILL ends it, SIGSTOP suspends it. */
  readonly trap?: { readonly moment: Moment; readonly signal: 'SIGKILL' | 'SIGSTOP'; readonly time: number };
}

export type WorkerMessage =
  | { readonly kind: 'owned'; readonly partitions: readonly number[] }
  | {
      readonly kind: 'published';
      readonly partition: number;
      readonly ids: readonly number[];
      readonly caughtUp: number;
    }
  | { readonly kind: 'trapped'; readonly partition: number }
  | { readonly kind: 'lost'; readonly partition: number }
  | { readonly kind: 'crashed'; readonly reason: string };

const config = JSON.parse(process.argv[2] ?? '') as WorkerConfig;
let { trap } = config;
let times = 0;

/** Resolves when the parent has received the message, so that it is not lost with the process. */
const tell = (message: WorkerMessage): Promise<void> =>
  new Promise((resolve) =>
    process.connected ? process.send?.(message, undefined, undefined, () => resolve()) : resolve(),
  );

async function springTrap(moment: Moment, partition: number): Promise<void> {
  if (trap?.moment !== moment || ++times < trap.time) return;
  const { signal } = trap;
  trap = undefined;
  await tell({ kind: 'trapped', partition });
  process.kill(process.pid, signal);
}

const work: LedgerWork = new LedgerWork(new Ledger(config.file), {
  published: (partition, ids) => void tell({ kind: 'published', partition, ids, caughtUp: work.caughtUp }),
  lost: (partition) => void tell({ kind: 'lost', partition }),
  at: springTrap,
});
const owner = createEventLog(config.options).partitionOwner(
  work,
  (error) => void tell({ kind: 'crashed', reason: error.message }).then(() => process.exit(1)),
);

let reported = '';
const report = setInterval(() => {
  const partitions = owner.owned();
  if (reported === partitions.join()) return;
  reported = partitions.join();
  void tell({ kind: 'owned', partitions });
}, 5);

process.on('SIGTERM', () => {
  clearInterval(report);
  void owner.stop().then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
await owner.start();
