import type { Database } from '@pf/database';
import { until } from '@pf/testing';
import type { Answer } from './person.ts';

/**
 * Makes a request in the middle of a change: when it has locked its person, or when it is done but not committed. Goes
 * on once the request waits for the change, or was answered without.
 */
export async function overtaken<Body>(
  database: Database,
  change: (database: Database) => Promise<unknown>,
  request: () => Promise<Answer<Body>>,
  when: 'locked' | 'done' = 'done',
): Promise<Answer<Body>> {
  const { sql } = database;
  let answer: Promise<Answer<Body>> | undefined;
  const connect = async () => {
    const client = await sql.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ask = async (): Promise<void> => {
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
        if (when === 'done' && text === 'COMMIT') await ask();
        const isLock = text.includes('dashboard.users') && text.endsWith('FOR NO KEY UPDATE');
        if (when !== 'locked' || !isLock || answer) return client.query(text, values);
        // A row that refers to the person waits, too: whatever the request writes before that is done.
        const locked = await client.query(text.replace('NO KEY UPDATE', 'UPDATE'), values);
        await ask();
        return locked;
      },
      release: (error?: Error) => client.release(error),
    };
  };
  await change({ ...database, sql: { connect } as unknown as Database['sql'] });
  if (!answer) throw new Error('The change was not committed.');
  return answer;
}
