import { describe, expect, it } from '@jest/globals';
import { newUserId } from '@pf/contracts';
import type { Database } from '@pf/database';
import { hashPassword } from 'better-auth/crypto';
import { createAuth } from '../../src/identity/auth.ts';
import { signInEndpoints } from '../../src/identity/endpoints.ts';
import { Identity } from '../../src/identity/identity.ts';
import type { Passkeys } from '../../src/identity/passkeys.ts';
import { type Mail } from '../../src/mail/mailer.ts';
import { mailsOf } from '../../src/mail/mails.ts';
import { PASSWORD } from '../person.ts';

describe('a new password of a person who is signed in', () => {
  const email = 'ada@shop.example';
  const userId = newUserId();
  const url = 'http://127.0.0.1';

  /** Changes the password on a database that fails with this. @returns the error, and the mails that were sent */
  async function changed(fails: { readonly changing?: Error; readonly beginning?: Error }) {
    const credentials = [{ password: await hashPassword(PASSWORD) }];
    const query = (text: string) =>
      fails.changing && text.startsWith('UPDATE')
        ? Promise.reject(fails.changing)
        : Promise.resolve({ rows: [], rowCount: 1 });
    const database = {
      prisma: {
        user: { findUnique: () => Promise.resolve({ id: userId, email, credentials }) },
        $transaction: () => Promise.reject(fails.beginning ?? new Error('none is expected')),
      },
      sql: { connect: () => Promise.resolve({ query, release: () => undefined }) },
      ready: () => Promise.resolve(true),
    } as unknown as Database;
    const log = { error: () => undefined };
    const auth = createAuth({ database, secret: 's'.repeat(32), url: new URL(url), log } as unknown as Parameters<
      typeof createAuth
    >[0]);
    const sent: Mail[] = [];
    const { changePassword } = signInEndpoints({
      identity: new Identity(auth, database, {} as Passkeys),
      mailer: { send: (mail: Mail) => sent.push(mail) },
      mails: mailsOf(url),
      now: Date.now,
    } as unknown as Parameters<typeof signInEndpoints>[0]);
    const proof = { kind: 'session', id: 'one' } as const;
    const error: unknown = await changePassword({
      body: { currentPassword: PASSWORD, password: 'another long password' },
      by: { kind: 'person', id: userId, name: email, right: { userId, proof, at: new Date() } },
      client: { address: '192.0.2.1' },
      person: { proof, userId, email },
      setCookies: () => undefined,
    } as unknown as Parameters<typeof changePassword>[0]).catch((failure: unknown) => failure);
    return { error, told: sent.map(({ to, subject }) => [to, subject]) };
  }

  it('is told to them though no session begins with it', async () => {
    const { error, told } = await changed({ beginning: new Error('timeout exceeded when trying to connect') });
    expect(error).toMatchObject({ code: 'service.unavailable' });
    expect(told).toEqual([[email, 'Your password was changed']]);
  });

  it('is not told to them where it was not set', async () => {
    const { error, told } = await changed({ changing: new Error('canceled') });
    expect(error).toMatchObject({ message: 'canceled' });
    expect(told).toEqual([]);
  });
});
