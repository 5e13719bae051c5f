import type { Reply } from '@pf/contracts';
import { type Database, findOutcomes } from '@pf/database';
import type { CommandId } from '@pf/domain';
import { count, type Logger, pause } from '@pf/runtime';

/** How long a reply is trusted to come: publishing is not acknowledged, so one can be lost while both ends are connected. */
const TRUST_MS = 1_000;
/** Between two looks into the database: the fresher those who wait, the shorter. */
const LOOK_MS = { min: 20, max: 500 } as const;

/** Nobody has told in time what became of a command: it may have been carried out, or may yet be. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
}

interface Waiting {
  readonly since: number;
  timer: NodeJS.Timeout;
  settle(reply: Reply): void;
}

/**
 * Those who wait for the outcome of a command. It comes by Redis, as a rule; where that is away or silent it is read
 * from Postgres, one query for all who wait, so that replies are slower then and none is lost.
 */
export class Outcomes {
  readonly #database: Database;
  readonly #log: Logger;
  readonly #waiting = new Map<CommandId, Waiting>();
  /** Of those, the ones that are looked for in the database. */
  readonly #sought = new Set<CommandId>();
  #looking = false;
  #hurry = new AbortController();

  constructor(database: Database, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  /**
   * Resolves with what became of the command. To be called before the command is sent, so that no reply is missed.
   * @param heard whether replies are heard now
   * @throws OutcomeUnknownError after `patienceMs`
   */
  expect(commandId: CommandId, heard: boolean, patienceMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.forget(commandId);
        reject(new OutcomeUnknownError(`no outcome of ${commandId} within ${patienceMs} ms`));
      };
      const doubt = (): void => {
        waiting.timer = setTimeout(giveUp, patienceMs - TRUST_MS);
        this.#seek([commandId]);
      };
      const waiting: Waiting = { since: performance.now(), timer: setTimeout(doubt, TRUST_MS), settle: resolve };
      this.#waiting.set(commandId, waiting);
      if (!heard) this.#seek([commandId]);
    });
  }

  /** A reply has come. Where nobody waits for it any more it is dropped: it was asked for twice, or too long ago. */
  settle(reply: Reply, source: 'redis' | 'database' = 'redis'): void {
    const { commandId } = reply.outcome;
    const waiting = this.#waiting.get(commandId);
    this.forget(commandId);
    if (!waiting) return;
    count('payments.replies', { source });
    waiting.settle(reply);
  }

  /** Replies may have been missed: all who wait are looked for in the database. */
  seekAll(): void {
    this.#seek(this.#waiting.keys());
  }

  /** Nobody waits for this command any more. */
  forget(commandId: CommandId): void {
    clearTimeout(this.#waiting.get(commandId)?.timer);
    this.#waiting.delete(commandId);
    this.#sought.delete(commandId);
  }

  #seek(commandIds: Iterable<CommandId>): void {
    for (const commandId of commandIds) this.#sought.add(commandId);
    this.#hurry.abort();
    if (!this.#looking) void this.#look();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#sought.size > 0) {
      // Who comes now must not wait out a long pause that was meant for others.
      this.#hurry = new AbortController();
      const ms = this.#pauseMs();
      await pause(ms, ms > LOOK_MS.min ? this.#hurry.signal : undefined);
      try {
        for (const outcome of await findOutcomes(this.#database, [...this.#sought]))
          this.settle({ outcome, intent: null }, 'database');
      } catch (error) {
        // The database is away too: it is asked again until those who wait give up.
        this.#log.warn({ err: error }, 'outcomes cannot be read');
      }
    }
    this.#looking = false;
  }

  #pauseMs(): number {
    let newest = 0;
    for (const commandId of this.#sought) newest = Math.max(newest, this.#waiting.get(commandId)?.since ?? 0);
    return Math.min(LOOK_MS.max, Math.max(LOOK_MS.min, (performance.now() - newest) / 4));
  }
}
