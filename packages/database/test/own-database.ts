import { createTestDatabase, readBackingStack } from '@pf/testing';
import { type Database, openDatabase } from '../src/index.ts';

/** A migrated database on the stack's Postgres, for one test file. */
export interface OwnDatabase {
  readonly database: Database;
  readonly url: string;
  /** Drops the database. */
  close(): Promise<void>;
}

export async function createOwnDatabase(): Promise<OwnDatabase> {
  const { url, drop } = await createTestDatabase(readBackingStack().database);
  const database = openDatabase({ url, applicationName: 'test' });
  return {
    database,
    url,
    async close() {
      await database.close();
      await drop();
    },
  };
}
