import type { Address } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { least } from '../../bigints.ts';
import type { WatchSet } from '../../port.ts';
import type { SetAside } from '../../set-aside.ts';
import type { Block, Log } from '../calls.ts';
import { newestOf } from './checkpoints.ts';
import { type ReadPosition, soonestPaid, WHOLE_MS, wholeOf } from './early-look.ts';
import { type FirstReader, firstReaderAfter } from './first-reader.ts';
import type { LogWindow } from './log-window.ts';

/** A transaction that could not be judged, and why. */
export type Unjudged = Omit<SetAside, 'since' | 'dueAt'>;

/** What was found in transactions, and which of them could not be judged. */
export interface Findings<T> {
  readonly found: readonly T[];
  readonly unjudged: readonly Unjudged[];
}

/** The findings in a range of blocks, and the last of these as it was then. */
export interface Reading<T> extends Findings<T> {
  readonly end: Pick<Block, 'number' | 'hash'>;
}

/** The findings in a range of blocks that was read once more, and up to which one. */
export interface Rereading<T> extends Findings<T> {
  readonly end: Pick<Block, 'number'>;
  /** Of the block after these, the logs up to this index were read too. Absent: none. */
  readonly within?: bigint;
}

/**
 * What a rereading has still to judge, in the order of the chain.
 * @param from the first block of its range
 * @param after the logs of that block up to this index were read
 */
export const notYetReread = <T>(all: readonly T[], logOf: (one: T) => Log, from: bigint, after: bigint): readonly T[] =>
  all
    .filter((one) => logOf(one).blockNumber > from || logOf(one).logIndex > after)
    .sort((one, other) => {
      const [a, b] = [logOf(one), logOf(other)];
      return Number(a.blockNumber === b.blockNumber ? a.logIndex - b.logIndex : a.blockNumber - b.blockNumber);
    });

/** Where a rereading ends that leaves this log, and all behind it, for the next one. */
export const endingBefore = ({ blockNumber, logIndex }: Log): Pick<Rereading<never>, 'end' | 'within'> => ({
  end: { number: blockNumber - 1n },
  ...(logIndex > 0n && { within: logIndex - 1n }),
});

/**
 * Reads a range of blocks, as far as one call may reach.
 * @param expected the hash of the last block, as the node reported it before
 * @param recipients default: all
 */
type Read<T> = (
  from: bigint,
  to: bigint,
  expected: string | null,
  recipients?: readonly Address[],
) => Promise<Reading<T>>;

/** What a step has read of the new blocks. */
export interface NewBlocks<T> extends Findings<T> {
  /** The newest block that was read, by an early look too. */
  readonly reached: Pick<Block, 'number' | 'hash'>;
  /** Up to these blocks all recipients were read: before, and now. */
  readonly wholeBefore: bigint;
  readonly whole: bigint;
  /** One call does not take all recipients. */
  readonly isSplit: boolean;
  readonly isEarly: boolean;
}

interface Step {
  readonly node: RpcNode;
  readonly watch: WatchSet;
  readonly logs: LogWindow;
  /** When all recipients were last read up to the head, by our clock. */
  readonly wholeAt: number;
  readonly now: number;
}

/**
 * Reads the new blocks up to the head: for all recipients, or for those that are paid soonest, where one call does not
 * take all of them and all were read a moment ago.
 * @param isInLedger what an early look has reported is not reported again
 */
export async function readNewBlocks<T>(
  { node, watch, logs, wholeAt, now }: Step,
  position: ReadPosition,
  head: Block,
  read: Read<T>,
  isInLedger: (one: T) => boolean,
): Promise<NewBlocks<T>> {
  const [start, wholeBefore] = [newestOf(position), wholeOf(position)];
  const isSplit = !logs.takesAll(node, watch.recipients().length);
  const isEarly = isSplit && now - wholeAt < WHOLE_MS;
  const idle: NewBlocks<T> = {
    reached: start,
    wholeBefore,
    whole: wholeBefore,
    found: [],
    unjudged: [],
    isSplit,
    isEarly,
  };
  if (isEarly) {
    const soonest = soonestPaid(watch);
    if (start.number >= head.number || soonest.length === 0) return idle;
    const { end, ...findings } = await read(start.number + 1n, head.number, head.hash, soonest);
    return { ...idle, reached: end, ...findings };
  }
  if (wholeBefore >= head.number) return idle;
  const { end, found, unjudged } = await read(wholeBefore + 1n, head.number, head.hash);
  return {
    ...idle,
    reached: end.number > start.number ? end : start,
    whole: end.number,
    found: wholeBefore === start.number ? found : found.filter((one) => !isInLedger(one)),
    unjudged,
  };
}

/** Which upstream has read the blocks that wait for their second reading, after the new ones were read. */
export const readerOf = (
  before: FirstReader,
  node: RpcNode,
  { whole, wholeBefore }: Pick<NewBlocks<unknown>, 'whole' | 'wholeBefore'>,
  readTwice: bigint,
): FirstReader => (whole === wholeBefore ? before : firstReaderAfter(before, node, wholeBefore <= readTwice));

/** A second reading: up to which block, and what of it the ledger does not have. */
interface SecondReading<T> extends Findings<T> {
  readonly end: bigint;
  /** As of a Rereading. */
  readonly within: bigint | undefined;
}

/**
 * Reads blocks once more, by another upstream than the first time, for what that has left out. Null where another one
 * may soon respond.
 */
export async function readAgain<T>(
  pool: RpcPool,
  node: RpcNode,
  firstReader: FirstReader,
  read: (by: RpcNode) => Promise<Rereading<T>>,
  isInLedger: (one: T) => boolean,
): Promise<SecondReading<T> | null> {
  const readings = await pool.doubleCheck(node, firstReader, read);
  if (readings === null) return null;
  const end = readings.map((one) => one.end.number).reduce(least);
  const withins = readings.filter((one) => one.end.number === end).map(({ within }) => within);
  return {
    end,
    within: withins.reduce((a, b) => (a === undefined || b === undefined ? undefined : least(a, b))),
    found: readings.flatMap(({ found }) => found).filter((one) => !isInLedger(one)),
    unjudged: readings.flatMap(({ unjudged }) => unjudged),
  };
}
