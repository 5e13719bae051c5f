import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifySchema } from '../../src/index.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';

describe('the schema that a version of the services needs', () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  it('is there once every one of its migrations has been applied, and further ones do no harm', async () => {
    const { sql } = own.database;
    const last = async (): Promise<string> => {
      const { rows } = await sql.query<{ name: string }>('SELECT max(migration_name) AS name FROM _prisma_migrations');
      return rows[0]?.name ?? '';
    };
    await verifySchema(own.database);
    const name = await last();
    // As while the migration runs.
    await sql.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [name]);
    await expect(verifySchema(own.database)).rejects.toThrow(
      `The database lacks 1 of the migrations of this version, first ${name}: run \`migrate\`.`,
    );
    await sql.query('UPDATE _prisma_migrations SET finished_at = now() WHERE migration_name = $1', [name]);
    await sql.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('next', '', '9_next', now())`,
    );
    await verifySchema(own.database);
  });

  it('is not there in an empty database', async () => {
    const { sql } = own.database;
    await sql.query('ALTER TABLE _prisma_migrations RENAME TO aside');
    await expect(verifySchema(own.database)).rejects.toThrow(
      'No migration was applied, or its rights were not granted',
    );
    await sql.query('ALTER TABLE aside RENAME TO _prisma_migrations');
  });
});
