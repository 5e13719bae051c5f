import { role as roleSchema, type Role } from '@pf/contracts/dashboard';
import type pg from 'pg';
import type { Database, PrismaTransaction } from '../postgres/database.ts';

/** What proves who makes a request: a session, or a personal token. */
export interface Proof {
  readonly kind: 'session' | 'token';
  readonly id: string;
}

/** A person who does something that outlasts what they prove it with. */
export interface Proven {
  readonly userId: string;
  /** Null: it was proved otherwise, and what proves it is locked already. */
  readonly proof: Proof | null;
  readonly at: Date;
}

/** The session, token or role of a request has ended since it was looked up. */
export class AccessEndedError extends Error {
  override readonly name = 'AccessEndedError';
  readonly kind: Proof['kind'] | 'role';

  constructor(kind: Proof['kind'] | 'role') {
    super(`the ${kind} has ended`);
    this.kind = kind;
  }
}

const IN_FORCE: Readonly<Record<Proof['kind'], string>> = {
  session: 'SELECT FROM dashboard.sessions WHERE id = $1 AND user_id = $2 AND expires_at > $3 FOR SHARE',
  token: `SELECT FROM dashboard.personal_tokens
           WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > $3 FOR SHARE`,
};

/**
 * Until the transaction ends, nothing else gives this person another access or takes one, and the session or token of
 * the request does not end: what ends it waits, so that nothing is created with it afterwards. First of all locks.
 * @throws AccessEndedError if it has ended
 */
export const lockPerson = (client: pg.ClientBase, person: Proven): Promise<void> =>
  lock(async (statement, values) => (await client.query(statement, values)).rowCount, person);

/**
 * Runs `work` in one transaction in which the person is locked, as by `lockPerson`: for the sign-in library, which
 * writes with Prisma.
 * @throws AccessEndedError if the session or token of the request has ended
 */
export const whilePersonIsLocked = <T>(
  { prisma }: Database,
  person: Proven,
  work: (transaction: PrismaTransaction) => Promise<T>,
): Promise<T> =>
  prisma.$transaction(async (transaction) => {
    await lock((statement, values) => transaction.$executeRawUnsafe(statement, ...values), person);
    return work(transaction);
  });

/** @param count runs a statement, and says how many rows it has found */
async function lock(
  count: (statement: string, values: unknown[]) => Promise<number | null>,
  { userId, proof, at }: Proven,
): Promise<void> {
  await count('SELECT FROM dashboard.users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
  if (proof === null) return;
  if ((await count(IN_FORCE[proof.kind], [proof.id, userId, at])) !== 1) throw new AccessEndedError(proof.kind);
}

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

/** @returns false if the person has no such session */
export async function endSession(
  { sql }: Database,
  { userId, id }: { readonly userId: string; readonly id: string },
): Promise<boolean> {
  const { rowCount } = await sql.query('DELETE FROM dashboard.sessions WHERE id = $1 AND user_id = $2', [id, userId]);
  return rowCount === 1;
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
