import type { Instant, TransactionHash } from '@pf/domain';
import type { LateReads } from '../../late-reads.ts';
import type { WatchSet } from '../../port.ts';
import { dueAgain, type SetAside } from '../../set-aside.ts';

/** What no step waits for, and what has come of it since the last step. */
interface Late {
  readonly reads: Pick<LateReads<unknown>, 'isKnown' | 'room'>;
  readonly come: ReadonlyMap<TransactionHash, unknown>;
}

/** What a step looks at again. */
interface DueAgain {
  /** What has come beside the steps. */
  readonly come: readonly SetAside[];
  /** What is to be read there now. */
  readonly beside: readonly SetAside[];
  /** What the step itself asks for. */
  readonly again: readonly SetAside[];
}

/** What no step waits for takes no place of others. @param most of what the step asks for */
export function dueBesides(
  watch: WatchSet,
  all: readonly SetAside[],
  now: Instant,
  most: number,
  late: Late | undefined,
): DueAgain {
  const hasCome = ({ hash }: SetAside): boolean => late?.come.has(hash) === true;
  const isLate = ({ hash }: SetAside): boolean => late?.reads.isKnown(hash) === true;
  const others = all.filter((one) => !hasCome(one));
  const asked = others.filter((one) => !isLate(one));
  return {
    come: all.filter(hasCome),
    beside: dueAgain(watch, others.filter(isLate), now, late?.reads.room ?? 0),
    again: dueAgain(watch, asked, now, most),
  };
}
