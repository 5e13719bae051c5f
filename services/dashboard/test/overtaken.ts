import type { Database } from '@pf/database';
import { until } from '@pf/testing';
import type { Answer } from './person.ts';

/**
 * Makes a request while a change is done but not committed. Commits once the request waits for the change, or was
 * answered without.
 */
export async function overtaken<Body>(
  database: Database,
  change: (database: Database) => Promise<unknown>,
  request: () => Promise<Answer<Body>>,
): Promise<Answer<Body>> {
  const { sql } = database;
  let answer: Promise<Answer<Body>> | undefined;
  const connect = async () => {
    const client = await sql.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const beforeCommit = async (): Promise<void> => {
      let answered = false;
      answer = request().finally(() => (answered = true));
      // Who waits for it fails the test where `answer` is awaited.
      answer.catch(() => undefined);
      await until('the request waits, or was answered', async () => {
        if (answered) return true;
        const { rowCount } = await sql.query(
          'SELECT FROM pg_locks WHERE NOT granted AND $1::int = ANY(pg_blocking_pids(pid))',
          [rows[0]?.pid],
        );
        return (rowCount ?? 0) > 0;
      });
    };
    return {
      query: async (text: string, values?: unknown[]) => {
        if (text === 'COMMIT') await beforeCommit();
        return client.query(text, values);
      },
      release: (error?: Error) => client.release(error),
    };
  };
  await change({ ...database, sql: { connect } as unknown as Database['sql'] });
  if (!answer) throw new Error('The change was not committed.');
  return answer;
}
