import { AsyncLocalStorage } from 'node:async_hooks';
import { newUserId } from '@pf/contracts';
import { PASSWORD_LENGTH } from '@pf/contracts/dashboard';
import type { Database, PrismaTransaction } from '@pf/database';
import type { Logger } from '@pf/runtime';
import { type BetterAuthOptions, betterAuth } from 'better-auth/minimal';
import { prismaAdapter } from 'better-auth/adapters/prisma';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Limits } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Mails } from '../mail/mails.ts';
import { passkeyPlugin, PROVIDER_SESSION } from './passkey-plugin.ts';

/** The header that carries the client's address to the library: it is never taken from a request. */
export const ADDRESS_HEADER = 'x-client-address';
/** What the library logs while it answers a call: its answer has not the cause of a failure that it has caught. */
export const loggedErrors = new AsyncLocalStorage<unknown[]>();
/** A password that was verified. */
export interface ProvenPassword {
  readonly userId: string;
  readonly hash: string;
  readonly password: string;
}

/** The transaction in which all that the library reads and writes for a call is one. */
export const libraryTransaction = new AsyncLocalStorage<{
  readonly prisma: PrismaTransaction;
  /** The only password that is right: to hash one takes long, and the transaction holds a connection and the person. */
  readonly proven: ProvenPassword | null;
}>();
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

export interface AuthOptions {
  readonly database: Database;
  readonly limits: Pick<Limits, 'admitVerificationMail'>;
  /** Of the dashboard. */
  readonly url: URL;
  readonly secret: string;
  readonly mailer: Mailer;
  readonly mails: Mails;
  readonly log: Logger;
}

export type Auth = ReturnType<typeof createAuth>;

/** A person who is registered. */
export interface KnownPerson {
  readonly userId: string;
  readonly email: string;
}

/** The library asks for a second factor after passwords only; this, after the identity provider, too. */
function secondFactor() {
  const plugin = twoFactor();
  const after = plugin.hooks.after.map((hook) => ({
    ...hook,
    matcher: (context: Parameters<typeof hook.matcher>[0]) =>
      hook.matcher(context) || context.path === PROVIDER_SESSION,
  }));
  return { ...plugin, hooks: { after } };
}

/** Where the library reads and writes: in `libraryTransaction`, if there is one. */
function adapterOf(prisma: Database['prisma']) {
  return (options: BetterAuthOptions) => {
    const adapter = prismaAdapter(prisma, { provider: 'postgresql', transaction: true })(options);
    const adapters = new WeakMap<PrismaTransaction, typeof adapter>();
    const within = (transaction: PrismaTransaction): typeof adapter => {
      const known = adapters.get(transaction) ?? prismaAdapter(transaction, { provider: 'postgresql' })(options);
      adapters.set(transaction, known);
      return known;
    };
    return new Proxy(adapter, {
      get(_target, name) {
        const { prisma: transaction } = libraryTransaction.getStore() ?? {};
        return Reflect.get(transaction ? within(transaction) : adapter, name) as unknown;
      },
    });
  };
}

async function verifyOrRemember(given: { readonly hash: string; readonly password: string }): Promise<boolean> {
  const transaction = libraryTransaction.getStore();
  if (!transaction) return verifyPassword(given);
  const { proven } = transaction;
  return proven !== null && proven.hash === given.hash && proven.password === given.password;
}

/**
 * The sign-in library. None of its routes is served: the endpoints of this service call its functions, so that every
 * route is in one table, with our limits, errors and check of the origin.
 */
export function createAuth({ database, limits, url, secret, mailer, mails, log }: AuthOptions) {
  const secure = url.protocol === 'https:';
  return betterAuth({
    appName: 'Payment Intent Service',
    baseURL: url.origin,
    secret,
    database: adapterOf(database.prisma),
    // `account` is an account of the payment service here.
    account: { modelName: 'credential' },
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      minPasswordLength: PASSWORD_LENGTH.min,
      maxPasswordLength: PASSWORD_LENGTH.max,
      password: { hash: (password: string): Promise<string> => hashPassword(password), verify: verifyOrRemember },
      resetPasswordTokenExpiresIn: HOUR_SECONDS,
      sendResetPassword: async ({ user, token }) => mailer.send(mails.resetPassword(user.email, token)),
      onExistingUserSignUp: async ({ user }) => mailer.send(mails.alreadyRegistered(user.email)),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendOnSignIn: false,
      expiresIn: HOUR_SECONDS,
      // Whoever has signed up with the address of another must not fill their mailbox.
      sendVerificationEmail: async ({ user, token }) => {
        if (await limits.admitVerificationMail(user.email)) mailer.send(mails.verifyEmail(user.email, token));
      },
    },
    // The token of a link, or the cookie of a sign-in that is under way, cannot be read out of the database.
    // `forgetExpired` deletes what has expired: the library would within a sign-in, whose transaction would wait.
    verification: { storeIdentifier: 'hashed', disableCleanup: true },
    session: { expiresIn: 7 * DAY_SECONDS, updateAge: DAY_SECONDS },
    plugins: [secondFactor(), passkeyPlugin()],
    // The service limits by itself.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (_level, message, ...details: unknown[]) => {
        loggedErrors.getStore()?.push(message, ...details);
        log.error({ details: details.map(String) }, message);
      },
    },
    advanced: {
      // Browsers take a `__Host-` cookie from this origin only: no subdomain beside it can plant one.
      cookiePrefix: secure ? '__Host-pf' : 'pf',
      // Would set another prefix.
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict', path: '/', secure },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
      database: { generateId: ({ model }) => (model === 'user' ? newUserId() : crypto.randomUUID()) },
    },
  });
}
