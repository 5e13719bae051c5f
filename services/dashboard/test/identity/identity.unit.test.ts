import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Database } from '@pf/database';
import { createAuth } from '../../src/identity/auth.ts';
import { Identity, sessionCookieOf } from '../../src/identity/identity.ts';
import type { Passkeys } from '../../src/identity/passkeys.ts';

describe('a sign-in library whose statement fails', () => {
  const secret = 's'.repeat(32);
  const token = 't'.repeat(32);
  const signature = createHmac('sha256', secret).update(token).digest('base64');
  const client = {
    address: '192.0.2.1',
    userAgent: undefined,
    cookie: `pf.session_token=${encodeURIComponent(`${token}.${signature}`)}`,
  };

  /** The sign-in on a database that is ready whenever it is asked, and a table of sessions that fails. */
  function identityWith(failure: Error): Identity {
    const database = {
      prisma: { session: { findFirst: () => Promise.reject(failure) } },
      ready: () => Promise.resolve(true),
    } as unknown as Database;
    const auth = createAuth({
      database,
      secret,
      url: new URL('http://127.0.0.1'),
      log: { error: () => undefined },
    } as unknown as Parameters<typeof createAuth>[0]);
    return new Identity(auth, database, {} as Passkeys);
  }

  it('makes the service unavailable where there was no connection in time, though there is one by then', async () => {
    const identity = identityWith(new Error('timeout exceeded when trying to connect'));
    await expect(identity.session(client)).rejects.toMatchObject({ code: 'service.unavailable' });
  });

  it.each(['55P03', '25006'])(
    'makes the service unavailable where Prisma hides %s behind its own code',
    async (code) => {
      const driverAdapterError = { cause: { originalCode: code, kind: 'postgres' } };
      const failure = Object.assign(new Error('Database error.'), { code: 'P2039', meta: { driverAdapterError } });
      const answer = identityWith(failure).session(client);
      const expected = { code: 'service.unavailable', status: 503, details: { retry_after: 2 } };
      await expect(answer).rejects.toMatchObject(expected);
    },
  );

  it('fails with an error of ours where the statement was wrong', async () => {
    const identity = identityWith(new Error('column "x" does not exist'));
    await expect(identity.session(client)).rejects.toThrow('the sign-in library failed: FAILED_TO_GET_SESSION');
  });
});

describe('the cookie of a session', () => {
  const planted = 'pf.session_token=planted';
  const ours = '__Host-pf.session_token=ours';

  it.each([`${planted}; ${ours}`, `${ours}; ${planted}`])(
    'is ours where a site beside ours has planted one: %s',
    (all) => expect(sessionCookieOf(all)).toBe(ours),
  );

  it('has no prefix where the dashboard is served without TLS', () => {
    expect(sessionCookieOf(`theme=dark; ${planted}`)).toBe(planted);
    expect(sessionCookieOf('theme=dark')).toBeUndefined();
  });
});
