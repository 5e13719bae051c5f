import type { Reply } from '@pf/contracts';
import { forAll, type IntentQueries } from '@pf/database';
import type { CommandId } from '@pf/domain';
import { count, type Logger, pause } from '@pf/runtime';

/**
 * Replies can be lost (Redis pub/sub is not acknowledged): after this time the outcome is looked up in the database.
 */
const TRUST_REPLIES_MS = 1_000;
/** Pause between two queries: the shorter, the more recent the newest command. */
const QUERY_PAUSE_MS = { min: 20, max: 500 } as const;

/** The command timed out: it may have taken effect, or may still do so. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
}

interface Waiting {
  readonly since: number;
  timer: NodeJS.Timeout;
  settle(reply: Reply): void;
}

/**
 * Resolves the outcomes of commands. Normally a reply brings an outcome over Redis. If Redis is unavailable or a reply
 * is late, the outcome is read from Postgres, with one query for all commands that wait: slower, but none is lost.
 */
export class Outcomes {
  readonly #intents: Pick<IntentQueries, 'findOutcomes'>;
  readonly #log: Logger;
  readonly #waiting = new Map<CommandId, Waiting>();
  /** Those of them whose outcome is looked up in the database. */
  readonly #lookedUp = new Set<CommandId>();
  #querying = false;
  #hurry = new AbortController();

  constructor(intents: Pick<IntentQueries, 'findOutcomes'>, log: Logger) {
    this.#intents = intents;
    this.#log = log;
  }

  /**
   * Resolves with the outcome of the command. Call it before the command is sent, so that the reply is not missed.
   * @param repliesArrive whether the reply channel is connected
   * @throws OutcomeUnknownError after `timeoutMs`
   */
  expect(commandId: CommandId, repliesArrive: boolean, timeoutMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.forget(commandId);
        reject(new OutcomeUnknownError(`no outcome of ${commandId} within ${timeoutMs} ms`));
      };
      const stopTrusting = (): void => {
        waiting.timer = setTimeout(giveUp, timeoutMs - TRUST_REPLIES_MS);
        this.#lookUp([commandId]);
      };
      const waiting: Waiting = {
        since: performance.now(),
        timer: setTimeout(stopTrusting, TRUST_REPLIES_MS),
        settle: resolve,
      };
      this.#waiting.set(commandId, waiting);
      if (!repliesArrive) this.#lookUp([commandId]);
    });
  }

  /** Resolves the request that waits for this outcome. Drops a reply that came twice or too late. */
  settle(reply: Reply, source: 'redis' | 'database' = 'redis'): void {
    const { commandId } = reply.outcome;
    const waiting = this.#waiting.get(commandId);
    this.forget(commandId);
    if (!waiting) return;
    count('payments.replies', { source });
    waiting.settle(reply);
  }

  /** Looks up all outcomes in the database, because replies may have been missed. */
  lookUpAll(): void {
    this.#lookUp(this.#waiting.keys());
  }

  /** Stops waiting for this command. */
  forget(commandId: CommandId): void {
    clearTimeout(this.#waiting.get(commandId)?.timer);
    this.#waiting.delete(commandId);
    this.#lookedUp.delete(commandId);
  }

  #lookUp(commandIds: Iterable<CommandId>): void {
    for (const commandId of commandIds) this.#lookedUp.add(commandId);
    this.#hurry.abort();
    // For the commands of all, whoever's request begins it.
    if (!this.#querying) void forAll(() => this.#query());
  }

  async #query(): Promise<void> {
    this.#querying = true;
    while (this.#lookedUp.size > 0) {
      // A new command must not wait out a long pause that was meant for older ones.
      this.#hurry = new AbortController();
      const ms = this.#pauseMs();
      await pause(ms, ms > QUERY_PAUSE_MS.min ? this.#hurry.signal : undefined);
      try {
        for (const outcome of await this.#intents.findOutcomes([...this.#lookedUp]))
          this.settle({ outcome, intent: null }, 'database');
      } catch (error) {
        // The database is unavailable too: it is queried again until the requests time out.
        this.#log.warn({ err: error }, 'outcomes of commands cannot be read: will retry');
      }
    }
    this.#querying = false;
  }

  #pauseMs(): number {
    let newest = 0;
    for (const commandId of this.#lookedUp) newest = Math.max(newest, this.#waiting.get(commandId)?.since ?? 0);
    return Math.min(QUERY_PAUSE_MS.max, Math.max(QUERY_PAUSE_MS.min, (performance.now() - newest) / 4));
  }
}
