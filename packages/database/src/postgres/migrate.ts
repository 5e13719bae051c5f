import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pause } from '@pf/runtime';
import pg from 'pg';

/** One folder for each migration of this version. */
export const MIGRATIONS = path.join(import.meta.dirname, '../../prisma/migrations');
/** The advisory lock of `prisma migrate`: this function and the CLI never run at once. */
const ADVISORY_LOCK = 72707369;
const AGAIN_MS = 500;
/**
 * A change of a table that waits for a lock blocks all later queries of the table, so it gives up after this time and
 * tries again.
 */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_TRIES = 60;
/** SQLSTATE lock_not_available. */
const LOCKED = '55P03';

/**
 * Applies the migrations that the database lacks, in order. It keeps the table of `prisma migrate`, so either can
 * follow the other; production needs no CLI. It can be repeated, and run by several processes at once.
 *
 * @returns the names of the migrations that this call applied
 * @param folder contains one folder for each migration
 * @throws if an earlier migration failed, or one was edited after it had been applied
 */
export async function migrate(databaseUrl: string, folder: string = MIGRATIONS): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await lockOut(client);
    await client.query(
      `CREATE TABLE IF NOT EXISTS _prisma_migrations (
         id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
         migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
         started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
         applied_steps_count INTEGER NOT NULL DEFAULT 0)`,
    );
    const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
      'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    );
    const failed = rows.find((row) => row.finished_at === null);
    if (failed)
      throw new Error(
        `migration ${failed.migration_name} failed earlier. ` +
          'Repair the database, then set its rolled_back_at in _prisma_migrations.',
      );
    const known = new Map(rows.map((row) => [row.migration_name, row.checksum]));

    const applied: string[] = [];
    const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    for (const name of entries.map((entry) => entry.name).sort()) {
      const sql = await readFile(path.join(folder, name, 'migration.sql'), 'utf8');
      const checksum = createHash('sha256').update(sql).digest('hex');
      const appliedChecksum = known.get(name);
      if (appliedChecksum === checksum) continue;
      if (appliedChecksum !== undefined)
        throw new Error(`migration ${name} was edited after it had been applied: write a new one instead`);
      await apply(client, name, sql, checksum);
      applied.push(name);
    }
    return applied;
  } finally {
    await client.end();
  }
}

/**
 * Waits until no other process migrates. It polls, because a query that waits for the lock would block CREATE INDEX
 * CONCURRENTLY, and be blocked by it.
 */
async function lockOut(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ ours: boolean }>('SELECT pg_try_advisory_lock($1) AS ours', [ADVISORY_LOCK]);
    if (rows[0]?.ours) return;
    await pause(AGAIN_MS);
  }
}

/** Runs a migration as one query: a transaction if it has several statements; a single one can be CONCURRENTLY. */
async function run(client: pg.Client, sql: string): Promise<void> {
  // CREATE INDEX CONCURRENTLY waits for the writers, and a time-out would leave an invalid index behind.
  const concurrently = /\bconcurrently\b/i.test(sql);
  await client.query(`SET lock_timeout = ${concurrently ? 0 : LOCK_TIMEOUT_MS}`);
  for (let tries = 1; ; tries++) {
    try {
      await client.query(sql);
      return;
    } catch (error) {
      if ((error as pg.DatabaseError).code !== LOCKED || tries === LOCK_TRIES) throw error;
      await pause(AGAIN_MS);
    }
  }
}

async function apply(client: pg.Client, name: string, sql: string, checksum: string): Promise<void> {
  const id = randomUUID();
  await client.query('INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ($1, $2, $3)', [
    id,
    checksum,
    name,
  ]);
  try {
    await run(client, sql);
  } catch (error) {
    await client.query('UPDATE _prisma_migrations SET logs = $2 WHERE id = $1', [
      id,
      error instanceof Error ? error.message : String(error),
    ]);
    throw error;
  }
  await client.query('UPDATE _prisma_migrations SET finished_at = now(), applied_steps_count = 1 WHERE id = $1', [id]);
}
