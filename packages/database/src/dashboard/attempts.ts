import type { Database } from '../postgres/database.ts';

/** Something that may be tried so often within a window. */
export interface AttemptKey {
  readonly key: string;
  readonly windowSeconds: number;
}

export interface AttemptCount {
  readonly key: string;
  /** This attempt included. */
  readonly count: number;
  /** When the window ends, and with it the count. */
  readonly endsAt: Date;
}

/** Counts an attempt under each of these keys, in one statement; all processes share the counts. */
export async function countAttempts(
  { sql }: Database,
  keys: readonly AttemptKey[],
  at: Date,
): Promise<readonly AttemptCount[]> {
  const { rows } = await sql.query<{ key: string; count: number; ends_at: Date }>({
    name: 'count-attempts',
    // In the order of the keys, so that two statements never wait for each other.
    text: `INSERT INTO dashboard.attempts AS a (key, count, ends_at)
           SELECT key, 1, $3::timestamptz + seconds * interval '1 second'
             FROM unnest($1::text[], $2::int[]) AS new (key, seconds) ORDER BY key
           ON CONFLICT (key) DO UPDATE SET
             count = CASE WHEN a.ends_at <= $3 THEN 1 ELSE least(a.count, 1000000) + 1 END,
             ends_at = CASE WHEN a.ends_at <= $3 THEN EXCLUDED.ends_at ELSE a.ends_at END
           RETURNING key, count, ends_at`,
    values: [keys.map(({ key }) => key), keys.map(({ windowSeconds }) => windowSeconds), at],
  });
  return rows.map(({ key, count, ends_at }) => ({ key, count, endsAt: ends_at }));
}

/** Remembers a key until a time, or for longer if it is remembered already. */
export async function rememberKey({ sql }: Database, key: string, until: Date): Promise<void> {
  await sql.query(
    `INSERT INTO dashboard.attempts (key, count, ends_at) VALUES ($1, 1, $2)
     ON CONFLICT (key) DO UPDATE SET ends_at = EXCLUDED.ends_at`,
    [key, until],
  );
}

export async function isRemembered({ sql }: Database, key: string, at: Date): Promise<boolean> {
  const { rowCount } = await sql.query('SELECT FROM dashboard.attempts WHERE key = $1 AND ends_at > $2', [key, at]);
  return rowCount === 1;
}

/** Forgets a count: the attempt succeeded. */
export async function forgetAttempts({ sql }: Database, key: string): Promise<void> {
  await sql.query('DELETE FROM dashboard.attempts WHERE key = $1', [key]);
}
