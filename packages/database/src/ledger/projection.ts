import type { Outcome } from '@pf/contracts';
import { encodeOutcome } from '@pf/contracts';
import type { Instant, PaymentIntent } from '@pf/domain';
import pg from 'pg';
import { INTENT_COLUMNS, type IntentColumn } from './projection-columns.ts';

/** What runs a statement: the pool, or one connection inside a transaction. */
export type Queryable = Pick<pg.Pool | pg.PoolClient, 'query'>;

/** An intent after a batch of events. */
export interface ProjectedIntent {
  readonly intent: PaymentIntent;
  /** Its version before the batch: 0 if the batch created it. The row must be at exactly this one. */
  readonly before: number;
}

/** A public event as history, stream and webhooks read it. */
export interface ProjectedEvent {
  readonly intentId: string;
  readonly version: number;
  readonly eventId: string;
  readonly type: string;
  /** The webhook's bytes. */
  readonly body: string;
  /** ISO 8601, as in the log. */
  readonly at: string;
  /** Of a payment that the intent did not ask for, so that its account finds it; null for other events. */
  readonly owner: { readonly accountId: string; readonly livemode: boolean } | null;
}

/** The outcome of a command and the time of the decision. */
export interface ProjectedOutcome {
  readonly outcome: Outcome;
  readonly at: Instant;
}

/**
 * The records [from, next) of one partition of intent.events, folded: each intent once, however many events it has.
 */
export interface ProjectionBatch {
  readonly partition: number;
  readonly from: bigint;
  readonly next: bigint;
  /** The latest event time that the partition's writer has stamped. */
  readonly lastAt: Instant;
  readonly intents: readonly ProjectedIntent[];
  readonly events: readonly ProjectedEvent[];
  readonly outcomes: readonly ProjectedOutcome[];
}

/** The projection does not match the log: a row is not at the version before the event that is to be applied. */
export class ProjectionGapError extends Error {
  override readonly name = 'ProjectionGapError';
}

/** The tables of a projection: those of the schema `ledger`, or the temporary ones of a rebuild. */
export interface ProjectionTables {
  readonly intents: string;
  readonly events: string;
  readonly checkpoints: string;
}
export const LEDGER: ProjectionTables = {
  intents: 'ledger.intents',
  events: 'ledger.intent_events',
  checkpoints: 'ledger.checkpoints',
};

const CHANGING = INTENT_COLUMNS.filter((column) => !column.fixed);

/** Writes folded events into the projection. One statement is one transaction and one round trip. */
export class ProjectionWriter {
  readonly #queryable: Queryable;
  readonly #text: string;
  readonly #name: string;

  constructor(queryable: Queryable, tables: ProjectionTables = LEDGER) {
    this.#queryable = queryable;
    this.#text = projectionStatement(tables);
    // The name of the prepared statement: one for each set of tables.
    this.#name = `project ${tables.intents}`;
  }

  /**
   * Writes the batch and moves the checkpoint from `from` to `next`, all or nothing.
   * @returns false, and nothing is written, if the checkpoint is not at `from`: another writer has moved it.
   * @throws ProjectionGapError if an intent is not at its version before the batch; nothing is written.
   */
  async project(batch: ProjectionBatch): Promise<boolean> {
    try {
      const { rowCount } = await this.#queryable.query({
        name: this.#name,
        text: this.#text,
        values: parameters(batch),
      });
      return rowCount === 1;
    } catch (error) {
      if (isGap(error))
        throw new ProjectionGapError(
          `Batch [${batch.from}, ${batch.next}) of partition ${batch.partition} does not follow the projection`,
          { cause: error },
        );
      throw error;
    }
  }
}

/**
 * A row to be inserted exists already, or a row to be updated is missing or at another version (see the statement).
 */
const isGap = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  (error.code === '23505' || (error.code === '23502' && error.column === 'position'));

const parameters = ({ partition, from, next, lastAt, intents, events, outcomes }: ProjectionBatch): unknown[] => {
  const made = intents.filter(({ before }) => before === 0).map(({ intent }) => intent);
  const changed = intents.filter(({ before }) => before > 0);
  const column =
    (rows: readonly PaymentIntent[]) =>
    ({ value }: IntentColumn) =>
      rows.map(value);
  return [
    partition,
    from.toString(),
    next.toString(),
    new Date(lastAt).toISOString(),
    ...INTENT_COLUMNS.map(column(made)),
    changed.map(({ intent }) => intent.id),
    changed.map(({ before }) => before),
    ...CHANGING.map(column(changed.map(({ intent }) => intent))),
    events.map(({ intentId }) => intentId),
    events.map(({ version }) => version),
    events.map(({ eventId }) => eventId),
    events.map(({ type }) => type),
    events.map(({ body }) => body),
    events.map(({ at }) => at),
    events.map(({ owner }) => owner?.accountId ?? null),
    events.map(({ owner }) => owner?.livemode ?? null),
    outcomes.map(({ outcome }) => outcome.commandId),
    outcomes.map(({ outcome }) => encodeOutcome(outcome)),
    outcomes.map(({ at }) => new Date(at).toISOString()),
  ];
};

/** The parameters in the order of `parameters`. */
const projectionStatement = ({ intents, events, checkpoints }: ProjectionTables): string => {
  let next = 5;
  const arrays = (types: readonly string[]): string => types.map((type) => `$${next++}::${type}[]`).join(', ');
  const names = (columns: readonly IntentColumn[]): string => columns.map(({ name }) => name).join(', ');
  const types = (columns: readonly IntentColumn[]): string[] => columns.map(({ type }) => type);
  const made = arrays(types(INTENT_COLUMNS));
  const changedIds = next;
  const changed = arrays(['text', 'integer', ...types(CHANGING)]);
  const listed = arrays(['text', 'integer', 'text', 'text', 'text', 'timestamptz', 'text', 'boolean']);
  const decided = arrays(['uuid', 'text', 'timestamptz']);
  return `
    WITH held AS (
      -- NOWAIT: during a rebuild, which holds the row for long, no backend waits for a writer that has given up.
      SELECT partition FROM ${checkpoints}
        WHERE partition = $1::smallint AND position = $2::bigint FOR UPDATE NOWAIT
    ), made AS (
      INSERT INTO ${intents} (partition, ${names(INTENT_COLUMNS)})
      SELECT held.partition, made.* FROM held, unnest(${made}) AS made (${names(INTENT_COLUMNS)})
    ), changed AS (
      UPDATE ${intents} AS intent
      SET (${names(CHANGING)}) = ROW (${CHANGING.map(({ name }) => `changed.${name}`).join(', ')})
      FROM held, unnest(${changed}) AS changed (id, before, ${names(CHANGING)})
      WHERE intent.id = changed.id AND intent.version = changed.before
      RETURNING 1
    ), listed AS (
      INSERT INTO ${events} (intent_id, version, event_id, type, body, at, account_id, livemode)
      SELECT listed.* FROM held,
        unnest(${listed}) AS listed (intent_id, version, event_id, type, body, at, account_id, livemode)
    ), decided AS (
      INSERT INTO service.command_outcomes (command_id, body, at)
      SELECT decided.* FROM held, unnest(${decided}) AS decided (command_id, body, at)
      ON CONFLICT (command_id) DO NOTHING
    )
    UPDATE ${checkpoints} AS checkpoint SET
      -- NULL, which the column refuses, if a row was not at the version before: then nothing of the batch is written.
      position = CASE WHEN (SELECT count(*) FROM changed) = cardinality($${changedIds}::text[]) THEN $3::bigint END,
      last_at = greatest(checkpoint.last_at, $4::timestamptz)
    FROM held WHERE checkpoint.partition = held.partition`;
};
