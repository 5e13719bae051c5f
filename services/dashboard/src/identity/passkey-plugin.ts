import { OIDC_SECONDS, PASSKEY_SECONDS } from '@pf/contracts/dashboard';
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthEndpoint } from 'better-auth/api';
import { expireCookie, setSessionCookie } from 'better-auth/cookies';
import { generateRandomString } from 'better-auth/crypto';
import { z } from 'zod';

/** How long a challenge waits, by the cookie that names it. */
const SECONDS = { passkey: PASSKEY_SECONDS, oidc: OIDC_SECONDS } as const;
const cookieName = z.enum(['passkey', 'oidc']);
const ceremony = z.object({ purpose: z.string(), challenge: z.string() });

/** The path of the session after a sign-in at the identity provider. */
export const PROVIDER_SESSION = '/sign-in/oidc';

/** Begins a session of a person who has proved who they are. */
const sessionEndpoint = <Path extends string>(path: Path) =>
  createAuthEndpoint(
    path,
    { method: 'POST', body: z.object({ userId: z.string() }), metadata: { scope: 'server' } },
    async (ctx) => {
      const { internalAdapter } = ctx.context;
      const user = await internalAdapter.findUserById(ctx.body.userId);
      if (!user) throw new APIError('UNAUTHORIZED', { code: 'NO_PERSON' });
      const session = await internalAdapter.createSession(user.id);
      await setSessionCookie(ctx, { session, user });
      return ctx.json({ user: { id: user.id, email: user.email } });
    },
  );

/**
 * What passkeys and the identity provider need of the sign-in library: a challenge that is kept for the browser that
 * asked for it and is consumed once, and a session for a person who was verified. As all of the library's, these routes
 * are not served.
 */
export const passkeyPlugin = () =>
  ({
    id: 'passkey',
    endpoints: {
      keepChallenge: createAuthEndpoint(
        '/passkey/keep-challenge',
        { method: 'POST', body: ceremony.extend({ cookie: cookieName }), metadata: { scope: 'server' } },
        async (ctx) => {
          const { cookie: name, ...kept } = ctx.body;
          const cookie = ctx.context.createAuthCookie(name, { maxAge: SECONDS[name] });
          const identifier = generateRandomString(32);
          await ctx.context.internalAdapter.createVerificationValue({
            identifier,
            value: JSON.stringify(kept),
            expiresAt: new Date(Date.now() + SECONDS[name] * 1_000),
          });
          await ctx.setSignedCookie(cookie.name, identifier, ctx.context.secret, cookie.attributes);
          return ctx.json({ kept: true });
        },
      ),
      takeChallenge: createAuthEndpoint(
        '/passkey/take-challenge',
        {
          method: 'POST',
          body: z.object({ purpose: z.string(), cookie: cookieName }),
          metadata: { scope: 'server' },
        },
        async (ctx) => {
          const cookie = ctx.context.createAuthCookie(ctx.body.cookie);
          const identifier = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
          const kept = identifier ? await ctx.context.internalAdapter.consumeVerificationValue(identifier) : null;
          const { purpose, challenge } = kept ? ceremony.parse(JSON.parse(kept.value)) : {};
          if (purpose !== ctx.body.purpose) throw new APIError('BAD_REQUEST', { code: 'NO_CHALLENGE' });
          expireCookie(ctx, cookie);
          return ctx.json({ challenge, keptAt: kept?.createdAt });
        },
      ),
      /** Whose sign-in it is that waits for a second factor; null: there is none. */
      challengedPerson: createAuthEndpoint(
        '/passkey/challenged-person',
        { method: 'POST', metadata: { scope: 'server' } },
        async (ctx) => {
          const { name } = ctx.context.createAuthCookie('two_factor');
          const identifier = await ctx.getSignedCookie(name, ctx.context.secret);
          const waiting = identifier ? await ctx.context.internalAdapter.findVerificationValue(identifier) : null;
          return ctx.json({ userId: waiting?.value ?? null });
        },
      ),
      beginPasskeySession: sessionEndpoint('/passkey/begin-session'),
      beginProviderSession: sessionEndpoint(PROVIDER_SESSION),
    },
  }) satisfies BetterAuthPlugin;
