import { decodeIntent } from '@pf/contracts';
import type { AccountId, Instant, IntentId, PaymentIntent } from '@pf/domain';
import { LEDGER, type ProjectionTables, type Queryable } from './projection.ts';

/** An idempotency key, whose it is, and in which mode. */
export interface IdempotencyKey {
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly idempotencyKey: string;
}

interface StateRow {
  readonly state: string;
}
const states = (rows: readonly StateRow[]): PaymentIntent[] => rows.map(({ state }) => decodeIntent(state));

/** Reads the domain's whole state of intents from the projection: what a decision looks at. */
export class IntentStates {
  readonly #queryable: Queryable;
  readonly #tables: ProjectionTables;

  constructor(queryable: Queryable, tables: ProjectionTables = LEDGER) {
    this.#queryable = queryable;
    this.#tables = tables;
  }

  /** Those of these intents that exist. */
  async find(ids: readonly IntentId[]): Promise<readonly PaymentIntent[]> {
    if (ids.length === 0) return [];
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<StateRow>({ name: `find ${intents}`, text: `SELECT state FROM ${intents} WHERE id = ANY($1::text[])`, values: [ids] });
    return states(rows);
  }

  /** As `find`, and for each refund its original, and the refund that its original names now. One that is several of these comes several times. */
  async findWithRelatives(ids: readonly IntentId[]): Promise<readonly PaymentIntent[]> {
    if (ids.length === 0) return [];
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<StateRow>({
      name: `find relatives ${intents}`,
      text: `
        WITH named AS MATERIALIZED (SELECT refund_of, state FROM ${intents} WHERE id = ANY($1::text[])),
        original AS MATERIALIZED (SELECT refunded_by, state FROM ${intents} WHERE id IN (SELECT refund_of FROM named WHERE refund_of IS NOT NULL))
        SELECT state FROM named
        UNION ALL SELECT state FROM original
        UNION ALL SELECT state FROM ${intents} WHERE id IN (SELECT refunded_by FROM original WHERE refunded_by IS NOT NULL)`,
      values: [ids],
    });
    return states(rows);
  }

  /** The newest intent that each key made, however long ago. */
  async newestOf(keys: readonly IdempotencyKey[]): Promise<readonly PaymentIntent[]> {
    if (keys.length === 0) return [];
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<StateRow>({
      name: `find by key ${intents}`,
      text: `
        SELECT made.state FROM unnest($1::text[], $2::boolean[], $3::text[]) AS key (account_id, livemode, idempotency_key)
        CROSS JOIN LATERAL (
          SELECT state FROM ${intents} AS intent
          WHERE intent.account_id = key.account_id AND intent.livemode = key.livemode AND intent.idempotency_key = key.idempotency_key
          ORDER BY intent.created_at DESC LIMIT 1
        ) AS made`,
      values: [keys.map(({ accountId }) => accountId), keys.map(({ livemode }) => livemode), keys.map(({ idempotencyKey }) => idempotencyKey)],
    });
    return states(rows);
  }

  /** Open intents whose time had run out at `now`, the longest overdue first, at most `limit` of each partition. */
  async overdue(partitions: readonly number[], now: Instant, limit: number): Promise<ReadonlyMap<number, readonly IntentId[]>> {
    if (partitions.length === 0) return new Map();
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<{ partition: number; ids: IntentId[] }>({
      name: `find overdue ${intents}`,
      text: `
        SELECT owned.partition, due.ids FROM unnest($1::smallint[]) AS owned (partition)
        CROSS JOIN LATERAL (
          SELECT array_agg(id) AS ids FROM (
            SELECT id FROM ${intents} AS intent
            WHERE intent.partition = owned.partition AND intent.status IN ('created', 'pending') AND intent.expires_at <= $2
            ORDER BY intent.expires_at LIMIT $3
          ) AS longest
        ) AS due
        WHERE due.ids IS NOT NULL`,
      values: [partitions, new Date(now), limit],
    });
    return new Map(rows.map(({ partition, ids }) => [partition, ids]));
  }
}
