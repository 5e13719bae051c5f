import { type DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import { type Database, endSession, membershipsOf, sessionsOf } from '@pf/database';
import { addressGroup } from '@pf/http';
import { count } from '@pf/runtime';
import { DashboardError } from '../dashboard-error.ts';
import type { Handler } from '../endpoint.ts';
import type { Limits } from '../limits.ts';
import type { Identity } from './identity.ts';

type Operations = typeof DASHBOARD_OPERATIONS;
type SignInOperation = {
  [Id in keyof Operations]: Operations[Id]['tag'] extends 'Sign-in' ? Id : never;
}[keyof Operations];

const DONE = { done: true } as const;
const MAILED = { mailed: true } as const;

/** Counts a sign-in that the person has to repeat. */
function refused(error: unknown): never {
  if (error instanceof DashboardError && error.status < 500) count('payments.sign_ins', { outcome: 'refused' });
  throw error;
}

/** The endpoints of sign-in: a person and their sessions, apart from all accounts. */
export function signInEndpoints({
  apiUrl,
  database,
  identity,
  limits,
  now,
}: {
  readonly apiUrl: string;
  readonly database: Database;
  readonly identity: Identity;
  readonly limits: Limits;
  readonly now: () => number;
}): { readonly [Id in SignInOperation]: Handler<Operations[Id]> } {
  return {
    async signUp({ body }) {
      await identity.signUp(body);
      return MAILED;
    },
    async verifyEmail({ body }) {
      await identity.verifyEmail(body.token, body.password);
      return DONE;
    },
    async signIn({ body, client, setCookies }) {
      const { next, cookies } = await identity.signIn(body, client).catch(refused);
      count('payments.sign_ins', { outcome: next });
      await limits.signedIn({ address: addressGroup(client.address), email: body.email });
      setCookies(cookies);
      return { next };
    },
    async signInWithCode({ body, client, setCookies }) {
      setCookies(await identity.signInWithCode(body.code, client).catch(refused));
      count('payments.sign_ins', { outcome: 'signed_in' });
      return { next: 'signed_in' };
    },
    async forgotPassword({ body }) {
      await identity.forgotPassword(body.email);
      return MAILED;
    },
    async resetPassword({ body }) {
      await identity.resetPassword(body.token, body.password);
      return DONE;
    },
    async getSession({ person: { userId, name, email, secondFactor, createdAt } }) {
      const memberships = await membershipsOf(database, userId);
      return {
        user: { id: userId, name, email, secondFactor, createdAt: createdAt.toISOString() },
        memberships: [...memberships],
        apiUrl,
      };
    },
    async signOut({ client, setCookies }) {
      setCookies(await identity.signOut(client));
      return DONE;
    },
    async listSessions({ person }) {
      const sessions = await sessionsOf(database, person.userId, new Date(now()));
      return {
        sessions: sessions.map(({ createdAt, expiresAt, ...session }) => ({
          ...session,
          current: session.id === person.sessionId,
          createdAt: createdAt.toISOString(),
          expiresAt: expiresAt.toISOString(),
        })),
      };
    },
    async endSession({ person, param }) {
      if (!(await endSession(database, { userId: person.userId, id: param('sessionId') })))
        throw new DashboardError('session.not_found');
      return DONE;
    },
    async changePassword({ body, client, setCookies }) {
      setCookies(await identity.changePassword(body.currentPassword, body.password, client));
      return DONE;
    },
    async beginSecondFactor({ body, client }) {
      const { uri, backupCodes } = await identity.beginSecondFactor(body.password, client);
      return { uri, backupCodes: [...backupCodes] };
    },
    async confirmSecondFactor({ body, client, setCookies }) {
      setCookies(await identity.confirmSecondFactor(body.code, client));
      return DONE;
    },
    async disableSecondFactor({ body, client, setCookies }) {
      setCookies(await identity.disableSecondFactor(body.password, client));
      return DONE;
    },
  };
}
