import { AsyncLocalStorage } from 'node:async_hooks';

/** What a pool allows the piece of work that runs on an upstream: each of its requests waits no longer than that. */
export interface Work {
  /** By performance.now(). */
  readonly deadline: number;
  /** Another upstream may have calls left: none is waited for that has just refused some. */
  readonly canMoveOn: boolean;
  /** It goes before the calls that wait for their turn. */
  readonly isUrgent: boolean;
}

const works = new AsyncLocalStorage<Work>();

/** The work under way; undefined outside of any. */
export const currentWork = (): Work | undefined => works.getStore();

export const runWork = <T>(work: Work, run: () => Promise<T>): Promise<T> => works.run(work, run);
