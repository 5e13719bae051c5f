import { type DuckDBConnection, DuckDBInstance, DuckDBTypeId } from '@duckdb/node-api';
import { type Columns, columnList } from '../columns.ts';
import { DELIVERIES, DELIVERY_COLUMNS, deliveryFilesIn, lastEnds } from '../deliveries/files.ts';
import { currentOf } from '../names.ts';
import { allRows, quoted, readParquet, type Selection } from '../parquet.ts';
import { EVENT_COLUMNS } from '../row.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { type CopyOptions, type LedgerPaths, localCopies, MovedError } from './local-copies.ts';
import { VIEWS } from './views.ts';

/** The answer to a query. Numbers beyond a double, decimals and times are texts. */
export interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** The query cannot be answered: the message says why, with its place in the text. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

const AT_HINT = 'at is a keyword of SQL: the column is "at", in double quotes.';

/** A decimal without the zeros at its end. */
const shortest = (value: unknown): unknown =>
  typeof value === 'string' ? value.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : value;

/** The archive as DuckDB sees it: `events`, and the views. Each row counts once, also while files are merged. */
export class Ledger {
  readonly #connect: () => Promise<DuckDBConnection>;
  #connection: DuckDBConnection;

  private constructor(connect: () => Promise<DuckDBConnection>, connection: DuckDBConnection) {
    this.#connect = connect;
    this.#connection = connection;
  }

  /**
   * Sees the files that are there now; those that are there later once some of these were merged into others.
   * @param copies where copies of them go if the store is elsewhere
   * @throws StoreUnavailableError, TooLargeError, ArchiveDamagedError
   */
  static async open(store: ObjectStore, copies?: CopyOptions): Promise<Ledger> {
    const connect = (): Promise<DuckDBConnection> => connectionTo(store, copies);
    return new Ledger(connect, await connect());
  }

  close(): void {
    this.#connection.closeSync();
  }

  /** @throws QueryError */
  async query(sql: string): Promise<Answer> {
    for (let listing = 1; ; listing++) {
      try {
        return await this.#query(sql);
      } catch (error) {
        // The archive has merged files since they were listed.
        if (!(error instanceof QueryError) || !hasMoved(error) || listing === LISTINGS_MAX) throw error;
      }
      this.close();
      this.#connection = await this.#connect();
    }
  }

  async #query(sql: string): Promise<Answer> {
    try {
      const reader = await this.#connection.runAndReadAll(sql);
      const columns = reader.columnNames();
      const decimals = columns.filter((_, place) => reader.columnTypeId(place) === DuckDBTypeId.DECIMAL);
      const rows = reader.getRowObjectsJson().map((row) => ({
        ...row,
        ...Object.fromEntries(decimals.map((name) => [name, shortest(row[name])])),
      }));
      return { columns, rows };
    } catch (cause) {
      const { message } = cause as Error;
      const hint = /syntax error/.test(message) && /(^|[^"'\w])at([^"'\w]|$)/i.test(sql) ? `\n${AT_HINT}` : '';
      throw new QueryError(message + hint, { cause });
    }
  }

  /**
   * Writes the answer to a file.
   * @throws QueryError
   */
  async write(sql: string, file: string, format: 'parquet' | 'ndjson' | 'csv'): Promise<void> {
    const options = {
      parquet: 'FORMAT parquet, COMPRESSION zstd',
      ndjson: 'FORMAT json',
      csv: 'FORMAT csv, HEADER',
    }[format];
    await this.query(`COPY (${sql}) TO ${quoted(file)} (${options})`);
  }

  /** The intents as they were at a moment: each as the last event before or at it left it. @param intentId only this */
  async asOf(
    moment: Date,
    intentId: string | null,
  ): Promise<readonly { readonly version: number; readonly intent: unknown }[]> {
    const { rows } = await this.query(
      `SELECT max(version) AS version, arg_max(event, version) -> '$.intent' AS intent FROM events
       WHERE "at" <= ${quoted(moment.toISOString().replace('Z', ''))}::TIMESTAMP AND version IS NOT NULL
       ${intentId === null ? '' : `AND intent_id = ${quoted(intentId)}`}
       GROUP BY intent_id ORDER BY intent_id`,
    );
    return rows.map(({ version, intent }) => ({
      version: Number(version),
      intent: JSON.parse(String(intent)) as unknown,
    }));
  }
}

/** Defines a view of files, or an empty table where there are none. */
async function define<Of>(
  connection: DuckDBConnection,
  name: string,
  files: readonly string[],
  columns: Columns<Of>,
  query: Selection = allRows,
): Promise<void> {
  await connection.run(
    files.length === 0
      ? `CREATE TABLE ${name} (${columnList(columns)})`
      : `CREATE VIEW ${name} AS ${query(readParquet(files))}`,
  );
}

/** Files are merged a few times an hour at most. */
const LISTINGS_MAX = 5;

/** A file of the listing is gone: DuckDB says so when it plans a query, or when it opens the file. */
const hasMoved = ({ message }: Error): boolean =>
  /No files found that match the pattern|Cannot open file .*No such file/.test(message);

async function connectionTo(store: ObjectStore, copies: CopyOptions | undefined): Promise<DuckDBConnection> {
  for (let listing = 1; ; listing++) {
    const files = await filesOf(store, copies);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    try {
      await define(connection, 'events', files.events, EVENT_COLUMNS);
      await define(connection, 'deliveries', files.deliveries, DELIVERY_COLUMNS, lastEnds);
      for (const [name, query] of Object.entries(VIEWS)) await connection.run(`CREATE VIEW ${name} AS ${query}`);
      return connection;
    } catch (error) {
      connection.closeSync();
      if (!(error instanceof Error) || !hasMoved(error) || listing === LISTINGS_MAX) throw error;
    }
  }
}

async function filesOf(store: ObjectStore, copies: CopyOptions | undefined): Promise<LedgerPaths> {
  const pathsOf = (files: readonly { readonly key: string }[]) => files.flatMap(({ key }) => store.fileOf(key) ?? []);
  for (let listing = 1; ; listing++) {
    const { current: events } = currentOf(await store.list('events/'));
    const deliveries = deliveryFilesIn(await store.list(DELIVERIES));
    const here = { events: pathsOf(events), deliveries: pathsOf(deliveries) };
    if (here.events.length === events.length && here.deliveries.length === deliveries.length) return here;
    if (copies === undefined) throw new Error('This archive needs a folder for copies of its files.');
    try {
      return await localCopies(store, { events, deliveries }, copies);
    } catch (error) {
      if (!(error instanceof MovedError) || listing === LISTINGS_MAX) throw error;
    }
  }
}
