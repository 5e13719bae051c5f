import { randomBytes } from 'node:crypto';
import { ACCOUNTS_MAX, INVITATION_DAYS, MEMBERS_MAX } from '@pf/contracts/dashboard';
import {
  acceptInvitation,
  changeMember,
  createOwnedAccount,
  type Database,
  type Invitation,
  invite,
  listMembers,
  type Member,
  type MemberAccount,
  openInvitations,
  renameAccount,
  withdrawInvitation,
} from '@pf/database';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Mails } from '../mail/mails.ts';

const DAY_MS = 86_400_000;
const TOKEN_BYTES = 32;
const DONE = { done: true } as const;

const shownAccount = ({ createdAt, ...account }: MemberAccount) => ({
  account: { ...account, createdAt: createdAt.toISOString() },
});
const shownMember = ({ createdAt, ...member }: Member) => ({ ...member, createdAt: createdAt.toISOString() });
const shownInvitation = ({ createdAt, expiresAt, ...invitation }: Invitation) => ({
  ...invitation,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt.toISOString(),
});
const limitReached = (limit: string, max: number, what: string): DashboardError =>
  new DashboardError('limit.reached', { message: `${what} ${max}, which is the limit.`, details: { limit, max } });
const tooManyAccounts = (): DashboardError =>
  limitReached('accounts', ACCOUNTS_MAX, 'The number of accounts of which you are a member is');

/** The endpoints of accounts, their members and invitations. */
export function accountEndpoints({
  database,
  mailer,
  mails,
  now,
}: {
  readonly database: Database;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly now: () => number;
}): Endpoints<'Accounts'> {
  return {
    async createAccount({ body: { name }, by, person: { userId } }) {
      const account = await createOwnedAccount(database, { name, userId, max: ACCOUNTS_MAX }, by);
      if (!account) throw tooManyAccounts();
      return shownAccount(account);
    },
    async acceptInvitation({ body: { token }, by, person: { userId, email } }) {
      const at = new Date(now());
      const accepted = await acceptInvitation(database, { token, userId, email, at, max: ACCOUNTS_MAX }, by);
      if (accepted === 'invalid') throw new DashboardError('link.invalid');
      if (accepted === 'full') throw tooManyAccounts();
      return { membership: accepted };
    },
    async getAccount({ account }) {
      return shownAccount(account);
    },
    async updateAccount({ account, body: { name }, by }) {
      await renameAccount(database, account.id, name, by);
      return shownAccount({ ...account, name });
    },
    async listMembers({ account }) {
      return { members: (await listMembers(database, { accountId: account.id })).map(shownMember) };
    },
    async updateMember({ account, body: { role }, by, param }) {
      const of = { accountId: account.id, userId: param('userId') };
      const refusal = await changeMember(database, { ...of, role }, by);
      const [member] = refusal ? [] : await listMembers(database, of);
      if (refusal === 'last_owner') throw new DashboardError('member.last_owner');
      if (!member) throw new DashboardError('member.not_found');
      return { member: shownMember(member) };
    },
    async removeMember({ account, by, param }) {
      const removal = { accountId: account.id, userId: param('userId'), role: null };
      const refusal = await changeMember(database, removal, by);
      if (refusal === 'last_owner') throw new DashboardError('member.last_owner');
      if (refusal === 'not_found') throw new DashboardError('member.not_found');
      return DONE;
    },
    async listInvitations({ account }) {
      const invitations = await openInvitations(database, account.id, new Date(now()));
      return { invitations: invitations.map(shownInvitation) };
    },
    async invite({ account, body: { email, role }, by, person }) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const at = new Date(now());
      const expiresAt = new Date(at.getTime() + INVITATION_DAYS * DAY_MS);
      const invitation = { accountId: account.id, email, role, token, invitedBy: person.userId, at, expiresAt };
      const made = await invite(database, { ...invitation, max: MEMBERS_MAX }, by);
      if (made === 'member') throw new DashboardError('member.exists');
      if (made === 'full')
        throw limitReached('members', MEMBERS_MAX, 'The number of members and open invitations of the account is');
      mailer.send(mails.invitation(email, { account: account.name, role, token }));
      return { invitation: shownInvitation(made) };
    },
    async withdrawInvitation({ account, by, param }) {
      if (!(await withdrawInvitation(database, { accountId: account.id, id: param('invitationId') }, by)))
        throw new DashboardError('invitation.not_found');
      return DONE;
    },
  };
}
