import { decodeIntent, type Outcome, parseOutcome } from '@pf/contracts';
import type { AccountId, CommandId, Instant, IntentId, PaymentIntent } from '@pf/domain';
import { LEDGER, type ProjectionTables, type Queryable } from './projection.ts';

/** An idempotency key, with its account and mode. */
export interface IdempotencyKey {
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly idempotencyKey: string;
}

/** What a batch of inputs refers to. */
export interface Wanted {
  readonly ids: readonly IntentId[];
  readonly keys: readonly IdempotencyKey[];
  readonly commandIds: readonly CommandId[];
}

/** What the decisions about these inputs may read. */
export interface Found {
  /** An intent that was found in several ways is repeated. */
  readonly intents: readonly PaymentIntent[];
  readonly outcomes: readonly Outcome[];
}

/** Reads the whole state of intents from the projection, for the decisions about them. */
export class IntentStates {
  readonly #queryable: Queryable;
  readonly #tables: ProjectionTables;

  constructor(queryable: Queryable, tables: ProjectionTables = LEDGER) {
    this.#queryable = queryable;
    this.#tables = tables;
  }

  /** The intents with these ids, without those that do not exist. */
  async find(ids: readonly IntentId[]): Promise<readonly PaymentIntent[]> {
    if (ids.length === 0) return [];
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<{ state: string }>({
      name: `find ${intents}`,
      text: `SELECT state FROM ${intents} WHERE id = ANY($1::text[])`,
      values: [ids],
    });
    return rows.map(({ state }) => decodeIntent(state));
  }

  /**
   * Reads everything in one statement: the intents with these ids; for each refund its original, and the refund that
   * the original names now; the newest intent of each key, of any age; the known outcomes of the commands.
   */
  async lookUp({ ids, keys, commandIds }: Wanted): Promise<Found> {
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<{ state: string; outcome: null } | { state: null; outcome: string }>({
      name: `look up ${intents}`,
      text: `
        WITH named AS MATERIALIZED (SELECT refund_of, state FROM ${intents} WHERE id = ANY($1::text[])),
        original AS MATERIALIZED (SELECT refunded_by, state FROM ${intents}
          WHERE id IN (SELECT refund_of FROM named WHERE refund_of IS NOT NULL))
        SELECT state, NULL AS outcome FROM named
        UNION ALL SELECT state, NULL FROM original
        UNION ALL SELECT state, NULL FROM ${intents}
          WHERE id IN (SELECT refunded_by FROM original WHERE refunded_by IS NOT NULL)
        UNION ALL SELECT made.state, NULL
          FROM unnest($2::text[], $3::boolean[], $4::text[]) AS key (account_id, livemode, idempotency_key)
        CROSS JOIN LATERAL (
          -- BETWEEN, not =: ordered like this, only the keys' own index can serve it, even in a plan that was made
          -- while the table was empty.
          -- The account's index, which comes by time too, would be read from one end to the other.
          SELECT state FROM ${intents} AS intent
          WHERE intent.account_id = key.account_id AND intent.livemode = key.livemode
            AND intent.idempotency_key BETWEEN key.idempotency_key AND key.idempotency_key
          ORDER BY intent.idempotency_key, intent.created_at DESC LIMIT 1
        ) AS made
        UNION ALL SELECT NULL, body FROM service.command_outcomes WHERE command_id = ANY($5::uuid[])`,
      values: [
        ids,
        keys.map(({ accountId }) => accountId),
        keys.map(({ livemode }) => livemode),
        keys.map(({ idempotencyKey }) => idempotencyKey),
        commandIds,
      ],
    });
    return {
      intents: rows.flatMap(({ state }) => (state === null ? [] : [decodeIntent(state)])),
      outcomes: rows.flatMap(({ outcome }) => (outcome === null ? [] : [parseOutcome(outcome)])),
    };
  }

  /** Open intents that have expired at `now`, the longest overdue first, at most `limit` of each partition. */
  async overdue(
    partitions: readonly number[],
    now: Instant,
    limit: number,
  ): Promise<ReadonlyMap<number, readonly IntentId[]>> {
    if (partitions.length === 0) return new Map();
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<{ partition: number; ids: IntentId[] }>({
      name: `find overdue ${intents}`,
      text: `
        SELECT owned.partition, due.ids FROM unnest($1::smallint[]) AS owned (partition)
        CROSS JOIN LATERAL (
          SELECT array_agg(id) AS ids FROM (
            SELECT id FROM ${intents} AS intent
            WHERE intent.partition = owned.partition AND intent.status IN ('created', 'pending')
              AND intent.expires_at <= $2
            ORDER BY intent.expires_at LIMIT $3
          ) AS longest
        ) AS due
        WHERE due.ids IS NOT NULL`,
      values: [partitions, new Date(now), limit],
    });
    return new Map(rows.map(({ partition, ids }) => [partition, ids]));
  }
}
