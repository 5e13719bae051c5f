import { createHash, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { pause } from '@pf/runtime';
import pg from 'pg';

const MIGRATIONS = path.join(import.meta.dirname, '../../prisma/migrations');
/** The lock number of `prisma migrate`: ours and the CLI's never run at once. */
const ADVISORY_LOCK = 72707369;
const AGAIN_MS = 500;
/**
 * Milliseconds. A change of a table that waits for a lock blocks all later queries of the table, so it gives up after
 * this time and tries again.
 */
const LOCK_TIMEOUT_MS = 2_000;
const LOCK_TRIES = 60;
/** Of Postgres: lock_not_available. */
const LOCKED = '55P03';

/**
 * Applies the migrations that the database lacks, in order, in the bookkeeping of `prisma migrate`, so that either can
 * follow the other. No CLI is needed in production. Safe to repeat and to run twice at once.
 *
 * @returns the names of what was applied now
 * @param folder of the migrations, each in a folder of its own
 * @throws if an earlier migration failed half-way, or one was edited after it had been applied
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
    const halfDone = rows.find((row) => row.finished_at === null);
    if (halfDone)
      throw new Error(
        `migration ${halfDone.migration_name} failed earlier. ` +
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

/** All statements of a migration are one transaction, unless it is one alone. */
async function run(client: pg.Client, sql: string): Promise<void> {
  // An index that is built while others write waits for them, and must not give up half-way.
  const patient = /\bconcurrently\b/i.test(sql);
  await client.query(`SET lock_timeout = ${patient ? 0 : LOCK_TIMEOUT_MS}`);
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
