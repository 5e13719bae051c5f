import { newAccountId, plan as planSchema } from '@pf/contracts';
import type { Plan } from '@pf/contracts';
import { role as roleSchema, type Role } from '@pf/contracts/dashboard';
import type { AccountId } from '@pf/domain';
import type pg from 'pg';
import type { Database } from '../postgres/database.ts';
import { type AuditSource, recordChange } from './audit.ts';
import { changingAccount, changingPerson } from './rights.ts';

/** A person's role in an account. */
export interface Membership {
  readonly accountId: string;
  /** Of the account. */
  readonly name: string;
  readonly role: Role;
}

/** An account as one of its members sees it. */
export interface MemberAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly plan: Plan;
  readonly role: Role;
  readonly createdAt: Date;
}

export interface Member {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly secondFactor: boolean;
  readonly createdAt: Date;
}

/** Why the members of an account were not changed. */
export type MemberRefusal = 'not_found' | 'last_owner';

/** The accounts of a person, longest first. */
export async function membershipsOf({ sql }: Database, userId: string): Promise<readonly Membership[]> {
  const { rows } = await sql.query<{ account_id: string; name: string; role: string }>({
    name: 'memberships-of',
    text: `SELECT m.account_id, a.name, m.role
             FROM dashboard.members m JOIN service.accounts a ON a.id = m.account_id
            WHERE m.user_id = $1 ORDER BY m.created_at, m.account_id`,
    values: [userId],
  });
  return rows.map(({ account_id, name, role }) => ({ accountId: account_id, name, role: roleSchema.parse(role) }));
}

/** The account with the person's role in it; null if it does not exist or the person is not a member. */
export async function memberAccount(
  { sql }: { readonly sql: Pick<pg.ClientBase, 'query'> },
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
): Promise<MemberAccount | null> {
  const { rows } = await sql.query<{ name: string; plan: string; role: string; created_at: Date }>({
    name: 'member-account',
    text: `SELECT a.name, a.plan, a.created_at, m.role
             FROM dashboard.members m JOIN service.accounts a ON a.id = m.account_id
            WHERE m.account_id = $1 AND m.user_id = $2`,
    values: [accountId, userId],
  });
  const row = rows[0];
  if (!row) return null;
  const { name, plan, role, created_at } = row;
  return {
    id: accountId as AccountId,
    name,
    plan: planSchema.parse(plan),
    role: roleSchema.parse(role),
    createdAt: created_at,
  };
}

/** How many accounts a person is a member of. Of a person who is locked, until the transaction ends. */
export async function countMemberships(client: pg.ClientBase, userId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM dashboard.members WHERE user_id = $1',
    [userId],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Creates an account on the free plan with one owner.
 * @returns null if the person is a member of `max` accounts already
 */
export async function createOwnedAccount(
  database: Database,
  { name, userId, max }: { readonly name: string; readonly userId: string; readonly max: number },
  source: AuditSource,
): Promise<MemberAccount | null> {
  return changingPerson(database, userId, source, async (client) => {
    if ((await countMemberships(client, userId)) >= max) return null;
    const id = newAccountId();
    const { rows } = await client.query<{ plan: string; created_at: Date }>(
      'INSERT INTO service.accounts (id, name) VALUES ($1, $2) RETURNING plan, created_at',
      [id, name],
    );
    await client.query("INSERT INTO dashboard.members (account_id, user_id, role) VALUES ($1, $2, 'owner')", [
      id,
      userId,
    ]);
    await recordChange(client, source, { accountId: id, action: 'account.created', subject: id, after: { name } });
    const { plan, created_at } = rows[0] ?? { plan: 'free', created_at: new Date() };
    return { id, name, plan: planSchema.parse(plan), role: 'owner', createdAt: created_at };
  });
}

/** Renames an account, and records it; does neither where it is called so already. */
export async function renameAccount(
  database: Database,
  accountId: string,
  name: string,
  source: AuditSource,
): Promise<void> {
  await changingAccount(database, accountId, source, async (client) => {
    const { rows } = await client.query<{ name: string }>('SELECT name FROM service.accounts WHERE id = $1', [
      accountId,
    ]);
    const before = { name: rows[0]?.name };
    if (before.name === name) return;
    await client.query('UPDATE service.accounts SET name = $2 WHERE id = $1', [accountId, name]);
    const change = { accountId, action: 'account.renamed', subject: accountId } as const;
    await recordChange(client, source, { ...change, before, after: { name } });
  });
}

/** The members of an account, longest first; of one person if `userId` is set. */
export async function listMembers(
  { sql }: Pick<Database, 'sql'>,
  { accountId, userId = null }: { readonly accountId: string; readonly userId?: string | null },
): Promise<readonly Member[]> {
  const { rows } = await sql.query<{
    id: string;
    name: string;
    email: string;
    role: string;
    second_factor: boolean;
    created_at: Date;
  }>({
    name: 'list-members',
    text: `SELECT u.id, u.name, u.email, m.role, coalesce(u.two_factor_enabled, false) AS second_factor, m.created_at
             FROM dashboard.members m JOIN dashboard.users u ON u.id = m.user_id
            WHERE m.account_id = $1 AND ($2::text IS NULL OR m.user_id = $2) ORDER BY m.created_at, u.id`,
    values: [accountId, userId],
  });
  return rows.map(({ id, name, email, role, second_factor, created_at }) => ({
    userId: id,
    name,
    email,
    role: roleSchema.parse(role),
    secondFactor: second_factor,
    createdAt: created_at,
  }));
}

/**
 * Gives a member a role, or with `role: null` removes them. Whoever is an owner no longer has no invitations either:
 * one to an address of their own would bring them back. Records only what changes something.
 * @returns why it did not; null if it did
 */
export async function changeMember(
  database: Database,
  { accountId, userId, role }: { readonly accountId: string; readonly userId: string; readonly role: Role | null },
  source: AuditSource,
): Promise<MemberRefusal | null> {
  return changingAccount(database, accountId, source, async (client) => {
    const { rows } = await client.query<{ role: string; email: string; owners: number }>(
      `SELECT m.role, u.email, (SELECT count(*)::int FROM dashboard.members
                                 WHERE account_id = $1 AND role = 'owner') AS owners
         FROM dashboard.members m JOIN dashboard.users u ON u.id = m.user_id
        WHERE m.account_id = $1 AND m.user_id = $2`,
      [accountId, userId],
    );
    const [member] = rows;
    if (!member) return 'not_found';
    if (member.role === 'owner' && member.owners === 1 && role !== 'owner') return 'last_owner';
    if (member.role === role) return null;
    if (role === null)
      await client.query('DELETE FROM dashboard.members WHERE account_id = $1 AND user_id = $2', [accountId, userId]);
    else
      await client.query('UPDATE dashboard.members SET role = $3 WHERE account_id = $1 AND user_id = $2', [
        accountId,
        userId,
        role,
      ]);
    const { email } = member;
    await recordChange(client, source, {
      accountId,
      action: role === null ? 'member.removed' : 'member.role_changed',
      subject: userId,
      before: { email, role: member.role },
      after: role === null ? null : { email, role },
    });
    if (member.role === 'owner') await withdrawInvitationsOf(client, { accountId, userId }, source);
    return null;
  });
}

async function withdrawInvitationsOf(
  client: pg.ClientBase,
  { accountId, userId }: { readonly accountId: string; readonly userId: string },
  source: AuditSource,
): Promise<void> {
  const { rows } = await client.query<{ id: string; email: string; role: string }>(
    'DELETE FROM dashboard.invitations WHERE account_id = $1 AND invited_by = $2 RETURNING id, email, role',
    [accountId, userId],
  );
  for (const { id, ...before } of rows)
    await recordChange(client, source, { accountId, action: 'invitation.withdrawn', subject: id, before });
}
