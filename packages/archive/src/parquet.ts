import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type Columns, selectedFrom, stagedAs } from './columns.ts';
import type { Row } from './row.ts';

/** DuckDB keeps to this, and fails where the rows that it has in hand need more. */
const MEMORY = '256MB';

/** DuckDB has the rows of one group in memory, however many a file has. It takes 2,048 rows at a time, so not less. */
const ROWS_OF_GROUP = 2_048;
const PARQUET = `(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROWS_OF_GROUP})`;

/** The part of an event that proofs are about. */
export interface StoredEvent {
  readonly intentId: string | null;
  readonly version: number | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly offset: bigint;
  readonly event: string | null;
}
export const storedEvent = ({ intentId, version, at, offset, event }: Row): StoredEvent => ({
  intentId,
  version,
  at,
  offset,
  event,
});

/** Writes and reads the archive's Parquet files, which are small enough for memory. One at a time. */
export class ParquetFiles {
  readonly #connection: DuckDBConnection;
  readonly #folder: string;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(connection: DuckDBConnection, folder: string) {
    this.#connection = connection;
    this.#folder = folder;
  }

  static async open(): Promise<ParquetFiles> {
    const folder = await mkdtemp(path.join(tmpdir(), 'pf-archive-'));
    const instance = await DuckDBInstance.create(':memory:', {
      threads: '1',
      memory_limit: MEMORY,
      temp_directory: folder,
      // A file is read once, under a name of its own. DuckDB would keep it after it is gone, up to its limit.
      enable_external_file_cache: 'false',
    });
    return new ParquetFiles(await instance.connect(), folder);
  }

  async close(): Promise<void> {
    await this.#turn;
    this.#connection.closeSync();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A file with these rows, in their order. */
  write<Of>(rows: readonly Of[], columns: Columns<Of>): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      await this.#connection.run(`CREATE OR REPLACE TEMP TABLE staged (${stagedAs(columns)})`);
      const appender = await this.#connection.createAppender('staged');
      for (const row of rows) {
        for (const column of Object.values(columns)) {
          const value = column.value(row);
          if (value === null) appender.appendNull();
          else if (typeof value === 'string') appender.appendVarchar(value);
          else if (typeof value === 'boolean') appender.appendBoolean(value);
          else if (typeof value === 'bigint') appender.appendBigInt(value);
          else appender.appendInteger(value);
        }
        appender.endRow();
      }
      appender.closeSync();
      const written = await this.#copy(`SELECT ${selectedFrom(columns)} FROM staged`);
      await this.#connection.run('DROP TABLE staged');
      return written;
    });
  }

  /**
   * One file with the rows of these. A column that earlier files lack is empty for them.
   * @param query what is taken of all their rows; default: all, one file after the other
   */
  merge(files: readonly Uint8Array[], query: Selection = allRows): Promise<Uint8Array> {
    return this.#withFiles(files, async (names) => this.#copy(query(readParquet(names))));
  }

  /** How many rows a file has. */
  count(file: Uint8Array): Promise<number> {
    return this.#withFiles([file], async (names) => {
      const reader = await this.#connection.runAndReadAll(`SELECT count(*) FROM ${readParquet(names)}`);
      return Number(reader.getRows()[0]?.[0]);
    });
  }

  #withFiles<Result>(
    contents: readonly Uint8Array[],
    work: (names: readonly string[]) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(async () => {
      const names = contents.map(() => this.#newName());
      try {
        for (const [which, content] of contents.entries()) await writeFile(names[which] ?? '', content);
        return await work(names);
      } finally {
        for (const name of names) await rm(name, { force: true });
      }
    });
  }

  /** The events of a file in its order, some at a time. Nothing else is read or written until they have been taken. */
  async *read(file: Uint8Array): AsyncGenerator<readonly StoredEvent[]> {
    const before = this.#turn;
    const { promise: turn, resolve: endTurn } = Promise.withResolvers<void>();
    this.#turn = turn;
    await before;
    const name = this.#newName();
    try {
      await writeFile(name, file);
      const result = await this.#connection.stream(
        `SELECT intent_id, version, epoch_ms("at"), log_offset, event FROM ${readParquet([name])}`,
      );
      for await (const rows of result.yieldRows())
        yield (rows as [string | null, number | null, bigint, bigint, string | null][]).map(
          ([intentId, version, at, offset, event]) => ({ intentId, version, at: Number(at), offset, event }),
        );
    } finally {
      await rm(name, { force: true }).finally(endTurn);
    }
  }

  async #copy(query: string): Promise<Uint8Array> {
    const file = this.#newName();
    try {
      await this.#connection.run(`COPY (${query}) TO ${quoted(file)} ${PARQUET}`);
      return await readFile(file);
    } finally {
      await rm(file, { force: true });
    }
  }

  #newName(): string {
    return path.join(this.#folder, `${randomUUID()}.parquet`);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** A query of files, or of what else SQL reads from. */
export type Selection = (source: string) => string;
export const allRows: Selection = (source) => `SELECT * FROM ${source}`;
/** In the order of the names. Folders that look like columns are not read as such: the files have them all. */
export const readParquet = (names: readonly string[]): string =>
  `read_parquet([${names.map(quoted).join(', ')}], union_by_name = true, hive_partitioning = false)`;
/** As a literal of SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
