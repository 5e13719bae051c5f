import { type DuckDBConnection, DuckDBInstance, DuckDBTypeId } from '@duckdb/node-api';
import { type Columns, columnList } from '../columns.ts';
import { DELIVERIES, DELIVERY_COLUMNS, deliveryFilesIn, lastEnds } from '../deliveries/files.ts';
import { allRows, quoted, readParquet, type Selection } from '../parquet.ts';
import { EVENT_COLUMNS } from '../row.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { ArchiveDamagedError } from '../partition-archive.ts';
import { damaged, listManifests, MovedError } from './listing.ts';
import { type CopyOptions, localCopies, manifestReader, type NamedFile, provenPaths } from './local-copies.ts';
import { VIEWS } from './views.ts';

/** What the ledger is narrowed to: each that is named. */
export interface LedgerScope {
  readonly accountId?: string | undefined;
  readonly livemode?: boolean | undefined;
}

/**
 * The answer to a query. Columns of one name are told apart: `state`, `state:1`. Numbers beyond a double, decimals and
 * times are texts.
 */
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

/**
 * The archive as DuckDB sees it: `events`, and the views, of files that its manifests name and that have their bytes.
 * Each row counts once, also while files are merged.
 */
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
  static async open(store: ObjectStore, copies?: CopyOptions, scope: LedgerScope = {}): Promise<Ledger> {
    const connect = (): Promise<DuckDBConnection> => connectionTo(store, copies, scope);
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
      const columns = reader.deduplicatedColumnNames();
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

async function connectionTo(
  store: ObjectStore,
  copies: CopyOptions | undefined,
  scope: LedgerScope,
): Promise<DuckDBConnection> {
  for (let listing = 1; ; listing++) {
    const files = await pathsIn(store, copies);
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    try {
      await connection.run("SET TimeZone = 'UTC'");
      await define(connection, 'events', files.events, EVENT_COLUMNS, within(scope, allRows));
      await define(connection, 'deliveries', files.deliveries, DELIVERY_COLUMNS, within(scope, lastEnds));
      for (const [name, query] of Object.entries(VIEWS)) await connection.run(`CREATE VIEW ${name} AS ${query}`);
      return connection;
    } catch (error) {
      connection.closeSync();
      if (!(error instanceof Error) || !hasMoved(error) || listing === LISTINGS_MAX) throw error;
    }
  }
}

/** Narrowed before anything is counted, so that no view has more. */
const within =
  ({ accountId, livemode }: LedgerScope, query: Selection): Selection =>
  (source) => {
    const wanted = [
      ...(accountId === undefined ? [] : [`account_id = ${quoted(accountId)}`]),
      ...(livemode === undefined ? [] : [`livemode = ${livemode}`]),
    ];
    return wanted.length === 0 ? query(source) : `SELECT * FROM (${query(source)}) WHERE ${wanted.join(' AND ')}`;
  };

/** The paths of the files that count, which have the bytes that they should. */
async function pathsIn(
  store: ObjectStore,
  copies: CopyOptions | undefined,
): Promise<{ readonly events: readonly string[]; readonly deliveries: readonly string[] }> {
  const elsewhere = store.fileOf(DELIVERIES) === null;
  if (elsewhere && copies === undefined) throw new Error('This archive needs a folder for copies of its files.');
  const into = elsewhere ? copies : undefined;
  for (let listing = 1; ; listing++) {
    try {
      const manifests = await listManifests(store, manifestReader(store, into, listing === 1));
      const deliveries = deliveryFilesIn(await store.list(DELIVERIES));
      const files: readonly NamedFile[] = [
        ...manifests.map(({ file: key, sha256, bytes }) => ({ key, sha256, bytes })),
        ...deliveries.map(({ key, sha256 }) => ({ key, sha256, bytes: null })),
      ];
      const paths = into ? await localCopies(files, store, into) : await provenPaths(files, store);
      return { events: paths.slice(0, manifests.length), deliveries: paths.slice(manifests.length) };
    } catch (error) {
      // It may be the copy of a manifest that is damaged.
      const isOfCopy = error instanceof ArchiveDamagedError && into !== undefined && listing === 1;
      if (!(error instanceof MovedError) && !isOfCopy) throw error;
      if (listing === LISTINGS_MAX) throw damaged(error.message);
    }
  }
}
