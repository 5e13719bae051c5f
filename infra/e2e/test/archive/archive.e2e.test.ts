import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '@pf/testing';
import { type ArchivedCluster, startArchivedCluster } from './harness.ts';

const TEST_MS = 180_000;
let archived: ArchivedCluster;

beforeAll(async () => {
  archived = await startArchivedCluster();
}, TEST_MS);
afterAll(() => archived.cluster.close());

/** What DuckDB finds in the archive's files, all of them. */
async function found(): Promise<readonly string[]> {
  const folder = archived.cluster.archive;
  const files = await readdir(folder, { recursive: true }).catch(() => []);
  if (!files.some((file) => file.endsWith('.parquet'))) return [];
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(
    `SELECT concat_ws(' ', partition, intent_id, version)
     FROM read_parquet('${path.join(folder, 'events/**/*.parquet')}') ORDER BY partition, log_offset`,
  );
  connection.closeSync();
  return reader.getRows().map(([row]) => String(row));
}

it(
  'the archive has exactly the committed events, in their order, whatever is killed while they are written',
  async () => {
    const creates = await archived.createWhileKilled();
    const events = await archived.logged();
    expect(events.length).toBeGreaterThanOrEqual(creates);
    await until('the archive to have every event', async () => (await found()).length >= events.length);
    expect(await found()).toEqual(events);
  },
  TEST_MS,
);
