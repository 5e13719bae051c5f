import type { Outcome } from '../messages.ts';
import type { WorkerProcess } from './worker-process.ts';

const KEPT_LINES = 200_000;

/** Switches off the kinds of commands and faults without which the seed still breaks the same invariant. */
export async function shrink(worker: WorkerProcess, failed: Outcome): Promise<Outcome> {
  const breaks = (outcome: Outcome): boolean => outcome.failure?.invariant === failed.failure?.invariant;
  const without: string[] = [];
  // A kind may be needed only as long as another one is on.
  for (let before = -1; before < without.length;) {
    before = without.length;
    for (const kind of failed.kinds)
      if (!without.includes(kind) && breaks(await worker.run(failed.seed, [...without, kind]))) without.push(kind);
  }
  return worker.run(failed.seed, without, KEPT_LINES);
}
