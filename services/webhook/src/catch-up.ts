import { type Database, stepCatchUp } from '@pf/database';
import { count, type Logger, PeriodicTask } from '@pf/runtime';
import { FailedSteps } from './failed-steps.ts';

const PAUSE_MS = 1_000;

export interface CatchUpDependencies {
  readonly database: Database;
  /** Wakes lanes of any process. Must neither throw nor be waited for. */
  readonly announce: (endpointIds: readonly string[]) => void;
  readonly log: Logger;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now: () => number;
}

/** Gives endpoints that have accepted what they had what they have missed, with all other processes. */
export function createCatchUp({ database, announce, log, now }: CatchUpDependencies): PeriodicTask {
  const failed = new FailedSteps('catch_up');
  return new PeriodicTask({
    name: 'catch up',
    pauseMs: PAUSE_MS,
    onFailure: (error) => log.warn({ err: error }, 'missed events cannot be read: will retry'),
    work: async (stopping) => {
      const at = new Date(now());
      while (!stopping.aborted) {
        const step = await stepCatchUp(database, at, (endpointId) => failed.againMs(endpointId));
        if (step === null) return;
        failed.forget(step.endpointId);
        if (step.made === 0) continue;
        count('payments.deliveries.caught_up', {}, step.made);
        announce([step.endpointId]);
      }
    },
  });
}
