import { createHash } from 'node:crypto';
import { IDEMPOTENCY_WINDOW_MS } from '@pf/domain';
import type pg from 'pg';
import { advisoryLock } from '../postgres/advisory-lock.ts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { decrypt, encrypt, type Keyring } from './keyring.ts';

/** What makes two requests the same one. */
export interface RequestKey {
  readonly accountId: string;
  readonly livemode: boolean;
  /** With the object that it changes: `rotate-secret whe_…`. */
  readonly operation: string;
  readonly idempotencyKey: string;
}

export interface Answered<Answer> {
  readonly answer: Answer;
  /** It is the answer to an earlier request with this key. */
  readonly replayed: boolean;
}

/** The row of a key: of one length, whatever the key is. */
const rowOf = ({ accountId, livemode, operation, idempotencyKey }: RequestKey): string =>
  createHash('sha256')
    .update(JSON.stringify([accountId, livemode, operation, idempotencyKey]))
    .digest('hex');

const windowStart = (at: Date): Date => new Date(at.getTime() - IDEMPOTENCY_WINDOW_MS);

/**
 * Does something at most once for each key, in one transaction with the record of its answer: who did not get the
 * answer asks again and gets the same one, secrets included. The answer is encrypted and kept for 24 h.
 * @param key null: nothing is recorded
 * @param work what it throws undoes everything, and is not recorded: the next request tries again
 */
export function answerOnce<Answer extends object>(
  database: Database,
  keyring: Keyring,
  key: RequestKey | null,
  at: Date,
  work: (client: pg.PoolClient) => Promise<Answer>,
): Promise<Answered<Answer>> {
  return inTransaction(database, async (client) => {
    if (key === null) return { answer: await work(client), replayed: false };
    const row = rowOf(key);
    // A second request with the key waits for the first one, and finds its answer.
    await client.query(advisoryLock('idempotent_answers', row));
    const { rows } = await client.query<{ ciphertext: Buffer }>(
      'SELECT ciphertext FROM service.idempotent_answers WHERE id = $1 AND created_at > $2',
      [row, windowStart(at)],
    );
    const [known] = rows;
    if (known) return { answer: JSON.parse(decrypt(keyring, row, known.ciphertext)) as Answer, replayed: true };
    const answer = await work(client);
    await client.query(
      `INSERT INTO service.idempotent_answers (id, ciphertext, created_at) VALUES ($1, $2, $3)
       ON CONFLICT (id) DO UPDATE SET ciphertext = excluded.ciphertext, created_at = excluded.created_at`,
      [row, encrypt(keyring, row, JSON.stringify(answer)), at],
    );
    return { answer, replayed: false };
  });
}

/** Whether an earlier request with the key got an answer, which `answerOnce` then returns. */
export async function isAnswered({ sql }: Database, key: RequestKey | null, at: Date): Promise<boolean> {
  if (key === null) return false;
  const { rowCount } = await sql.query('SELECT 1 FROM service.idempotent_answers WHERE id = $1 AND created_at > $2', [
    rowOf(key),
    windowStart(at),
  ]);
  return rowCount === 1;
}

/**
 * Deletes answers from before a time, oldest first, at most `limit`. Several processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left
 */
export async function forgetAnswers({ sql }: Database, before: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.idempotent_answers WHERE id IN
       (SELECT id FROM service.idempotent_answers WHERE created_at < $1
         ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [before, limit],
  );
  return rowCount ?? 0;
}
