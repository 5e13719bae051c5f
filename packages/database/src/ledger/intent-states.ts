import { type Outcome, parseOutcome } from '@pf/contracts';
import type { AccountId, CommandId, Deposit, DepositId, Instant, IntentId, PaymentIntent } from '@pf/domain';
import { decodeDepositState, decodeStates } from './decoding.ts';
import { LEDGER, type ProjectionTables, type Queryable } from './projection.ts';

/** An idempotency key, with its account and mode. */
export interface IdempotencyKey {
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly idempotencyKey: string;
}

/** What a batch of inputs refers to, all of it in one partition. */
export interface Wanted {
  readonly partition: number;
  readonly ids: readonly IntentId[];
  readonly keys: readonly IdempotencyKey[];
  readonly commandIds: readonly CommandId[];
  readonly depositIds?: readonly DepositId[];
}

/** What the decisions about these inputs may read. */
export interface Found {
  /**
   * The partition's checkpoint in the same snapshot: what was found is the fold of the log below it. A decision about
   * it must not be committed if its owner has projected further, because then the database was set back.
   */
  readonly position: bigint;
  /** An intent that was found in several ways is repeated. One whose row cannot be decoded is held. */
  readonly intents: readonly PaymentIntent[];
  readonly outcomes: readonly Outcome[];
  readonly deposits: readonly Deposit[];
  /** Those of the intents with these ids, and of their originals and refunds, that have left for the archive. */
  readonly cold: readonly IntentId[];
}

/** An open intent that has expired. */
export interface Overdue {
  readonly id: IntentId;
  readonly expiresAt: Instant;
}

/** Before every overdue intent. */
const FIRST_OVERDUE: Overdue = { id: '' as IntentId, expiresAt: 0 };

/** Reads the whole state of intents from the projection, for the decisions about them: see LedgerStore. */
export class IntentStates {
  readonly #queryable: Queryable;
  readonly #tables: ProjectionTables;

  constructor(queryable: Queryable, tables: ProjectionTables = LEDGER) {
    this.#queryable = queryable;
    this.#tables = tables;
  }

  async find(ids: readonly IntentId[]): Promise<readonly PaymentIntent[]> {
    if (ids.length === 0) return [];
    const { intents } = this.#tables;
    const { rows } = await this.#queryable.query<{ id: IntentId; state: string }>({
      name: `find ${intents}`,
      text: `SELECT id, state FROM ${intents} WHERE id = ANY($1::text[])`,
      values: [ids],
    });
    return decodeStates(this.#queryable, intents, rows);
  }

  async findDeposits(ids: readonly DepositId[]): Promise<readonly Deposit[]> {
    if (ids.length === 0) return [];
    const { deposits } = this.#tables;
    const { rows } = await this.#queryable.query<{ document: string }>({
      name: `find ${deposits}`,
      text: `SELECT document FROM ${deposits} WHERE id = ANY($1::text[])`,
      values: [ids],
    });
    return rows.map(({ document }) => decodeDepositState(document));
  }

  async lookUp(wanted: Wanted): Promise<Found> {
    const [found] = await this.lookUpAll([wanted]);
    if (!found) throw new Error('nothing was looked up');
    return found;
  }

  /** Everything in one statement, so from one snapshot. @param wanted of different partitions */
  async lookUpAll(wanted: readonly Wanted[]): Promise<readonly Found[]> {
    const { intents, deposits, checkpoints } = this.#tables;
    const keys = wanted.flatMap((one) => one.keys);
    const { rows } = await this.#queryable.query<{
      partition: number | null;
      /** Which key has made the intent, counted from 1; null for one that was found by its id. */
      key: string | null;
      id: IntentId | null;
      /** Null for an intent that has left. */
      state: string | null;
      outcome: string | null;
      position: string | null;
      deposit: string | null;
    }>({
      name: `look up ${intents}`,
      text: `
        WITH named AS MATERIALIZED (SELECT partition, id, refund_of, refunded_by, state FROM ${intents}
          WHERE id = ANY($1::text[])),
        original AS MATERIALIZED (SELECT partition, id, refunded_by, state FROM ${intents}
          WHERE id IN (SELECT refund_of FROM named WHERE refund_of IS NOT NULL))
        SELECT partition, NULL::bigint AS key, id, state, NULL AS outcome, NULL::bigint AS position, NULL AS deposit
          FROM named
        UNION ALL SELECT partition, NULL, id, state, NULL, NULL, NULL FROM original
        UNION ALL SELECT partition, NULL, id, state, NULL, NULL, NULL FROM ${intents}
          WHERE id IN (SELECT refunded_by FROM original WHERE refunded_by IS NOT NULL
            UNION SELECT refunded_by FROM named WHERE refunded_by IS NOT NULL)
        UNION ALL SELECT partition, NULL, id, NULL, NULL, NULL, NULL FROM ledger.cold_intents
          WHERE id = ANY($1::text[] || ARRAY(SELECT refund_of FROM named WHERE refund_of IS NOT NULL
            UNION SELECT refunded_by FROM original WHERE refunded_by IS NOT NULL
            UNION SELECT refunded_by FROM named WHERE refunded_by IS NOT NULL))
        UNION ALL SELECT made.partition, key.number, made.id, made.state, NULL, NULL, NULL
          FROM unnest($2::text[], $3::boolean[], $4::text[])
            WITH ORDINALITY AS key (account_id, livemode, idempotency_key, number)
        CROSS JOIN LATERAL (
          -- BETWEEN, not =: ordered like this, only the keys' own index can serve it, even in a plan that was made
          -- while the table was empty.
          -- The account's index, which comes by time too, would be read from one end to the other.
          SELECT partition, id, state FROM ${intents} AS intent
          WHERE intent.account_id = key.account_id AND intent.livemode = key.livemode
            AND intent.idempotency_key BETWEEN key.idempotency_key AND key.idempotency_key
          ORDER BY intent.idempotency_key, intent.created_at DESC LIMIT 1
        ) AS made
        UNION ALL SELECT NULL, NULL, NULL, NULL, body, NULL, NULL FROM service.command_outcomes
          WHERE command_id = ANY($5::uuid[])
        UNION ALL SELECT partition, NULL, NULL, NULL, NULL, position, NULL FROM ${checkpoints}
          WHERE partition = ANY($6::smallint[])
        UNION ALL SELECT partition, NULL, NULL, NULL, NULL, NULL, document FROM ${deposits}
          WHERE id = ANY($7::text[])`,
      values: [
        wanted.flatMap((one) => one.ids),
        keys.map(({ accountId }) => accountId),
        keys.map(({ livemode }) => livemode),
        keys.map(({ idempotencyKey }) => idempotencyKey),
        wanted.flatMap((one) => one.commandIds),
        wanted.map(({ partition }) => partition),
        wanted.flatMap(({ depositIds = [] }) => depositIds),
      ],
    });
    const decoded = await decodeStates(
      this.#queryable,
      intents,
      rows.flatMap(({ id, state }) => (id === null || state === null ? [] : [{ id, state }])),
    );
    const outcomes = rows.flatMap(({ outcome }) => (outcome === null ? [] : [parseOutcome(outcome)]));
    const cold = rows.flatMap(({ id, state }) => (id !== null && state === null ? [id] : []));
    let before = 0;
    return wanted.map((one) => {
      const [from, to] = [before, (before += one.keys.length)];
      const position = rows.find((row) => row.position !== null && row.partition === one.partition)?.position;
      // A key may have made its intent in another partition.
      const found = new Set(
        rows
          .filter(({ key, partition }) =>
            key === null ? partition === one.partition : Number(key) > from && Number(key) <= to,
          )
          .map(({ id }) => id),
      );
      const asked = new Set(one.commandIds);
      return {
        position: BigInt(position ?? 0),
        intents: decoded.filter(({ id }) => found.has(id)),
        outcomes: outcomes.filter(({ commandId }) => asked.has(commandId)),
        deposits: rows.flatMap(({ deposit, partition }) =>
          deposit !== null && partition === one.partition ? [decodeDepositState(deposit)] : [],
        ),
        cold: cold.filter((id) => found.has(id)),
      };
    });
  }

  async overdue(
    partitions: readonly number[],
    now: Instant,
    limit: number,
    after: ReadonlyMap<number, Overdue>,
  ): Promise<ReadonlyMap<number, readonly Overdue[]>> {
    if (partitions.length === 0) return new Map();
    const { intents } = this.#tables;
    const from = partitions.map((partition) => after.get(partition) ?? FIRST_OVERDUE);
    const { rows } = await this.#queryable.query<{ partition: number; id: IntentId; expires_at: Date }>({
      name: `find overdue ${intents}`,
      text: `
        SELECT owned.partition, longest.id, longest.expires_at
        FROM unnest($1::smallint[], $2::timestamptz[], $3::text[]) AS owned (partition, after_time, after_id)
        CROSS JOIN LATERAL (
          SELECT id, expires_at FROM ${intents} AS intent
          WHERE intent.partition = owned.partition AND intent.status IN ('created', 'pending')
            AND intent.expires_at <= $4 AND intent.expires_at >= owned.after_time
            AND (intent.expires_at > owned.after_time OR intent.id > owned.after_id)
          ORDER BY intent.expires_at, intent.id LIMIT $5
        ) AS longest
        ORDER BY owned.partition, longest.expires_at, longest.id`,
      values: [
        partitions,
        from.map(({ expiresAt }) => new Date(expiresAt).toISOString()),
        from.map(({ id }) => id),
        new Date(now),
        limit,
      ],
    });
    const found = new Map<number, Overdue[]>();
    for (const { partition, id, expires_at } of rows) {
      const one = { id, expiresAt: expires_at.getTime() };
      const others = found.get(partition);
      if (others) others.push(one);
      else found.set(partition, [one]);
    }
    return found;
  }
}
