import { type Database, nextReplayStep, stepReplay } from '@pf/database';
import { BackOff, count, inWork, type Logger, pause } from '@pf/runtime';
import { FailedSteps } from './failed-steps.ts';

/** Without Redis, a new replay begins after this time. */
const IDLE_MS = 10_000;
/** Another process takes the step that is due, or it waits for another replay of its account. */
const BUSY_MS = 1_000;

export interface ReplayerDependencies {
  readonly database: Database;
  /** Wakes lanes of any process. Must neither throw nor be waited for. */
  readonly announce: (endpointIds: readonly string[]) => void;
  readonly log: Logger;
  /** Milliseconds since 1970, by a clock that all processes share. */
  readonly now: () => number;
  /** How many deliveries of an account are made due in a second. */
  readonly perSecond: number;
}

/** Takes the steps of replays, with all other processes: Postgres hands each step to one of them. */
export class Replayer {
  readonly #dependencies: ReplayerDependencies;
  readonly #failed = new FailedSteps('replay');
  readonly #stopping = new AbortController();
  #woken = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(dependencies: ReplayerDependencies) {
    this.#dependencies = dependencies;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** There may be a step to take. */
  wake(): void {
    this.#woken.abort();
  }

  /** Resolves when the step under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { log } = this.#dependencies;
    const { signal } = this.#stopping;
    const backOff = new BackOff(200, IDLE_MS);
    while (!signal.aborted) {
      this.#woken = new AbortController();
      const next = AbortSignal.any([signal, this.#woken.signal]);
      try {
        const waitMs = await inWork('replay', () => this.#steps());
        backOff.reset();
        await pause(waitMs, next);
      } catch (error) {
        // The step was undone, and is taken again.
        log.warn({ err: error }, 'replays cannot continue: will retry');
        await backOff.wait(signal);
      }
    }
  }

  /** Takes all steps that are due. @returns how long there are none */
  async #steps(): Promise<number> {
    const { database, announce, log, now, perSecond } = this.#dependencies;
    for (;;) {
      const next = (await nextReplayStep(database))?.getTime();
      if (next === undefined) return IDLE_MS;
      if (next > now()) return Math.min(next - now(), IDLE_MS);
      if (this.#stopping.signal.aborted) return 0;
      const againMs = (replayId: string): number => this.#failed.againMs(replayId);
      const step = await stepReplay(database, { now: new Date(now()), perSecond, againMs });
      if (!step) return BUSY_MS;
      this.#failed.forget(step.replayId);
      count('payments.deliveries.replayed', {}, step.sent);
      if (step.endpointIds.length > 0) announce(step.endpointIds);
      log.debug(step, 'step of a replay');
    }
  }
}
