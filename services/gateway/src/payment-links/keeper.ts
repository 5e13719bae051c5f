import { type Database, expirePaymentLinks, takeIntentsToCancel } from '@pf/database';
import { type Logger, PeriodicTask } from '@pf/runtime';
import type { Commands } from '../commands.ts';
import { wake, type Wakes } from '../webhooks/wake.ts';

/** The others of a paid link are open for about this long. */
const PAUSE_MS = 1_000;
/** Of one run, so that it is short; the next one follows. */
const AT_ONCE = 50;

/** A link that could not be ended rests for so long; of so many at most this is known. */
const REST_MS = 60_000;
const FAILED_MAX = 1_000;

/**
 * Sees to links that are no longer open: cancels what payers have begun of them, and ends those whose time has run out.
 * What is due is in Postgres, so every gateway does it, and what one of them forgets another one does.
 */
export class PaymentLinkKeeper {
  readonly #commands: Pick<Commands, 'send'>;
  readonly #database: Database;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #wakes: Wakes;
  readonly #tasks: readonly PeriodicTask[];
  /** Links that could not be ended, and until when others have their turn. */
  readonly #failed = new Map<string, number>();

  constructor({
    commands,
    database,
    log,
    now,
    wakes,
  }: {
    readonly commands: Pick<Commands, 'send'>;
    readonly database: Database;
    readonly log: Logger;
    readonly now: () => number;
    readonly wakes: Wakes;
  }) {
    this.#commands = commands;
    this.#database = database;
    this.#log = log;
    this.#now = now;
    this.#wakes = wakes;
    const task = (work: () => Promise<void>, what: string): PeriodicTask =>
      new PeriodicTask({ work, pauseMs: PAUSE_MS, onFailure: (error) => log.warn({ err: error }, what) });
    // What delays the end of links must not leave their intents open: these would be paid twice.
    this.#tasks = [
      task(() => this.end(), 'payment links cannot be ended: will retry'),
      task(() => this.cancel(), 'intents of payment links cannot be cancelled: will retry'),
    ];
  }

  start(): void {
    for (const task of this.#tasks) task.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#tasks.map((task) => task.stop()));
  }

  /** Ends the links whose time has run out. @throws if Postgres is unavailable */
  async end(): Promise<void> {
    const at = this.#now();
    for (const [id, until] of this.#failed) if (until <= at) this.#failed.delete(id);
    const { told, failed } = await expirePaymentLinks(this.#database, new Date(at), AT_ONCE, [...this.#failed.keys()]);
    for (const [id, error] of failed) {
      this.#log.warn({ err: error, paymentLinkId: id }, 'a payment link was not ended: will retry');
      if (this.#failed.size < FAILED_MAX) this.#failed.set(id, at + REST_MS);
    }
    for (const endpointId of new Set(told.map((delivery) => delivery.endpointId))) wake(this.#wakes, endpointId);
  }

  /** Cancels the intents of links that have ended. @throws if Postgres is unavailable */
  async cancel(): Promise<void> {
    const intents = await takeIntentsToCancel(this.#database, new Date(this.#now()), AT_ONCE);
    await Promise.all(
      intents.map(async ({ intentId, accountId, livemode }) => {
        try {
          // A refusal is fine: the intent is over, or its payment has begun, and its events will say how it ends.
          await this.#commands.send({ type: 'cancel', intentId, accountId, livemode, data: {}, byPayer: true });
        } catch (error) {
          this.#log.info({ err: error, intentId }, 'an intent of a payment link was not cancelled: will retry');
        }
      }),
    );
  }
}
