import { role as roleSchema, type Role } from '@pf/contracts/dashboard';
import type { Database } from '../postgres/database.ts';
import { type AuditSource, recordPersonalChange } from './audit.ts';
import { changingPerson } from './rights.ts';

/** Where a person is signed in. */
export interface DashboardSession {
  readonly id: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The most that a list shows. */
const LISTED_MAX = 100;

/** A person's sessions, newest first. */
export async function sessionsOf({ sql }: Database, userId: string, at: Date): Promise<readonly DashboardSession[]> {
  const { rows } = await sql.query<{
    id: string;
    ip_address: string | null;
    user_agent: string | null;
    created_at: Date;
    expires_at: Date;
  }>(
    `SELECT id, ip_address, user_agent, created_at, expires_at FROM dashboard.sessions
      WHERE user_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id LIMIT ${LISTED_MAX}`,
    [userId, at],
  );
  return rows.map(({ id, ip_address, user_agent, created_at, expires_at }) => ({
    id,
    address: ip_address,
    userAgent: user_agent,
    createdAt: created_at,
    expiresAt: expires_at,
  }));
}

/** The role in an account of the person with this session; null if the session has ended or they are not a member. */
export async function roleInSession(
  { sql }: Database,
  {
    sessionId,
    userId,
    accountId,
    at,
  }: { readonly sessionId: string; readonly userId: string; readonly accountId: string; readonly at: Date },
): Promise<Role | null> {
  const { rows } = await sql.query<{ role: string }>({
    name: 'role-in-session',
    text: `SELECT m.role FROM dashboard.sessions s JOIN dashboard.members m ON m.user_id = s.user_id
            WHERE s.id = $1 AND s.user_id = $2 AND s.expires_at > $4 AND m.account_id = $3`,
    values: [sessionId, userId, accountId, at],
  });
  return rows[0] ? roleSchema.parse(rows[0].role) : null;
}

/** Ends a session of a person, and records it. @returns false if the person has no such session */
export async function endSession(
  database: Database,
  { userId, id }: { readonly userId: string; readonly id: string },
  by: AuditSource,
): Promise<boolean> {
  return changingPerson(database, userId, by, async (client) => {
    const { rowCount } = await client.query('DELETE FROM dashboard.sessions WHERE id = $1 AND user_id = $2', [
      id,
      userId,
    ]);
    if (rowCount !== 1) return false;
    await recordPersonalChange(client, by, { action: 'session.ended', subject: id });
    return true;
  });
}

/** What expires, with the column that says when, and how long it is kept after that. */
const EXPIRING = [
  ['sessions', 'id', 'expires_at', '0 days'],
  ['verifications', 'id', 'expires_at', '0 days'],
  ['invitations', 'id', 'expires_at', '0 days'],
  ['device_requests', 'id', 'expires_at', '0 days'],
  ['personal_tokens', 'id', 'expires_at', '30 days'],
  ['attempts', 'key', 'ends_at', '0 days'],
] as const;

/**
 * Deletes sessions, links, invitations, tokens and counts that have expired, and people who never confirmed their
 * address, batch by batch until none is left: as many go as have come, however many those are.
 * @param batch the most that one statement deletes
 */
export async function forgetExpired(
  { sql }: Database,
  at: Date,
  batch: number,
  stopping?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (const [table, id, ends, kept] of EXPIRING) {
    let count = batch;
    while (count === batch && stopping?.aborted !== true) {
      const { rowCount } = await sql.query(
        `DELETE FROM dashboard.${table} WHERE ${id} IN
           (SELECT ${id} FROM dashboard.${table} WHERE ${ends} < $1::timestamptz - interval '${kept}'
             ORDER BY ${ends} LIMIT $2 FOR UPDATE SKIP LOCKED)`,
        [at, batch],
      );
      count = rowCount ?? 0;
      deleted += count;
    }
  }
  let people = batch;
  while (people === batch && stopping?.aborted !== true) {
    people = await forgetUnconfirmedPeople({ sql }, batch);
    deleted += people;
  }
  return deleted;
}

/**
 * Deletes people who have not confirmed their address for seven days, by Postgres' clock: a function of the database
 * that can delete no others, because its callers have no right to delete people.
 * @returns how many there were, at most `limit`
 */
export async function forgetUnconfirmedPeople({ sql }: Pick<Database, 'sql'>, limit: number): Promise<number> {
  const { rows } = await sql.query<{ deleted: number }>('SELECT dashboard.forget_unconfirmed_people($1) AS deleted', [
    limit,
  ]);
  return rows[0]?.deleted ?? 0;
}
