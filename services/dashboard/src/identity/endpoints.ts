import type { PersonAction } from '@pf/contracts/dashboard';
import {
  type AuditSource,
  type Database,
  endSession,
  membershipsOf,
  recordPersonalChange,
  revokePersonalToken,
  sessionsOf,
} from '@pf/database';
import { addressGroup } from '@pf/http';
import { count } from '@pf/runtime';
import type { Background } from '../background.ts';
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
  background,
  database,
  identity,
  limits,
  mailer,
  mails,
  now,
}: {
  readonly apiUrl: string;
  readonly background: Background;
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
    action: PersonAction,
    subject = person?.userId,
  ): Promise<void> => {
    if (!person) return;
    const { userId: id, email: name } = person;
    await recordPersonalChange(database.sql, { ...by, id, name }, { action, subject: subject ?? null });
  };
  // An answer that waited would tell by its time who has an account: there is more to do for a person who has one.
  const afterwards = (ip: string | undefined, work: () => Promise<unknown>): Promise<typeof MAILED> => {
    background.run(ip, work);
    return Promise.resolve(MAILED);
  };
  return {
    async signUp({ body, by, client }) {
      return afterwards(client.address, async () => record(by, await identity.signUp(body), 'person.registered'));
    },
    async verifyEmail({ body, by }) {
      await record(by, await identity.verifyEmail(body.token, body.password), 'person.email_confirmed');
      return DONE;
    },
    async signIn({ body, by, client, setCookies }) {
      const { person, cookies } = await identity.signIn(body, client, new Date(now())).catch(countRefusal);
      const next = person ? 'signed_in' : 'second_factor';
      count('payments.sign_ins', { outcome: next });
      await limits.signedIn({ address: addressGroup(client.address), email: body.email });
      await record(by, person, 'session.begun');
      setCookies(cookies);
      return { next };
    },
    async signInWithCode({ body, by, client, setCookies }) {
      const { person, cookies } = await identity.signInWithCode(body.code, client, new Date(now())).catch(countRefusal);
      count('payments.sign_ins', { outcome: 'signed_in' });
      await record(by, person, 'session.begun');
      setCookies(cookies);
      return { next: 'signed_in' };
    },
    async forgotPassword({ body, by, client }) {
      return afterwards(client.address, async () =>
        record(by, await identity.forgotPassword(body.email), 'password.reset_requested'),
      );
    },
    async resetPassword({ body, by }) {
      const { email } = await identity.resetPassword(body, by, new Date(now()));
      mailer.send(mails.passwordChanged(email));
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
      if (!(await endSession(database, { userId: person.userId, id }, by)))
        throw new DashboardError('session.not_found');
      return DONE;
    },
    async changePassword({ body, by, client, person, setCookies }) {
      const beginSession = await identity.changePassword(body, { person, client }, by, new Date(now()));
      // They hear of it whether or not the session begins.
      mailer.send(mails.passwordChanged(person.email));
      setCookies(await beginSession());
      return DONE;
    },
    async beginSecondFactor({ body, by, client, person }) {
      const { uri, backupCodes } = await identity.beginSecondFactor(body.password, { person, client }, new Date(now()));
      await record(by, person, 'second_factor.begun');
      return { uri, backupCodes: [...backupCodes] };
    },
    async confirmSecondFactor({ body, by, client, person, setCookies }) {
      setCookies(await identity.confirmSecondFactor(body.code, { person, client }, new Date(now())));
      await record(by, person, 'second_factor.enabled');
      return DONE;
    },
    async disableSecondFactor({ body, by, client, person, setCookies }) {
      setCookies(await identity.disableSecondFactor(body.password, { person, client }, new Date(now())));
      await record(by, person, 'second_factor.disabled');
      return DONE;
    },
  };
}
