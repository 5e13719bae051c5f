import { createHash } from 'node:crypto';
import { newInvitationId } from '@pf/contracts';
import { role as roleSchema, type Role } from '@pf/contracts/dashboard';
import type { Database } from '../postgres/database.ts';
import { type AuditSource, recordChange } from './audit.ts';
import { countMemberships, type Membership } from './members.ts';
import { changingAccount, changingPerson } from './rights.ts';

/** An invitation that can still be accepted. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

interface InvitationRow {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly created_at: Date;
  readonly expires_at: Date;
}

const fromRow = ({ id, email, role, created_at, expires_at }: InvitationRow): Invitation => ({
  id,
  email,
  role: roleSchema.parse(role),
  createdAt: created_at,
  expiresAt: expires_at,
});

/** What is stored of the token in the mail. It has 256 random bits, so it needs no salt and no slow hash. */
const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * Invites an e-mail address, in lower case, into an account; replaces an earlier invitation of it.
 * @returns 'member' if a member has this address, 'full' if the account has `max` members and open invitations
 */
export async function invite(
  database: Database,
  invitation: {
    readonly accountId: string;
    readonly email: string;
    readonly role: Role;
    readonly token: string;
    readonly invitedBy: string;
    readonly at: Date;
    readonly expiresAt: Date;
    readonly max: number;
  },
  source: AuditSource,
): Promise<Invitation | 'member' | 'full'> {
  const { accountId, email, role, token, invitedBy, at, expiresAt, max } = invitation;
  return changingAccount(database, accountId, source, async (client) => {
    const { rows } = await client.query<{ is_member: boolean; count: number }>(
      `SELECT coalesce(bool_or(u.email = $2), false) AS is_member,
              count(*)::int + (SELECT count(*)::int FROM dashboard.invitations
                                WHERE account_id = $1 AND email <> $2 AND expires_at > $3) AS count
         FROM dashboard.members m JOIN dashboard.users u ON u.id = m.user_id WHERE m.account_id = $1`,
      [accountId, email, at],
    );
    if (rows[0]?.is_member) return 'member';
    if ((rows[0]?.count ?? 0) >= max) return 'full';
    const { rows: made } = await client.query<InvitationRow>(
      `INSERT INTO dashboard.invitations (id, account_id, email, role, token_hash, invited_by, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (account_id, email) DO UPDATE SET id = EXCLUDED.id, role = EXCLUDED.role,
         token_hash = EXCLUDED.token_hash, invited_by = EXCLUDED.invited_by, created_at = EXCLUDED.created_at,
         expires_at = EXCLUDED.expires_at
       RETURNING id, email, role, created_at, expires_at`,
      [newInvitationId(), accountId, email, role, hashToken(token), invitedBy, at, expiresAt],
    );
    const [row] = made;
    if (!row) throw new Error('the invitation was not stored');
    const change = { accountId, action: 'member.invited', subject: row.id } as const;
    await recordChange(client, source, { ...change, after: { email, role } });
    return fromRow(row);
  });
}

/** The invitations of an account that can still be accepted, newest first. */
export async function openInvitations({ sql }: Database, accountId: string, at: Date): Promise<readonly Invitation[]> {
  const { rows } = await sql.query<InvitationRow>(
    `SELECT id, email, role, created_at, expires_at FROM dashboard.invitations
      WHERE account_id = $1 AND expires_at > $2 ORDER BY created_at DESC, id`,
    [accountId, at],
  );
  return rows.map(fromRow);
}

/** @returns false if the account has no such invitation */
export async function withdrawInvitation(
  database: Database,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  source: AuditSource,
): Promise<boolean> {
  return changingAccount(database, accountId, source, async (client) => {
    const { rows } = await client.query<{ email: string; role: string }>(
      'DELETE FROM dashboard.invitations WHERE account_id = $1 AND id = $2 RETURNING email, role',
      [accountId, id],
    );
    const [before] = rows;
    if (!before) return false;
    await recordChange(client, source, { accountId, action: 'invitation.withdrawn', subject: id, before });
    return true;
  });
}

/**
 * Makes the person with the invited e-mail address a member, and uses the invitation up. A member keeps the role.
 * @returns 'invalid' if the token is of no open invitation of this address, or its maker is an owner no longer; 'full'
 *   if the person is a member of `max` accounts already: the invitation then stays
 */
export async function acceptInvitation(
  database: Database,
  {
    token,
    userId,
    email,
    at,
    max,
  }: {
    readonly token: string;
    readonly userId: string;
    readonly email: string;
    readonly at: Date;
    readonly max: number;
  },
  source: AuditSource,
): Promise<Membership | 'invalid' | 'full'> {
  return changingPerson(database, userId, source, async (client) => {
    const count = await countMemberships(client, userId);
    const { rows } = await client.query<{ id: string; account_id: string; role: string; name: string }>(
      // The invitation may have been made while its owner was removed.
      `SELECT i.id, i.account_id, i.role, a.name
         FROM dashboard.invitations i JOIN service.accounts a ON a.id = i.account_id
         JOIN dashboard.members o ON o.account_id = i.account_id AND o.user_id = i.invited_by AND o.role = 'owner'
        WHERE i.token_hash = $1 AND i.email = $2 AND i.expires_at > $3 FOR UPDATE OF i`,
      [hashToken(token), email, at],
    );
    const [invitation] = rows;
    if (!invitation) return 'invalid';
    if (count >= max) return 'full';
    await client.query('DELETE FROM dashboard.invitations WHERE id = $1', [invitation.id]);
    await client.query(
      'INSERT INTO dashboard.members (account_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [invitation.account_id, userId, invitation.role],
    );
    const change = { accountId: invitation.account_id, action: 'member.joined', subject: userId } as const;
    await recordChange(client, source, { ...change, after: { email, role: invitation.role } });
    return { accountId: invitation.account_id, name: invitation.name, role: roleSchema.parse(invitation.role) };
  });
}
