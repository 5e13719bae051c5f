import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  readBackingStack,
  startCluster,
  until,
} from '@pf/testing';
import { whileBusy } from '../responses.ts';

const TEST_MS = 180_000;
const CREATES = 300;
const WORKERS = 8;

let cluster: Cluster;
let api: ApiClient;
let archive: Instance;

beforeAll(async () => {
  cluster = await startCluster(readBackingStack());
  const [gateway, , started] = await Promise.all([
    cluster.start('gateway'),
    cluster.start('intent'),
    cluster.start('archive'),
  ]);
  archive = started;
  api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
}, TEST_MS);
afterAll(() => cluster.close());

/** What a committed read of the log finds, as `partition intent version` in order. */
async function logged(): Promise<readonly string[]> {
  const reader = await cluster.log.reader('test');
  const found: string[] = [];
  for (const [partition, end] of (await reader.endOffsets('intent.events')).entries())
    for await (const { records } of reader.read('intent.events', partition, 0n, end))
      for (const { value } of records) {
        const { intentId, version } = JSON.parse(value ?? '') as { intentId: string; version: number };
        found.push(`${partition} ${intentId} ${version}`);
      }
  await reader.close();
  return found;
}
/** What DuckDB finds in the archive's files, all of them. */
async function archived(): Promise<readonly string[]> {
  const files = await readdir(cluster.archive, { recursive: true }).catch(() => []);
  if (!files.some((file) => file.endsWith('.parquet'))) return [];
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(
    `SELECT concat_ws(' ', partition, intent_id, version)
     FROM read_parquet('${path.join(cluster.archive, 'events/**/*.parquet')}') ORDER BY partition, log_offset`,
  );
  connection.closeSync();
  return reader.getRows().map(([row]) => String(row));
}

it(
  'the archive has exactly the committed events, in their order, whatever is killed while they are written',
  async () => {
    let left = CREATES;
    const work = Array.from({ length: WORKERS }, async () => {
      while (left-- > 0) {
        const { status } = await whileBusy('an intent', () =>
          api.create({ chain: 'eip155:84532', token: 'USDC', amount: '1', requestor: `0x${'11'.repeat(20)}` }),
        );
        expect(status).toBe(201);
      }
    });
    const kills = (async () => {
      while (left > 0) {
        const before = left;
        await until('some more to be created', () => left <= before - CREATES / 6 || left <= 0);
        archive.kill('SIGKILL');
        await archive.exited;
        archive = await cluster.start('archive');
      }
    })();
    await Promise.all([...work, kills]);
    const events = await logged();
    expect(events.length).toBeGreaterThanOrEqual(CREATES);
    await until('the archive to have every event', async () => (await archived()).length >= events.length);
    expect(await archived()).toEqual(events);
  },
  TEST_MS,
);
