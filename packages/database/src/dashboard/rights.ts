import type { AuditActorKind, Role } from '@pf/contracts/dashboard';
import { KeyedPlaces } from '@pf/runtime';
import type pg from 'pg';
import { type Database, inTransaction, type PrismaTransaction } from '../postgres/database.ts';
import { OwnerBusyError } from '../postgres/owners.ts';

/** What proves who makes a request: a session, or a personal token. */
export interface Proof {
  readonly kind: 'session' | 'token';
  readonly id: string;
}

/** By what a person may do something. */
export interface Right {
  readonly userId: string;
  /** Null: it was proved otherwise, and what proves it is judged by the caller. */
  readonly proof: Proof | null;
  /** Of the request. */
  readonly at: Date;
  /** Those that may do it, where it is done in an account. */
  readonly roles?: readonly Role[] | undefined;
}

/** Who makes a change. */
interface Maker {
  readonly kind: AuditActorKind;
  /** Undefined for an operator only, who has no session that could end. */
  readonly right?: Right | undefined;
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

/** How long a change waits for those before it: less than a statement waits for a lock (roles.ts). */
const TURN_MS = 2_000;
/** Changes of one person or account that wait; what comes beyond fails at once. */
const WAITING = 100;
const turns = new KeyedPlaces(WAITING);

/**
 * Works when this process makes no other change of this person or account: it would wait for their lock with a
 * connection, and all of them have few.
 */
const inTurn = <T>(id: string, work: () => Promise<T>): Promise<T> =>
  turns.run({ key: id, most: 1, until: performance.now() + TURN_MS, refuse: () => new OwnerBusyError() }, work);

/** Null for an operator. Whoever else has shown no right has none. */
function rightOf({ kind, right }: Maker): Right | null {
  if (!right && kind !== 'operator') throw new Error(`a ${kind} makes a change without a right`);
  return right ?? null;
}

/**
 * Runs `work`, which changes what a person has, in one transaction. Until it ends, nothing else gives this person
 * another access or takes one, and the session or token of the request does not end: what ends it waits, so that
 * nothing is changed with it afterwards. These are the first of all locks.
 * @throws AccessEndedError if it has ended
 * @throws OwnerBusyError if its turn does not come in time
 */
export async function changingPerson<T>(
  database: Database,
  userId: string,
  maker: Maker,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const right = rightOf(maker);
  if (right && right.userId !== userId) throw new Error(`${right.userId} has no right to change what ${userId} has`);
  const change = () =>
    inTransaction(database, async (client) => {
      await lockPerson(client, right ?? { userId, proof: null, at: new Date() });
      return work(client);
    });
  return inTurn(userId, change);
}

/**
 * Runs `work`, which changes what an account has, in one transaction. Until it ends, nothing else changes its members
 * and invitations, and the right of whoever makes the change does not end.
 * @throws AccessEndedError if it has ended
 * @throws OwnerBusyError if its turn does not come in time
 */
export async function changingAccount<T>(
  database: Database,
  accountId: string,
  maker: Maker,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const right = rightOf(maker);
  const change = () =>
    inTransaction(database, async (client) => {
      if (right) await lockPerson(client, right);
      await client.query('SELECT FROM service.accounts WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
      if (right) await requireRole(client, accountId, right);
      return work(client);
    });
  const ofAccount = () => inTurn(accountId, change);
  return right ? inTurn(right.userId, ofAccount) : ofAccount();
}

/** As `changingPerson`, for the sign-in library, which writes with Prisma. */
export const changingWithLibrary = <T>(
  { prisma }: Database,
  right: Right,
  work: (transaction: PrismaTransaction) => Promise<T>,
): Promise<T> =>
  inTurn(right.userId, () =>
    prisma.$transaction(async (transaction) => {
      await lock((statement, values) => transaction.$executeRawUnsafe(statement, ...values), right);
      return work(transaction);
    }),
  );

const lockPerson = (client: pg.ClientBase, right: Right): Promise<void> =>
  lock(async (statement, values) => (await client.query(statement, values)).rowCount, right);

/** @param count runs a statement, and says how many rows it has found */
async function lock(
  count: (statement: string, values: unknown[]) => Promise<number | null>,
  { userId, proof, at }: Right,
): Promise<void> {
  await count('SELECT FROM dashboard.users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
  if (proof === null) return;
  if ((await count(IN_FORCE[proof.kind], [proof.id, userId, at])) !== 1) throw new AccessEndedError(proof.kind);
}

async function requireRole(client: pg.ClientBase, accountId: string, { userId, roles = [] }: Right): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM dashboard.members WHERE account_id = $1 AND user_id = $2 AND role = ANY($3)',
    [accountId, userId, roles],
  );
  if (rowCount !== 1) throw new AccessEndedError('role');
}
