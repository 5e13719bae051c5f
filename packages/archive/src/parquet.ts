import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { Row } from './row.ts';

/** DuckDB keeps to this, and puts what is more into its temporary folder. */
const MEMORY = '256MB';

interface Column {
  /** Its type in the file. */
  readonly type: string;
  /** From the staged column of the same name, where that has another type. */
  readonly from?: string;
  readonly staged: 'VARCHAR' | 'INTEGER' | 'BIGINT' | 'BOOLEAN';
  readonly value: (row: Row) => string | number | bigint | boolean | null;
}
const text = (value: (row: Row) => string | null | undefined): Column => ({
  type: 'VARCHAR',
  staged: 'VARCHAR',
  value: (row) => value(row) ?? null,
});

/**
 * The columns of the archive's files, with their types in SQL. docs/reference/archive.md describes them. New ones are
 * added at the end.
 */
const COLUMNS: Readonly<Record<string, Column>> = {
  intent_id: text((row) => row.intentId),
  version: { type: 'INTEGER', staged: 'INTEGER', value: (row) => row.version },
  type: text((row) => row.type),
  // In UTC. A type with a zone needs an extension of DuckDB for the simplest of its functions.
  at: {
    type: 'TIMESTAMP',
    staged: 'BIGINT',
    from: 'make_timestamp("at")',
    value: (row) => BigInt(row.at) * 1000n,
  },
  event_id: text((row) => row.eventId),
  account_id: text((row) => row.accountId),
  livemode: { type: 'BOOLEAN', staged: 'BOOLEAN', value: (row) => row.livemode },
  partition: { type: 'INTEGER', staged: 'INTEGER', value: (row) => row.partition },
  log_offset: { type: 'BIGINT', staged: 'BIGINT', value: (row) => row.offset },
  state: text((row) => row.intent?.state),
  direction: text((row) => row.intent?.direction),
  chain: text((row) => row.intent?.chain),
  token: text((row) => row.intent?.token),
  amount: {
    type: 'DECIMAL(38, 18)',
    staged: 'VARCHAR',
    from: 'try_cast(amount AS DECIMAL(38, 18))',
    value: (row) => row.intent?.amount ?? null,
  },
  requestor: text((row) => row.intent?.requestor),
  fulfiller: text((row) => row.intent?.fulfiller),
  tx_signature: text((row) => row.intent?.txSignature),
  event: text((row) => row.event),
};
/** `name type, …`, for an archive without files. */
export const COLUMN_LIST = Object.entries(COLUMNS)
  .map(([name, { type }]) => `"${name}" ${type}`)
  .join(', ');
const staged = Object.entries(COLUMNS).map(([name, column]) => `"${name}" ${column.staged}`);
const selected = Object.entries(COLUMNS).map(([name, { from }]) => `${from ?? `"${name}"`} AS "${name}"`);
const PARQUET = '(FORMAT parquet, COMPRESSION zstd)';

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
    });
    return new ParquetFiles(await instance.connect(), folder);
  }

  async close(): Promise<void> {
    await this.#turn;
    this.#connection.closeSync();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** A file with these rows, in their order. */
  write(rows: readonly Row[]): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      await this.#connection.run(`CREATE OR REPLACE TEMP TABLE staged (${staged.join(', ')})`);
      const appender = await this.#connection.createAppender('staged');
      for (const row of rows) {
        for (const column of Object.values(COLUMNS)) {
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
      const written = await this.#copy(`SELECT ${selected.join(', ')} FROM staged`);
      await this.#connection.run('DROP TABLE staged');
      return written;
    });
  }

  /** One file with the rows of these, one after the other. A column that earlier files lack is empty for them. */
  merge(files: readonly Uint8Array[]): Promise<Uint8Array> {
    return this.#withFiles(files, async (names) => this.#copy(`SELECT * FROM ${readParquet(names)}`));
  }

  /** The events of a file, in its order. */
  read(file: Uint8Array): Promise<readonly StoredEvent[]> {
    return this.#withFiles([file], async (names) => {
      const reader = await this.#connection.runAndReadAll(
        `SELECT intent_id, version, epoch_ms("at"), log_offset, event FROM ${readParquet(names)}`,
      );
      return (reader.getRows() as [string | null, number | null, bigint, bigint, string | null][]).map(
        ([intentId, version, at, offset, event]) => ({ intentId, version, at: Number(at), offset, event }),
      );
    });
  }

  async #withFiles<Result>(
    contents: readonly Uint8Array[],
    work: (names: readonly string[]) => Promise<Result>,
  ): Promise<Result> {
    return this.#inTurn(async () => {
      const names = contents.map(() => path.join(this.#folder, `${randomUUID()}.parquet`));
      try {
        for (const [which, content] of contents.entries()) await writeFile(names[which] ?? '', content);
        return await work(names);
      } finally {
        for (const name of names) await rm(name, { force: true });
      }
    });
  }

  async #copy(query: string): Promise<Uint8Array> {
    const file = path.join(this.#folder, `${randomUUID()}.parquet`);
    try {
      await this.#connection.run(`COPY (${query}) TO ${quoted(file)} ${PARQUET}`);
      return await readFile(file);
    } finally {
      await rm(file, { force: true });
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}

/** In the order of the names. Folders that look like columns are not read as such: the files have them all. */
export const readParquet = (names: readonly string[]): string =>
  `read_parquet([${names.map(quoted).join(', ')}], union_by_name = true, hive_partitioning = false)`;
/** As a literal of SQL. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
