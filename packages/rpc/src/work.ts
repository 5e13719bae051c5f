import { AsyncLocalStorage } from 'node:async_hooks';

/** What a pool allows the piece of work that runs on an upstream: each of its requests waits no longer than that. */
export interface Work {
  /** By performance.now(). */
  readonly deadline: number;
  /** Another upstream may have calls left: none is waited for that has just refused some. */
  readonly canMoveOn: boolean;
  /** It goes before the calls that wait for their turn. */
  readonly isUrgent: boolean;
  /** What only a second upstream's word makes an answer of the chain (the class `claim`) has one word so far. */
  readonly doubtsClaims?: boolean;
}

const works = new AsyncLocalStorage<{ readonly work: Work; isOver: boolean }>();

/** The work under way; undefined outside of any, also for what it has started and does not wait for. */
export function currentWork(): Work | undefined {
  const current = works.getStore();
  return current === undefined || current.isOver ? undefined : current.work;
}

export async function runWork<T>(work: Work, run: () => Promise<T>): Promise<T> {
  const current = { work, isOver: false };
  try {
    return await works.run(current, run);
  } finally {
    current.isOver = true;
  }
}
