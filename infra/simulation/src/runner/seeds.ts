import { availableParallelism } from 'node:os';
import type { Outcome } from '../messages.ts';
import { bugs } from '../planted/bugs.ts';
import { WorkerProcess } from './worker-process.ts';

export interface SeedsOptions {
  /** The first seed; the others follow it. */
  readonly from: number;
  readonly count: number;
  /** Stops handing out seeds when it returns true. */
  readonly enough?: () => boolean;
  readonly workers?: number;
  readonly bug?: string;
  /** Kinds of commands and faults that are switched off. */
  readonly without?: readonly string[];
}

/** Runs seeds on all cores; calls `each` with every outcome, in the order in which they end. */
export async function runSeeds(options: SeedsOptions, each: (outcome: Outcome) => void | Promise<void>): Promise<void> {
  const { from, count, enough = () => false, workers = availableParallelism(), bug, without = [] } = options;
  let next = from;
  await Promise.all(
    Array.from({ length: Math.min(workers, count) }, async () => {
      const worker = new WorkerProcess(bug);
      try {
        while (next < from + count && !enough()) await each(await worker.run(next++, without));
      } finally {
        worker.close();
      }
    }),
  );
}

/** How many seeds may be needed to find a planted bug. */
export const MOST_SEEDS = 2_000;

export interface FoundBug {
  readonly name: string;
  /** Null: not within MOST_SEEDS. */
  readonly foundAfterSeeds: number | null;
  readonly invariant: string | null;
}

/** Runs seeds with a planted bug until one fails that passes without it. */
export async function findBug(name: string, most = MOST_SEEDS): Promise<FoundBug> {
  if (!bugs.some((bug) => bug.name === name)) throw new Error(`There is no planted bug "${name}".`);
  const sound = new WorkerProcess();
  let found: Outcome | null = null;
  try {
    await runSeeds({ from: 1, count: most, bug: name, enough: () => found !== null }, async (outcome) => {
      if (outcome.failure === null || (await sound.run(outcome.seed)).failure !== null) return;
      if (found === null || outcome.seed < found.seed) found = outcome;
    });
  } finally {
    sound.close();
  }
  const first = found as Outcome | null;
  return { name, foundAfterSeeds: first?.seed ?? null, invariant: first?.failure?.invariant ?? null };
}
