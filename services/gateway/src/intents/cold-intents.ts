import { BundleDamagedError, type ColdBundles, StoreUnavailableError } from '@pf/archive/cold';
import {
  type ColdRows,
  type Database,
  eventsIn,
  findColdOf,
  intentIn,
  type IntentOwner,
  type IntentQueries,
  type StoredEvent,
  UndecodableIntentError,
} from '@pf/database';
import type { IntentId, PaymentIntent } from '@pf/domain';
import { ApiError } from '../api-error.ts';

/** An intent that has left Postgres, with its history. */
export interface ColdIntent {
  readonly intent: PaymentIntent;
  /** The public events, oldest first. */
  readonly events: readonly StoredEvent[];
}

/** Serves intents that have left Postgres from the archive's store (docs/operations/growth.md). */
export class ColdIntents {
  readonly #database: Pick<Database, 'sql'>;
  readonly #bundles: Pick<ColdBundles, 'read'> | null;

  /** @param bundles null: the gateway has no ARCHIVE_URL */
  constructor(database: Pick<Database, 'sql'>, bundles: Pick<ColdBundles, 'read'> | null) {
    this.#database = database;
    this.#bundles = bundles;
  }

  /**
   * The intent, or null if none of this owner with this id has left.
   * @throws ApiError `service.unavailable` while the store is
   */
  async find(id: IntentId, owner: IntentOwner): Promise<ColdIntent | null> {
    const place = await findColdOf(this.#database, id, owner);
    if (place === null) return null;
    const rows = await this.#read(() => this.#bundles?.read(id, place));
    const intent = intentIn(rows);
    if (intent === null) throw new UndecodableIntentError(`The archived state of ${id} cannot be decoded`);
    return { intent, events: eventsIn(rows) };
  }

  async #read(read: () => Promise<ColdRows> | undefined): Promise<ColdRows> {
    try {
      const rows = await read();
      if (rows) return rows;
    } catch (cause) {
      if (!(cause instanceof StoreUnavailableError || cause instanceof BundleDamagedError)) throw cause;
      throw new ApiError('service.unavailable', { message: UNAVAILABLE, cause });
    }
    throw new ApiError('service.unavailable', { message: UNAVAILABLE, cause: new Error('ARCHIVE_URL is not set') });
  }
}

const UNAVAILABLE = 'The payment intent is archived, and the archive is unavailable at the moment.';

/** The same queries, which also find intents that have left. */
export const withCold = (intents: IntentQueries, cold: ColdIntents): IntentQueries => ({
  ...intents,
  findIntent: async (id, owner) =>
    (await intents.findIntent(id, owner)) ?? (await cold.find(id, owner))?.intent ?? null,
});
