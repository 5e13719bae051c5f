import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { ParquetFiles } from '../src/index.ts';
import { EVENT_COLUMNS, toRow } from '../src/row.ts';
import { eventsIn } from './events-in.ts';
import { recordAt } from './recorded.ts';

let parquet: ParquetFiles;
/** Another connection to the same DuckDB. */
let beside: DuckDBConnection;

beforeEach(async () => {
  const created = jest.spyOn(DuckDBInstance, 'create');
  parquet = await ParquetFiles.open();
  beside = await ((await created.mock.results[0]?.value) as DuckDBInstance).connect();
});
afterEach(async () => {
  beside.closeSync();
  await parquet.close();
});

const rowsOf = (count: number, valueOf?: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => toRow(recordAt(0, n, valueOf?.(n))));

describe('the Parquet files of the archive', () => {
  it('keep no memory once they have been merged and read', async () => {
    const file = await parquet.write(rowsOf(2_000), EVENT_COLUMNS);
    await eventsIn(parquet, await parquet.merge([file, file, file]));
    const used = await beside.runAndReadAll('SELECT tag FROM duckdb_memory() WHERE memory_usage_bytes > 1000');
    expect(used.getRows()).toEqual([]);
  });

  it('are merged and read where all rows are more than DuckDB may have in memory', async () => {
    const valueOf = (n: number): string => `${n} `.repeat(500);
    const files: Uint8Array[] = [];
    for (let n = 0; n < 15; n++)
      files.push(
        await parquet.write(
          rowsOf(4_000, (row) => valueOf(4_000 * n + row)),
          EVENT_COLUMNS,
        ),
      );
    let count = 0;
    for await (const events of parquet.read(await parquet.merge(files)))
      for (const { event } of events) expect(event).toBe(valueOf(count++));
    expect(count).toBe(60_000);
  });

  it('are written after a reader that has left', async () => {
    const file = await parquet.write(rowsOf(5_000), EVENT_COLUMNS);
    for await (const events of parquet.read(file)) {
      expect(events.length).toBeLessThan(5_000);
      break;
    }
    const read = await eventsIn(parquet, await parquet.write(rowsOf(3), EVENT_COLUMNS));
    expect(read.map(({ event }) => event)).toEqual(rowsOf(3).map(({ event }) => event));
  });
});
