import { PASSKEYS_MAX } from '@pf/contracts/dashboard';
import {
  addPasskey,
  type Database,
  type Passkey,
  passkeysOf,
  recordPersonalChange,
  removePasskey,
  renamePasskey,
} from '@pf/database';
import { count } from '@pf/runtime';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Mails } from '../mail/mails.ts';
import { countRefusal } from './endpoints.ts';
import type { Identity } from './identity.ts';

/** The endpoints of passkeys: signing in with one, and a person's own. */
export function passkeyEndpoints({
  database,
  identity,
  mailer,
  mails,
  now,
}: {
  readonly database: Database;
  readonly identity: Identity;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly now: () => number;
}): Endpoints<'Passkeys'> {
  return {
    async beginPasskeySignIn({ client, setCookies }) {
      const { options, cookies } = await identity.beginPasskeySignIn(client);
      setCookies(cookies);
      return { options };
    },
    async signInWithPasskey({ body, by, client, setCookies }) {
      const at = new Date(now());
      const { person, passkey, cookies } = await identity
        .signInWithPasskey(body.credential, client, at)
        .catch(countRefusal);
      count('payments.sign_ins', { outcome: 'signed_in' });
      const { userId: id, email: name } = person;
      const entry = { action: 'session.begun', subject: id, after: { passkey } } as const;
      await recordPersonalChange(database.sql, { ...by, id, name }, entry);
      setCookies(cookies);
      return { next: 'signed_in' };
    },
    async listPasskeys({ person }) {
      return { passkeys: (await passkeysOf(database, person.userId)).map(shownPasskey) };
    },
    async beginPasskey({ body, client, person, setCookies }) {
      await identity.checkPassword(body.password, person.userId);
      const { options, cookies } = await identity.beginPasskey(person, client);
      setCookies(cookies);
      return { options };
    },
    async addPasskey({ body, by, client, person: { email, userId }, setCookies }) {
      const { credential, cookies } = await identity.createdPasskey(body.credential, userId, client);
      setCookies(cookies);
      const passkey = { ...credential, userId, name: body.name, at: new Date(now()), max: PASSKEYS_MAX };
      const added = await addPasskey(database, passkey, by);
      if (added === 'exists') throw new DashboardError('passkey.exists');
      if (added === 'full')
        throw new DashboardError('limit.reached', {
          message: `You have ${PASSKEYS_MAX} passkeys, which is the limit. Remove one.`,
          details: { limit: 'passkeys', max: PASSKEYS_MAX },
        });
      mailer.send(mails.passkeyAdded(email, added.name));
      return { passkey: shownPasskey(added) };
    },
    async renamePasskey({ body, by, param, person: { userId } }) {
      const renamed = await renamePasskey(database, { userId, passkeyId: param('passkeyId'), name: body.name }, by);
      if (!renamed) throw new DashboardError('passkey.not_found');
      return { passkey: shownPasskey(renamed) };
    },
    async removePasskey({ body, by, param, person: { email, userId } }) {
      await identity.checkPassword(body.password, userId);
      const removed = await removePasskey(database, { userId, passkeyId: param('passkeyId') }, by);
      if (!removed) throw new DashboardError('passkey.not_found');
      mailer.send(mails.passkeyRemoved(email, removed.name));
      return { done: true };
    },
  };
}

const shownPasskey = ({ createdAt, lastUsedAt, ...passkey }: Passkey) => ({
  ...passkey,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});
