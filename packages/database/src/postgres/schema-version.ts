import { readdir } from 'node:fs/promises';
import type { Database } from './database.ts';
import { MIGRATIONS } from './migrate.ts';

/** SQLSTATEs: there is no such table; this user may not read it. `migrate` makes the one and grants the other. */
const NOT_MIGRATED = ['42P01', '42501'];

/** The database lacks migrations that this version needs. */
export class SchemaBehindError extends Error {
  override readonly name = 'SchemaBehindError';
}

/**
 * Verifies that the database has every migration that this version of the code knows. Further ones, of a newer version,
 * do no harm: they only add.
 *
 * @param folder contains one folder for each migration
 * @throws SchemaBehindError naming the first migration that is missing
 */
export async function verifySchema({ sql }: Pick<Database, 'sql'>, folder: string = MIGRATIONS): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const needed = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const { rows } = await sql
    .query<{ name: string }>(
      `SELECT migration_name AS name FROM _prisma_migrations
        WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
    )
    .catch((error: Error & { code?: unknown }) => {
      if (!NOT_MIGRATED.includes(String(error.code))) throw error;
      throw new SchemaBehindError('No migration was applied, or its rights were not granted: run `migrate`.', {
        cause: error,
      });
    });
  const applied = new Set(rows.map(({ name }) => name));
  const missing = needed.filter((name) => !applied.has(name)).sort();
  if (missing.length > 0)
    throw new SchemaBehindError(
      `The database lacks ${missing.length} of the migrations of this version, first ${missing[0]}: run \`migrate\`.`,
    );
}
