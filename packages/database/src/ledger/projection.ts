import type { Outcome } from '@pf/contracts';
import { encodeOutcome } from '@pf/contracts';
import type { Deposit, Instant, IntentId, PaymentIntent } from '@pf/domain';
import pg from 'pg';
import type { IntentKey } from '../privacy/sealing.ts';
import { erasedBody } from '../privacy/sealing.ts';
import { textArray } from '../postgres/text-array.ts';
import { DEPOSIT_COLUMNS, INTENT_COLUMNS, type IntentColumn } from './projection-columns.ts';

/** What runs a statement: the pool, or one connection inside a transaction. */
export type Queryable = Pick<pg.Pool | pg.PoolClient, 'query'>;

/** An intent after a batch of events. */
export interface ProjectedIntent {
  readonly intent: PaymentIntent;
  /** Its version before the batch: 0 if the batch created it. The row must be at exactly this one. */
  readonly before: number;
}

/** A deposit after a batch of events. */
export interface ProjectedDeposit {
  readonly deposit: Deposit;
  /** Its version before the batch: 0 if the batch created it. The row must be at exactly this one. */
  readonly before: number;
}

/** A public event as history, stream and webhooks read it. */
export interface ProjectedEvent {
  /** Of an intent, or of a deposit. */
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
  readonly deposits?: readonly ProjectedDeposit[];
  readonly events: readonly ProjectedEvent[];
  readonly outcomes: readonly ProjectedOutcome[];
  /** Of sealed events among them. */
  readonly keys?: readonly IntentKey[];
  /** Intents whose personal data one of the events erases: from all of their events, with the keys of those. */
  readonly erased?: readonly IntentId[];
}

/** The projection does not match the log: a row is not at the version before the event that is to be applied. */
export class ProjectionGapError extends Error {
  override readonly name = 'ProjectionGapError';
}

/** The tables of a projection: those of the schema `ledger`, or the temporary ones of a rebuild. */
export interface ProjectionTables {
  readonly intents: string;
  readonly deposits: string;
  readonly events: string;
  readonly checkpoints: string;
  /** True where the keys of events are none of its business: of a check, which changes nothing. */
  readonly withoutKeys?: true;
}
export const LEDGER: ProjectionTables = {
  intents: 'ledger.intents',
  deposits: 'ledger.deposits',
  events: 'ledger.intent_events',
  checkpoints: 'ledger.checkpoints',
};

const CHANGING = INTENT_COLUMNS.filter((column) => !column.fixed);

/** Writes folded events into the projection. One statement is one transaction and one round trip, of any partitions. */
export class ProjectionWriter {
  readonly #queryable: Queryable;
  readonly #tables: ProjectionTables;
  readonly #text: string;
  readonly #name: string;

  constructor(queryable: Queryable, tables: ProjectionTables = LEDGER) {
    this.#queryable = queryable;
    this.#tables = tables;
    this.#text = projectionStatement(tables);
    // The name of the prepared statement: one for each set of tables.
    this.#name = `project ${tables.intents}${tables.withoutKeys ? ' without keys' : ''}`;
  }

  /**
   * Writes the batch and moves the checkpoint from `from` to `next`, all or nothing.
   * @returns false, and nothing is written, if the checkpoint is not at `from`: another writer has moved it.
   * @throws ProjectionGapError if an intent or deposit is not at its version before the batch; nothing is written.
   */
  async project(batch: ProjectionBatch): Promise<boolean> {
    return (await this.projectAll([batch])).has(batch.partition);
  }

  /**
   * Writes batches of different partitions and moves their checkpoints, in one transaction.
   * @returns the partitions that were written; the checkpoint of the others is not at `from`
   * @throws ProjectionGapError if an intent or deposit is not at its version before its batch; nothing of any batch is
   *   written
   */
  async projectAll(batches: readonly ProjectionBatch[]): Promise<ReadonlySet<number>> {
    try {
      const { rows } = await this.#queryable.query<{ partition: number }>({
        name: this.#name,
        text: this.#text,
        values: parameters(this.#tables.withoutKeys ? batches.map(withoutKeys) : batches, await this.#emptied(batches)),
      });
      return new Set(rows.map(({ partition }) => partition));
    } catch (error) {
      if (isGap(error)) {
        const parts = batches.map(({ partition, from, next }) => `[${from}, ${next}) of partition ${partition}`);
        throw new ProjectionGapError(`Batch ${parts.join(', or ')} does not follow the projection`, { cause: error });
      }
      throw error;
    }
  }

  /**
   * The bodies of the events before, without personal data, of the intents that are erased. No one else changes them:
   * a partition has one writer.
   */
  async #emptied(batches: readonly ProjectionBatch[]): Promise<readonly EmptiedBody[]> {
    const ids = batches.flatMap(({ erased = [] }) => erased);
    if (ids.length === 0) return [];
    const { rows } = await this.#queryable.query<{ intent_id: string; version: number; body: string }>(
      `SELECT intent_id, version, body FROM ${this.#tables.events} WHERE intent_id = ANY($1::text[])`,
      [ids],
    );
    const partitions = new Map(batches.flatMap(({ partition, erased = [] }) => erased.map((id) => [id, partition])));
    return rows.flatMap(({ intent_id: intentId, version, body }) => {
      const partition = partitions.get(intentId as IntentId);
      return partition === undefined ? [] : [{ partition, intentId, version, body: erasedBody(body) }];
    });
  }
}

interface EmptiedBody {
  readonly partition: number;
  readonly intentId: string;
  readonly version: number;
  readonly body: string;
}

const withoutKeys = ({ keys: _, ...batch }: ProjectionBatch): ProjectionBatch => batch;

/** The batch's public events. Of an intent that it erases none shows personal data. */
function shownEvents({ events, erased = [] }: ProjectionBatch): readonly ProjectedEvent[] {
  if (erased.length === 0) return events;
  const ids: ReadonlySet<string> = new Set(erased);
  return events.map((event) => (ids.has(event.intentId) ? { ...event, body: erasedBody(event.body) } : event));
}

/** The batch's keys, but for those of intents that it erases. */
const keptKeys = ({ keys = [], erased = [] }: ProjectionBatch): readonly IntentKey[] =>
  erased.length === 0 ? keys : keys.filter(({ intentId }) => !erased.includes(intentId));

/**
 * A row to be inserted exists already, or a row to be updated is missing or at another version (see the statement).
 */
const isGap = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  (error.code === '23505' || (error.code === '23502' && error.column === 'position'));

/** What belongs to a batch, with its partition. */
const inPartitions = <Item>(
  batches: readonly ProjectionBatch[],
  items: (batch: ProjectionBatch) => readonly Item[],
): readonly { readonly partition: number; readonly item: Item }[] =>
  batches.flatMap((batch) => items(batch).map((item) => ({ partition: batch.partition, item })));

/** A value for each row, column by column, in the order of TYPES. */
const valuesOf = (
  batches: readonly ProjectionBatch[],
  emptied: readonly EmptiedBody[],
): readonly (readonly unknown[])[] => {
  const made = inPartitions(batches, ({ intents }) => intents.filter(({ before }) => before === 0));
  const changed = inPartitions(batches, ({ intents }) => intents.filter(({ before }) => before > 0));
  const events = inPartitions(batches, shownEvents);
  const outcomes = inPartitions(batches, (batch) => batch.outcomes);
  const keys = inPartitions(batches, keptKeys);
  const erased = inPartitions(batches, (batch) => batch.erased ?? []);
  const column =
    (rows: readonly { readonly item: ProjectedIntent }[]) =>
    ({ value }: IntentColumn) =>
      rows.map(({ item }) => value(item.intent));
  return [
    batches.map(({ partition }) => partition),
    batches.map(({ from }) => from.toString()),
    batches.map(({ next }) => next.toString()),
    batches.map(({ lastAt }) => new Date(lastAt).toISOString()),
    made.map(({ partition }) => partition),
    ...INTENT_COLUMNS.map(column(made)),
    changed.map(({ partition }) => partition),
    changed.map(({ item }) => item.intent.id),
    changed.map(({ item }) => item.before),
    ...CHANGING.map(column(changed)),
    events.map(({ partition }) => partition),
    events.map(({ item }) => item.intentId),
    events.map(({ item }) => item.version),
    events.map(({ item }) => item.eventId),
    events.map(({ item }) => item.type),
    events.map(({ item }) => item.body),
    events.map(({ item }) => item.at),
    events.map(({ item }) => item.owner?.accountId ?? null),
    events.map(({ item }) => item.owner?.livemode ?? null),
    outcomes.map(({ partition }) => partition),
    outcomes.map(({ item }) => item.outcome.commandId),
    outcomes.map(({ item }) => encodeOutcome(item.outcome)),
    outcomes.map(({ item }) => new Date(item.at).toISOString()),
    keys.map(({ partition }) => partition),
    keys.map(({ item }) => item.intentId),
    keys.map(({ item }) => item.version),
    keys.map(({ item }) => item.ciphertext),
    keys.map(({ item }) => item.at),
    erased.map(({ partition }) => partition),
    erased.map(({ item }) => item),
    emptied.map(({ partition }) => partition),
    emptied.map(({ intentId }) => intentId),
    emptied.map(({ version }) => version),
    emptied.map(({ body }) => body),
  ];
};

const typesOf = (columns: readonly IntentColumn[]): readonly string[] => columns.map(({ type }) => type);
/** The types of the statement's parameters: each is an array of values of one type. */
const TYPES = {
  batch: ['smallint', 'bigint', 'bigint', 'timestamptz'],
  made: ['smallint', ...typesOf(INTENT_COLUMNS)],
  changed: ['smallint', 'text', 'integer', ...typesOf(CHANGING)],
  listed: ['smallint', 'text', 'integer', 'text', 'text', 'text', 'timestamptz', 'text', 'boolean'],
  decided: ['smallint', 'uuid', 'text', 'timestamptz'],
  keyed: ['smallint', 'text', 'integer', 'bytea', 'timestamptz'],
  erased: ['smallint', 'text'],
  emptied: ['smallint', 'text', 'integer', 'text'],
} as const satisfies Record<string, readonly string[]>;
const ALL_TYPES: readonly string[] = Object.values(TYPES).flat();

const parameters = (batches: readonly ProjectionBatch[], emptied: readonly EmptiedBody[]): unknown[] => [
  ...valuesOf(batches, emptied).map((values, place) =>
    ALL_TYPES[place] === 'text' ? textArray(values as readonly (string | null)[]) : values,
  ),
  depositRows(batches),
];

const DEPOSIT_NAMES = Object.keys(DEPOSIT_COLUMNS);
/** One document for all rows: most batches have none, and each array of a statement costs something. */
const depositRows = (batches: readonly ProjectionBatch[]): string =>
  JSON.stringify(
    inPartitions(batches, ({ deposits = [] }) => deposits).map(({ partition, item: { deposit, before } }) => ({
      partition,
      before,
      ...Object.fromEntries(DEPOSIT_NAMES.map((name) => [name, DEPOSIT_COLUMNS[name]?.[1](deposit)])),
    })),
  );

const projectionStatement = ({ intents, deposits, events, checkpoints, withoutKeys }: ProjectionTables): string => {
  let next = 1;
  const arrays = (types: readonly string[]): string => types.map((type) => `$${next++}::${type}[]`).join(', ');
  const names = (columns: readonly IntentColumn[]): string => columns.map(({ name }) => name).join(', ');
  // In the order of TYPES.
  const batch = arrays(TYPES.batch);
  const made = arrays(TYPES.made);
  const changedPartitions = next;
  const changed = arrays(TYPES.changed);
  const listed = arrays(TYPES.listed);
  const decided = arrays(TYPES.decided);
  const keyed = arrays(TYPES.keyed);
  const erased = arrays(TYPES.erased);
  const emptied = arrays(TYPES.emptied);
  const depositTypes = Object.entries(DEPOSIT_COLUMNS).map(([name, [type]]) => `${name} ${type}`);
  const depositNames = DEPOSIT_NAMES.join(', ');
  const listedNames = 'intent_id, version, event_id, type, body, at, account_id, livemode';
  return `
    WITH held AS (
      -- NOWAIT: during a rebuild, which holds the row for long, no backend waits for a writer that has given up.
      SELECT checkpoint.partition, batch.next, batch.last_at
        FROM unnest(${batch})
          AS batch (partition, position, next, last_at), ${checkpoints} AS checkpoint
        WHERE checkpoint.partition = batch.partition AND checkpoint.position = batch.position
        FOR UPDATE OF checkpoint NOWAIT
    ), made AS (
      INSERT INTO ${intents} (partition, ${names(INTENT_COLUMNS)})
      SELECT made.* FROM held, unnest(${made}) AS made (partition, ${names(INTENT_COLUMNS)})
        WHERE made.partition = held.partition
    ), changed AS (
      UPDATE ${intents} AS intent
      SET (${names(CHANGING)}) = ROW (${CHANGING.map(({ name }) => `changed.${name}`).join(', ')})
      FROM held, unnest(${changed}) AS changed (partition, id, before, ${names(CHANGING)})
      WHERE changed.partition = held.partition AND intent.id = changed.id AND intent.version = changed.before
      RETURNING changed.partition
    ), deposited AS MATERIALIZED (
      SELECT deposited.* FROM held JOIN jsonb_to_recordset($${next}::jsonb)
        AS deposited (partition smallint, before integer, ${depositTypes.join(', ')}) USING (partition)
    ), received AS (
      INSERT INTO ${deposits} (partition, ${depositNames})
      SELECT partition, ${depositNames} FROM deposited WHERE before = 0
    ), followed AS (
      UPDATE ${deposits} AS deposit
      SET (${depositNames}) = ROW (${DEPOSIT_NAMES.map((name) => `deposited.${name}`).join(', ')})
      FROM deposited WHERE deposit.id = deposited.id AND deposit.version = deposited.before
      RETURNING deposited.partition
    ), listed AS (
      INSERT INTO ${events} (${listedNames})
      SELECT ${listedNames} FROM held JOIN unnest(${listed}) AS listed (partition, ${listedNames}) USING (partition)
    ), decided AS (
      INSERT INTO service.command_outcomes (command_id, body, at)
      SELECT command_id, body, at
        FROM held JOIN unnest(${decided}) AS decided (partition, command_id, body, at) USING (partition)
      ON CONFLICT (command_id) DO NOTHING
    ), keyed AS (
      INSERT INTO service.intent_keys (partition, intent_id, version, ciphertext, at)
      SELECT partition, intent_id, version, ciphertext, at
        FROM held JOIN unnest(${keyed}) AS keyed (partition, intent_id, version, ciphertext, at) USING (partition)
      ON CONFLICT (intent_id, version) DO NOTHING
    ), erased AS (
      SELECT intent_id FROM held JOIN unnest(${erased}) AS erased (partition, intent_id) USING (partition)
        ${withoutKeys ? 'WHERE false' : ''}
    ), forgotten AS (
      DELETE FROM service.intent_keys WHERE intent_id IN (SELECT intent_id FROM erased)
    ), settled AS (
      DELETE FROM service.erasures WHERE intent_id IN (SELECT intent_id FROM erased)
    ), emptied AS (
      UPDATE ${events} AS event SET body = emptied.body
      FROM held JOIN unnest(${emptied}) AS emptied (partition, intent_id, version, body) USING (partition)
      WHERE event.intent_id = emptied.intent_id AND event.version = emptied.version
    )
    UPDATE ${checkpoints} AS checkpoint SET
      -- NULL, which the column refuses, if a row was not at the version before: then nothing of any batch is written.
      position = CASE WHEN (SELECT count(*) FROM changed WHERE changed.partition = held.partition) =
        cardinality(array_positions($${changedPartitions}::smallint[], held.partition))
        AND (SELECT count(*) FROM followed WHERE followed.partition = held.partition) =
        (SELECT count(*) FROM deposited WHERE deposited.partition = held.partition AND before > 0)
        THEN held.next END,
      last_at = greatest(checkpoint.last_at, held.last_at)
    FROM held WHERE checkpoint.partition = held.partition
    RETURNING checkpoint.partition`;
};
