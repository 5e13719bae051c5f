import type { Database } from '../postgres/database.ts';
import { ENDED_BECAUSE } from './endpoints.ts';

/** A delivery that has ended, without what integrators or receivers wrote: neither URL nor responses. */
export interface EndedDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Null for an event of no intent. */
  readonly intentId: string | null;
  readonly accountId: string;
  readonly livemode: boolean;
  readonly endpointId: string;
  /** `cancelled`: its URL was removed or disabled before it was delivered. */
  readonly outcome: 'delivered' | 'failed' | 'cancelled';
  readonly attempts: number;
  /** Of the last attempt; null if there was no HTTP response. */
  readonly responseStatus: number | null;
  readonly createdAt: Date;
  readonly firstAttemptAt: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly endedAt: Date;
}

/** A place in the order in which deliveries have ended. */
export interface DeliveryPlace {
  /** By the clock of Postgres. */
  readonly endedAt: Date;
  readonly id: string;
}

/** A page in the order of ends. */
export interface EndedPage {
  readonly deliveries: readonly EndedDelivery[];
  /** Where the next page begins; null: the page is empty. */
  readonly last: DeliveryPlace | null;
}

/** A moment, and the id of a transaction that began after it. */
interface Moment {
  readonly at: Date;
  readonly transaction: bigint;
}

/**
 * Reads ended deliveries in the order of their ends. One that ends again, because its account has retried it, is read
 * again.
 *
 * Ends become visible when their transactions have ended, which is not the order of their times. So what is read ended
 * before an earlier look whose transactions have all ended: nothing can appear among it later. A clock that is set
 * back, as by a failover, does no harm by less than the time between two looks.
 */
export class EndedDeliveries {
  readonly #database: Database;
  #moment: Moment | null = null;
  #until: Date | null = null;

  /** @param database the primary: a standby refuses the look */
  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Looks which deliveries can be read: those that ended before the last look, once its transactions have ended.
   * @returns what ended before can be read; null: nothing yet
   */
  async look(): Promise<Date | null> {
    const { rows } = await this.#database.sql.query<{ at: Date; ours: string; oldest: string }>({
      name: 'ended-deliveries-look',
      // Who notes an end has an id of its own by then, and ids ascend: ours is above all that noted one before now().
      text: `SELECT now() AS at, pg_current_xact_id()::text AS ours,
                    pg_snapshot_xmin(pg_current_snapshot())::text AS oldest`,
    });
    const [row] = rows;
    if (row === undefined) return this.#until;
    // Ids ascend: this is another history, as of a restored database, in which the known one may never be reached.
    const isOther = this.#moment !== null && BigInt(row.ours) < this.#moment.transaction;
    const known = isOther ? null : this.#moment;
    if (known === null || BigInt(row.oldest) >= known.transaction) {
      this.#until = known?.at ?? null;
      this.#moment = { at: row.at, transaction: BigInt(row.ours) };
    }
    return this.#until;
  }

  /**
   * @param after null: from the first
   * @returns fewer than `limit`: no others can be read before another look
   */
  async page(after: DeliveryPlace | null, limit: number): Promise<EndedPage> {
    if (this.#until === null) return { deliveries: [], last: null };
    const { rows } = await this.#database.sql.query<EndedDelivery & { readonly placeAt: Date }>({
      name: 'ended-deliveries',
      // What ended before Postgres noted when has the constant of the migration.
      text: `SELECT id, event_id AS "eventId", event_type AS "eventType", intent_id AS "intentId",
                    account_id AS "accountId", livemode, endpoint_id AS "endpointId",
                    CASE WHEN status = 'delivered' THEN 'delivered' WHEN error = ANY($4) THEN 'cancelled'
                         ELSE 'failed' END AS outcome,
                    attempt_count AS attempts, response_status AS "responseStatus", created_at AS "createdAt",
                    first_attempt_at AS "firstAttemptAt", last_attempted_at AS "lastAttemptAt",
                    CASE WHEN ended_at > 'epoch' THEN ended_at
                         ELSE coalesce(delivered_at, failed_at, created_at) END AS "endedAt",
                    ended_at AS "placeAt"
               FROM service.deliveries
              WHERE next_attempt_at IS NULL AND (ended_at, id) > ($1::timestamptz, $2) AND ended_at < $3
              ORDER BY ended_at, id LIMIT $5`,
      values: [after?.endedAt ?? '-infinity', after?.id ?? '', this.#until, Object.values(ENDED_BECAUSE), limit],
    });
    const last = rows.at(-1);
    return {
      deliveries: rows.map(({ placeAt: _, ...delivery }) => delivery),
      last: last ? { endedAt: last.placeAt, id: last.id } : null,
    };
  }
}
