import {
  type AuditedChange,
  type AuditSource,
  type Database,
  endSession,
  membershipsOf,
  recordPersonalChange,
  removePasskeys,
  revokePersonalToken,
  revokePersonalTokens,
  sessionsOf,
} from '@pf/database';
import { addressGroup } from '@pf/http';
import { count } from '@pf/runtime';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';
import type { Limits } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Mails } from '../mail/mails.ts';
import type { KnownPerson } from './auth.ts';
import type { Identity } from './identity.ts';

const DONE = { done: true } as const;
const MAILED = { mailed: true } as const;

/** Counts a sign-in that the person has to repeat. */
export function countRefusal(error: unknown): never {
  if (error instanceof DashboardError && error.status < 500) count('payments.sign_ins', { outcome: 'refused' });
  throw error;
}

/** The endpoints of sign-in: a person and their sessions, apart from all accounts. */
export function signInEndpoints({
  apiUrl,
  database,
  identity,
  limits,
  mailer,
  mails,
  now,
}: {
  readonly apiUrl: string;
  readonly database: Database;
  readonly identity: Identity;
  readonly limits: Limits;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly now: () => number;
}): Endpoints<'Sign-in'> {
  /** Writes an entry of the audit log about what a person does to themselves. */
  const record = async (
    by: AuditSource,
    person: KnownPerson | null,
    action: AuditedChange['action'],
    subject = person?.userId,
  ): Promise<void> => {
    if (!person) return;
    const { userId: id, email: name } = person;
    await recordPersonalChange(database.sql, { ...by, id, name }, { action, subject: subject ?? null });
  };
  /** After a new password, what was made before it opens nothing. */
  const endOtherProofs = async ({ email, userId }: KnownPerson): Promise<void> => {
    await removePasskeys(database, userId);
    await revokePersonalTokens(database, userId, new Date(now()));
    mailer.send(mails.passwordChanged(email));
  };
  return {
    async signUp({ body, by }) {
      await record(by, await identity.signUp(body), 'person.registered');
      return MAILED;
    },
    async verifyEmail({ body, by }) {
      await record(by, await identity.verifyEmail(body.token, body.password), 'person.email_confirmed');
      return DONE;
    },
    async signIn({ body, by, client, setCookies }) {
      const { person, cookies } = await identity.signIn(body, client).catch(countRefusal);
      const next = person ? 'signed_in' : 'second_factor';
      count('payments.sign_ins', { outcome: next });
      await limits.signedIn({ address: addressGroup(client.address), email: body.email });
      await record(by, person, 'session.begun');
      setCookies(cookies);
      return { next };
    },
    async signInWithCode({ body, by, client, setCookies }) {
      const { person, cookies } = await identity.signInWithCode(body.code, client).catch(countRefusal);
      count('payments.sign_ins', { outcome: 'signed_in' });
      await record(by, person, 'session.begun');
      setCookies(cookies);
      return { next: 'signed_in' };
    },
    async forgotPassword({ body, by }) {
      await record(by, await identity.forgotPassword(body.email), 'password.reset_requested');
      return MAILED;
    },
    async resetPassword({ body, by }) {
      const person = await identity.resetPassword(body.token, body.password);
      await endOtherProofs(person);
      await record(by, person, 'password.reset');
      return DONE;
    },
    async getSession({ person: { proof, userId, name, email, secondFactor, createdAt } }) {
      const memberships = await membershipsOf(database, userId);
      return {
        user: { id: userId, name, email, secondFactor, createdAt: createdAt.toISOString() },
        memberships: [...memberships],
        apiUrl,
        token:
          proof.kind === 'token' ? { id: proof.id, name: proof.name, expiresAt: proof.expiresAt.toISOString() } : null,
      };
    },
    async signOut({ by, client, person, setCookies }) {
      const { proof, userId } = person;
      if (proof.kind === 'token') {
        await revokePersonalToken(database, { userId, tokenId: proof.id, at: new Date(now()) }, by);
        return DONE;
      }
      setCookies(await identity.signOut(client));
      await record(by, person, 'session.ended', proof.id);
      return DONE;
    },
    async listSessions({ person }) {
      const sessions = await sessionsOf(database, person.userId, new Date(now()));
      return {
        sessions: sessions.map(({ createdAt, expiresAt, ...session }) => ({
          ...session,
          current: session.id === person.proof.id,
          createdAt: createdAt.toISOString(),
          expiresAt: expiresAt.toISOString(),
        })),
      };
    },
    async endSession({ by, person, param }) {
      const id = param('sessionId');
      if (!(await endSession(database, { userId: person.userId, id }))) throw new DashboardError('session.not_found');
      await record(by, person, 'session.ended', id);
      return DONE;
    },
    async changePassword({ body, by, client, person, setCookies }) {
      setCookies(await identity.changePassword(body.currentPassword, body.password, client));
      await endOtherProofs(person);
      await record(by, person, 'password.changed');
      return DONE;
    },
    async beginSecondFactor({ body, by, client, person }) {
      const { uri, backupCodes } = await identity.beginSecondFactor(body.password, client);
      await record(by, person, 'second_factor.begun');
      return { uri, backupCodes: [...backupCodes] };
    },
    async confirmSecondFactor({ body, by, client, person, setCookies }) {
      setCookies(await identity.confirmSecondFactor(body.code, client));
      await record(by, person, 'second_factor.enabled');
      return DONE;
    },
    async disableSecondFactor({ body, by, client, person, setCookies }) {
      setCookies(await identity.disableSecondFactor(body.password, client));
      await record(by, person, 'second_factor.disabled');
      return DONE;
    },
  };
}
