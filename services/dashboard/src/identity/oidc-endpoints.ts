import { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import {
  type AuditSource,
  type Database,
  hasPassword,
  identitiesOf,
  linkIdentity,
  personOfIdentity,
  recordPersonalChange,
  unlinkIdentity,
} from '@pf/database';
import { count } from '@pf/runtime';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';
import type { Limits } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Mails } from '../mail/mails.ts';
import { countRefusal } from './endpoints.ts';
import type { Identity } from './identity.ts';
import type { OidcProvider, ProviderProfile } from './oidc.ts';

const { email: emailOf, name: nameOf } = DASHBOARD_OPERATIONS.signUp.body.shape;

/** The endpoints of single sign-on. */
export function oidcEndpoints({
  database,
  identity,
  limits,
  mailer,
  mails,
  now,
  oidc,
}: {
  readonly database: Database;
  readonly identity: Identity;
  readonly limits: Pick<Limits, 'inTurnOfProvider'>;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly now: () => number;
  /** Null: there is none. */
  readonly oidc: OidcProvider | null;
}): Endpoints<'Single sign-on'> {
  /** @throws DashboardError `oidc.disabled` */
  const provider = (): OidcProvider => {
    if (!oidc) throw new DashboardError('oidc.disabled');
    return oidc;
  };
  /** The person of a profile, who is registered if need be. @throws DashboardError */
  const personOf = async (profile: ProviderProfile, began: Date, name: string, by: AuditSource) => {
    const known = await personOfIdentity(database, profile);
    if (known) return known;
    const email = emailOf.safeParse(profile.email);
    if (!email.success) throw new DashboardError('oidc.email_unverified');
    const called = nameOf.safeParse(profile.name);
    const wanted = { ...profile, email: email.data, name: called.success ? called.data : email.data.slice(0, 100) };
    const linked = await linkIdentity(database, { ...wanted, began, at: new Date(now()) }, by);
    if (linked === 'ended') throw new DashboardError('oidc.refused');
    if (linked === 'unverified') {
      await identity.mailVerification(email.data);
      throw new DashboardError('email.unverified');
    }
    if (!linked.isNew) mailer.send(mails.identityLinked(email.data, name));
    return linked.person;
  };
  /** What people call the provider with this issuer; null if it is not the one that is set up. */
  const nameAt = (issuer: string): string | null => (oidc?.hasIssuer(issuer) === true ? oidc.name : null);
  return {
    async getSignInOptions() {
      return Promise.resolve({ oidc: oidc && { name: oidc.name } });
    },
    async beginOidcSignIn({ client, setCookies }) {
      const { url, checks } = await provider().begin();
      setCookies(await identity.keepOidcChecks(checks, client));
      return { url };
    },
    async signInWithOidc({ body, by, client, setCookies }) {
      const at = provider();
      const signIn = async () => {
        const { checks, began, cookies } = await limits.inTurnOfProvider(() => identity.takeOidcChecks(client));
        setCookies(cookies);
        // The provider may be slow: it is asked in no turn.
        const profile = await at.complete(body.parameters, checks);
        return limits.inTurnOfProvider(async () => {
          const person = await personOf(profile, began, at.name, by);
          const session = await identity.beginSession(person.userId, profile, began, client, new Date(now()));
          return { person, ...session };
        });
      };
      const { person, isComplete, cookies } = await signIn().catch(countRefusal);
      const next = isComplete ? 'signed_in' : 'second_factor';
      count('payments.sign_ins', { outcome: next });
      if (isComplete) {
        const entry = { action: 'session.begun', subject: person.userId, after: { provider: at.name } } as const;
        await recordPersonalChange(database.sql, { ...by, id: person.userId, name: person.email }, entry);
      }
      setCookies(cookies);
      return { next };
    },
    async listIdentities({ person }) {
      const identities = (await identitiesOf(database, person.userId)).map(({ createdAt, ...identity }) => ({
        ...identity,
        provider: nameAt(identity.issuer),
        createdAt: createdAt.toISOString(),
      }));
      return { identities, hasPassword: await hasPassword(database, person.userId) };
    },
    async unlinkIdentity({ body, by, param, person: { email, userId } }) {
      if (!(await hasPassword(database, userId))) throw new DashboardError('identity.only_way');
      await identity.checkPassword(body.password, userId);
      const unlinked = await unlinkIdentity(database, { userId, identityId: param('identityId') }, by);
      if (!unlinked) throw new DashboardError('identity.not_found');
      mailer.send(mails.identityUnlinked(email, nameAt(unlinked.issuer) ?? unlinked.issuer));
      return { done: true };
    },
  };
}
