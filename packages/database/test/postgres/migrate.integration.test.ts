import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate } from '../../src/index.ts';
import { readBackingStack, until } from '@pf/testing';
import pg from 'pg';

const name = `pf_test_${randomBytes(6).toString('hex')}`;
const stack = readBackingStack();
const url = Object.assign(new URL(stack.database), { pathname: `/${name}` }).href;
const admin = new pg.Client({ connectionString: stack.database });
const other = new pg.Client({ connectionString: url });
let folder: string;

/** Adds a migration to the folder. */
async function addMigration(migration: string, sql: string): Promise<void> {
  await mkdir(path.join(folder, migration));
  await writeFile(path.join(folder, migration, 'migration.sql'), sql);
}
/** True while a session of the database waits for a lock on a table. */
const isWaitingForLock = async (): Promise<boolean> => {
  const { rowCount } = await admin.query(
    "SELECT FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock' AND wait_event = 'relation'",
    [name],
  );
  return rowCount === 1;
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'pf-migrations-'));
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await other.connect();
  await addMigration('1_orders', 'CREATE TABLE orders (id int); INSERT INTO orders VALUES (1);');
});
afterAll(async () => {
  await other.end();
  await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await admin.end();
  await rm(folder, { recursive: true });
});

describe('Migrations of a database in use', () => {
  it('are applied once, in order, by several processes at once, including CREATE INDEX CONCURRENTLY', async () => {
    await addMigration('2_by_id', 'CREATE INDEX CONCURRENTLY by_id ON orders (id);');
    const applied = await Promise.all([migrate(url, folder), migrate(url, folder), migrate(url, folder)]);
    expect(applied.flat()).toEqual(['1_orders', '2_by_id']);
    expect(await migrate(url, folder)).toEqual([]);
  });

  it('give up waiting for a locked table, so that no query queues behind them, and try again', async () => {
    await addMigration('3_note', 'ALTER TABLE orders ADD COLUMN note text;');
    await other.query('BEGIN');
    await other.query('SELECT FROM orders');
    const migrated = migrate(url, folder);
    await until('the migration to wait for the table', isWaitingForLock);
    await until('the migration to give way', async () => !(await isWaitingForLock()));
    await other.query('COMMIT');
    expect(await migrated).toEqual(['3_note']);
    expect((await other.query('SELECT note FROM orders')).rows).toEqual([{ note: null }]);
  });

  it('stop after one that failed, and if one was edited after it was applied', async () => {
    await addMigration(
      '4_wrong',
      'ALTER TABLE orders ADD COLUMN more text; ALTER TABLE purchases ADD COLUMN more text;',
    );
    await expect(migrate(url, folder)).rejects.toThrow('"purchases" does not exist');
    await expect(migrate(url, folder)).rejects.toThrow('migration 4_wrong failed earlier');
    expect((await other.query('SELECT * FROM orders')).fields.map((field) => field.name)).toEqual(['id', 'note']);
    await other.query("UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = '4_wrong'");
    await writeFile(path.join(folder, '3_note', 'migration.sql'), 'ALTER TABLE orders ADD COLUMN note varchar;');
    await expect(migrate(url, folder)).rejects.toThrow('migration 3_note was edited after it had been applied');
  });
});
