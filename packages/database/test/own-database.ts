import { randomBytes } from 'node:crypto';
import { readBackingStack } from '@pf/testing';
import { type Database, migrate, openDatabase } from '../src/index.ts';

/** A migrated database on the stack's Postgres, for one test file. */
export interface OwnDatabase {
  readonly database: Database;
  readonly url: string;
  /** Drops the database. */
  close(): Promise<void>;
}

export async function createOwnDatabase(): Promise<OwnDatabase> {
  const stack = readBackingStack();
  const name = `pf_test_${randomBytes(6).toString('hex')}`;
  const admin = openDatabase({ url: stack.database, applicationName: 'test', onError: () => undefined });
  await admin.sql.query(`CREATE DATABASE ${name}`);
  const url = Object.assign(new URL(stack.database), { pathname: `/${name}` }).href;
  await migrate(url);
  const database = openDatabase({ url, applicationName: 'test', onError: () => undefined });
  return {
    database,
    url,
    async close() {
      await database.close();
      await admin.sql.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.close();
    },
  };
}
