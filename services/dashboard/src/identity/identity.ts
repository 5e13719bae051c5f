import type { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import {
  AccessEndedError,
  type AuditSource,
  changePassword,
  changingWithLibrary,
  credentialIdsOf,
  type Database,
  findPasskey,
  isDatabaseUnavailable,
  isLinked,
  isPasswordOf,
  type KnownPasskey,
  notePasskeyUse,
  OwnerBusyError,
  type PasskeyCredential,
  personOfResetLink,
  type PrismaTransaction,
  type ProviderIdentity,
  resetPassword,
  type Right,
} from '@pf/database';
import { verifyJWT } from 'better-auth/crypto';
import { z } from 'zod';
import { DashboardError } from '../dashboard-error.ts';
import {
  ADDRESS_HEADER,
  type Auth,
  type KnownPerson,
  libraryTransaction,
  loggedErrors,
  type ProvenPassword,
} from './auth.ts';
import type { Passkeys } from './passkeys.ts';

/** What is known of the sender of a request. */
export interface Client {
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** The Cookie header. */
  readonly cookie: string | undefined;
}

/** What proves who makes a request: a session, or a personal token. */
type Proof =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'token'; readonly id: string; readonly name: string; readonly expiresAt: Date };

/** A person who has proved who they are. */
export interface SignedIn {
  readonly proof: Proof;
  readonly userId: string;
  readonly name: string;
  readonly email: string;
  readonly secondFactor: boolean;
  readonly createdAt: Date;
}

/** Who makes a request in a session. */
interface InSession {
  readonly person: SignedIn;
  readonly client: Client;
}

/** The Set-Cookie headers for the response. */
export type Cookies = readonly string[];

const USER_AGENT_LENGTH_MAX = 300;
/** The cookie of a sign-in that waits for its second factor. */
const CHALLENGE = /^(__Host-)?pf\.two_factor$/;
/** The cookie of a session. */
const SESSION = /^(__Host-)?pf\.session_token$/;
/** The cookies of challenges: one that a passkey has to sign, and the checks of a sign-in at the identity provider. */
const CHALLENGES = { passkey: /^(__Host-)?pf\.passkey$/, oidc: /^(__Host-)?pf\.oidc$/ } as const;
/** What the token of a mail says. */
const mailed = z.object({ email: z.string() });
const TOTP_CODE = /^\d{6}$/;
/** What the challenge of a sign-in is for; that of a new passkey is for the id of its person. */
const SIGN_IN = 'sign-in';
/** The same of a person of a session who proves that it is them who does this, and nothing else. */
const confirmationOf = (userId: string, what: string): string => `confirmation ${userId} ${what}`;
/** The same of a sign-in at the identity provider. */
const PROVIDER_SIGN_IN = 'provider-sign-in';

type Operations = typeof DASHBOARD_OPERATIONS;
type BodyOf<Id extends 'addPasskey' | 'approveDevice' | 'signInWithPasskey'> = z.output<Operations[Id]['body']>;
type OptionsOf<Id extends 'beginPasskey' | 'beginPasskeySignIn'> = z.output<Operations[Id]['response']>['options'];

/** Sign-in as this service needs it. Methods throw DashboardError for what the person can put right. */
export class Identity {
  readonly #auth: Auth;
  readonly #database: Database;
  readonly #passkeys: Passkeys;

  constructor(auth: Auth, database: Database, passkeys: Passkeys) {
    this.#auth = auth;
    this.#database = database;
    this.#passkeys = passkeys;
  }

  /**
   * Registers a person, and mails a link; the same for an address that is registered already.
   * @returns the person, if they were not registered before
   */
  async signUp(person: { name: string; email: string; password: string }): Promise<KnownPerson | null> {
    const { body, code, status } = await this.#answer((api) => api.signUpEmail({ body: person, asResponse: true }));
    // What was sent is valid: the library calls it its own when Postgres fails, or when two sign up at once.
    if (status !== 200) throw new Error(`the person was not registered: ${String(code)}`);
    // For an address that is registered already, the library makes up the id that it returns.
    return this.#find({ id: personIn(body)?.userId ?? '' });
  }

  /**
   * Confirms an address with the token of the mail and the password. The token alone would confirm what a stranger has
   * registered with the address of another, whose mail leads to it.
   */
  async verifyEmail(token: string, password: string): Promise<KnownPerson> {
    const { secret } = await this.#auth.$context;
    const claims = mailed.safeParse(await verifyJWT(token, secret));
    if (!claims.success) throw new DashboardError('link.invalid');
    const { email } = claims.data;
    const proven = await this.#provenPassword({ email }, password);
    if (!proven) throw new DashboardError('link.invalid');
    const { status } = await this.#answer((api) => api.verifyEmail({ query: { token }, asResponse: true }));
    if (status >= 300) throw new DashboardError('link.invalid');
    return { userId: proven.userId, email };
  }

  /** @returns null if the password is wrong, or there is no such person: that takes as long */
  async #provenPassword(
    where: { readonly id: string } | { readonly email: string },
    password: string,
  ): Promise<ProvenPassword | null> {
    const { password: passwords } = await this.#auth.$context;
    const user = await this.#database.prisma.user.findUnique({
      where,
      include: { credentials: { where: { providerId: 'credential' } } },
    });
    const hash = user?.credentials[0]?.password;
    if (user && typeof hash === 'string')
      return (await passwords.verify({ hash, password })) ? { userId: user.id, hash, password } : null;
    await passwords.hash(password);
    return null;
  }

  /** A call of the library in a transaction in which the access of the person neither ends nor changes. */
  #answerWithLock(
    right: Right,
    call: (api: Auth['api'], prisma: PrismaTransaction) => Promise<Response>,
    proven: ProvenPassword | null = null,
  ): Promise<Answer> {
    return this.#answer((api) =>
      changingWithLibrary(this.#database, right, (prisma) =>
        libraryTransaction.run({ prisma, proven }, () => call(api, prisma)),
      ),
    );
  }

  /**
   * Begins a session, or with a second factor a challenge. Cookies of the request play no part.
   * @returns with the person if they are signed in now
   */
  async signIn(
    { email, password }: { readonly email: string; readonly password: string },
    client: Client,
    at: Date,
  ): Promise<{ readonly person: KnownPerson | null; readonly cookies: Cookies }> {
    const proven = await this.#provenPassword({ email }, password);
    if (!proven) throw new DashboardError('credentials.invalid');
    const headers = headersOf({ ...client, cookie: undefined });
    const answer = await this.#answerWithLock(
      { userId: proven.userId, proof: null, at },
      (api) => api.signInEmail({ body: { email, password }, headers, asResponse: true }),
      proven,
    );
    if (answer.code === 'EMAIL_NOT_VERIFIED') {
      await this.mailVerification(email);
      throw new DashboardError('email.unverified');
    }
    if (answer.status !== 200) throw new DashboardError('credentials.invalid');
    // The library sets and removes the session's cookie where a challenge follows: only the latter counts.
    return {
      person: answer.body['twoFactorRedirect'] === true ? null : requirePerson(answer.body),
      cookies: answer.cookies,
    };
  }

  /** Completes a sign-in whose challenge is in the cookies, with a code of the app or a backup code. */
  async signInWithCode(
    code: string,
    client: Client,
    at: Date,
  ): Promise<{ readonly person: KnownPerson; readonly cookies: Cookies }> {
    const headers = headersOf({ ...client, cookie: only(client.cookie, CHALLENGE) });
    const { body } = await this.#answer((api) => api.challengedPerson({ headers, asResponse: true }));
    const challenged = ofPerson.safeParse(body);
    if (!challenged.success) throw new DashboardError('second_factor.invalid');
    const call = { body: { code }, headers, asResponse: true } as const;
    const answer = await this.#answerWithLock({ ...challenged.data, proof: null, at }, (api) =>
      TOTP_CODE.test(code) ? api.verifyTOTP(call) : api.verifyBackupCode(call),
    );
    if (answer.status !== 200) throw new DashboardError('second_factor.invalid');
    return { person: requirePerson(answer.body), cookies: answer.cookies };
  }

  /** The person of the session in the cookies, and the cookie that prolongs it, if it is time. */
  async session(client: Client): Promise<{ readonly person: SignedIn; readonly cookies: Cookies } | null> {
    const headers = withSession(client);
    if (!headers.has('cookie')) return null;
    const answer = await this.#answer((api) => api.getSession({ headers, asResponse: true }));
    const { session, user } = answer.body as {
      session?: { id: string };
      user?: { id: string; name: string; email: string; twoFactorEnabled?: boolean | null; createdAt: string };
    };
    if (answer.status !== 200 || !session || !user) return null;
    const { id, name, email, twoFactorEnabled, createdAt } = user;
    const person = {
      proof: { kind: 'session', id: session.id },
      userId: id,
      name,
      email,
      secondFactor: twoFactorEnabled === true,
      createdAt: new Date(createdAt),
    } as const;
    return { person, cookies: answer.cookies };
  }

  async #find(where: { readonly id: string } | { readonly email: string }): Promise<KnownPerson | null> {
    const user = await this.#database.prisma.user.findUnique({ where, select: { id: true, email: true } });
    return user && { userId: user.id, email: user.email };
  }

  async signOut(client: Client): Promise<Cookies> {
    return (await this.#answer((api) => api.signOut({ headers: withSession(client), asResponse: true }))).cookies;
  }

  /** Mails a link, if a person has this address. @returns that person */
  async forgotPassword(email: string): Promise<KnownPerson | null> {
    await this.#answer((api) => api.requestPasswordReset({ body: { email }, asResponse: true }));
    return this.#find({ email });
  }

  /** Sets a new password by a link. What was made before it proves nothing any more. */
  async resetPassword(
    { token, password }: { readonly token: string; readonly password: string },
    by: AuditSource,
    at: Date,
  ): Promise<KnownPerson> {
    const person = await personOfResetLink(this.#database, token, at);
    if (!person) throw new DashboardError('link.invalid');
    const reset = { token, person, hash: await this.#hash(password), at };
    if (!(await resetPassword(this.#database, reset, by))) throw new DashboardError('link.invalid');
    return person;
  }

  /**
   * Sets a new password. What was made before proves nothing any more.
   * @returns begins a session in place of all others
   */
  async changePassword(
    { currentPassword, password }: { readonly currentPassword: string; readonly password: string },
    { person: { userId }, client }: InSession,
    by: AuditSource,
    at: Date,
  ): Promise<() => Promise<Cookies>> {
    await this.checkPassword(currentPassword, userId);
    const hash = await this.#hash(password);
    await changePassword(this.#database, { userId, hash, at }, by);
    const stillProven = (prisma: PrismaTransaction) => isPasswordOf(prisma, userId, hash);
    return async () => {
      const { cookies } = await this.#beginVerifiedSession({ userId, at }, client, stillProven, 'session.required');
      return cookies;
    };
  }

  async #hash(password: string): Promise<string> {
    return (await this.#auth.$context).password.hash(password);
  }

  /** Makes the secret of an authenticator app, which must be confirmed. */
  async beginSecondFactor(
    password: string,
    { person, client }: InSession,
    at: Date,
  ): Promise<{ readonly uri: string; readonly backupCodes: readonly string[] }> {
    const call = { body: { password, method: 'totp' }, headers: withSession(client), asResponse: true } as const;
    const proven = await this.checkPassword(password, person.userId);
    const answer = await this.#answerWithLock({ ...person, at }, (api) => api.enableTwoFactor(call), proven);
    if (answer.code === 'TOTP_ALREADY_ENABLED') throw new DashboardError('second_factor.enabled');
    if (answer.status !== 200) throw new DashboardError('credentials.invalid');
    const { totpURI, backupCodes } = answer.body as { totpURI: string; backupCodes: string[] };
    return { uri: totpURI, backupCodes };
  }

  async confirmSecondFactor(code: string, { person, client }: InSession, at: Date): Promise<Cookies> {
    const call = { body: { code }, headers: withSession(client), asResponse: true } as const;
    const answer = await this.#answerWithLock({ ...person, at }, (api) => api.verifyTOTP(call));
    if (answer.code === 'TOTP_NOT_ENABLED') throw new DashboardError('second_factor.not_begun');
    if (answer.status !== 200) throw new DashboardError('second_factor.invalid');
    return answer.cookies;
  }

  async disableSecondFactor(password: string, { person, client }: InSession, at: Date): Promise<Cookies> {
    const call = { body: { password }, headers: withSession(client), asResponse: true } as const;
    const proven = await this.checkPassword(password, person.userId);
    const answer = await this.#answerWithLock({ ...person, at }, (api) => api.disableTwoFactor(call), proven);
    if (answer.status !== 200) throw new DashboardError('credentials.invalid');
    return answer.cookies;
  }

  /** @throws DashboardError `credentials.invalid` */
  async checkPassword(password: string, userId: string): Promise<ProvenPassword> {
    const proven = await this.#provenPassword({ id: userId }, password);
    if (!proven) throw new DashboardError('credentials.invalid');
    return proven;
  }

  /** Begins a sign-in with any passkey, which the person chooses. */
  async beginPasskeySignIn(
    client: Client,
  ): Promise<{ readonly options: OptionsOf<'beginPasskeySignIn'>; readonly cookies: Cookies }> {
    const options = await this.#passkeys.requestOptions();
    return {
      options,
      cookies: await this.#keepChallenge('passkey', { purpose: SIGN_IN, challenge: options.challenge }, client),
    };
  }

  /**
   * Begins a session of the person whose passkey has signed the challenge in the cookies, with no second factor: the
   * device has verified the person.
   * @returns with the name of the passkey
   */
  async signInWithPasskey(
    credential: BodyOf<'signInWithPasskey'>['credential'],
    client: Client,
    at: Date,
  ): Promise<{ readonly person: KnownPerson; readonly passkey: string; readonly cookies: Cookies }> {
    const { passkey, counter, cookies: expired } = await this.#provenPasskey(credential, SIGN_IN, client);
    const used = (prisma: PrismaTransaction) => notePasskeyUse(prisma, passkey, { counter, at });
    const { userId } = passkey;
    const { body, cookies } = await this.#beginVerifiedSession({ userId, at }, client, used, 'passkey.invalid');
    return { person: requirePerson(body), passkey: passkey.name, cookies: [...expired, ...cookies] };
  }

  /**
   * Begins to prove with a passkey that the person of a session is there.
   * @param what they confirm, and on which thing: the proof is one of nothing else
   */
  async beginConfirmation(
    what: string,
    { userId }: SignedIn,
    client: Client,
  ): Promise<{ readonly options: OptionsOf<'beginPasskeySignIn'>; readonly cookies: Cookies }> {
    const options = await this.#passkeys.requestOptions();
    const kept = { purpose: confirmationOf(userId, what), challenge: options.challenge };
    return { options, cookies: await this.#keepChallenge('passkey', kept, client) };
  }

  /**
   * Sees that the person of a session is there, by the password or a passkey of theirs that has signed the challenge in
   * the cookies.
   * @param what as it was begun
   * @throws DashboardError `credentials.invalid` or `passkey.invalid`
   */
  async confirm(
    what: string,
    { password, credential }: BodyOf<'approveDevice'>,
    { userId }: SignedIn,
    client: Client,
    at: Date,
  ): Promise<Cookies> {
    if (credential === undefined) {
      await this.checkPassword(password ?? '', userId);
      return [];
    }
    const { passkey, counter, cookies } = await this.#provenPasskey(credential, confirmationOf(userId, what), client);
    const isTheirs = passkey.userId === userId;
    if (!isTheirs || !(await notePasskeyUse(this.#database.prisma, passkey, { counter, at })))
      throw new DashboardError('passkey.invalid');
    return cookies;
  }

  /**
   * The passkey that has signed the challenge in the cookies, with its counter from now on.
   * @throws DashboardError `passkey.invalid`
   */
  async #provenPasskey(
    credential: BodyOf<'signInWithPasskey'>['credential'],
    purpose: string,
    client: Client,
  ): Promise<{ readonly passkey: KnownPasskey; readonly counter: number; readonly cookies: Cookies }> {
    const { challenge, cookies } = await this.#takePasskeyChallenge(purpose, client);
    const passkey = await findPasskey(this.#database, credential.id);
    if (!passkey) throw new DashboardError('passkey.invalid');
    return { passkey, counter: await this.#passkeys.asserted(credential, challenge, passkey), cookies };
  }

  /**
   * Begins a session of a person who needs no second factor: they have just proved who they are.
   * @param stillProven whether that holds in the transaction that begins it
   * @param refusal thrown where it does not
   */
  async #beginVerifiedSession(
    { userId, at }: { readonly userId: string; readonly at: Date },
    client: Client,
    stillProven: (prisma: PrismaTransaction) => Promise<boolean>,
    refusal: 'passkey.invalid' | 'session.required',
  ): Promise<Answer> {
    const headers = headersOf({ ...client, cookie: undefined });
    return this.#answerWithLock({ userId, proof: null, at }, async (api, prisma) => {
      if (!(await stillProven(prisma))) throw new DashboardError(refusal);
      return api.beginPasskeySession({ body: { userId }, headers, asResponse: true });
    });
  }

  /** Begins to make a passkey. The caller has checked the password. */
  async beginPasskey(
    person: SignedIn,
    client: Client,
  ): Promise<{ readonly options: OptionsOf<'beginPasskey'>; readonly cookies: Cookies }> {
    const { userId } = person;
    const excluded = await credentialIdsOf(this.#database, userId);
    const options = await this.#passkeys.creationOptions(person, excluded);
    return {
      options,
      cookies: await this.#keepChallenge('passkey', { purpose: userId, challenge: options.challenge }, client),
    };
  }

  /** The passkey that a device of this person has made for the challenge in the cookies. */
  async createdPasskey(
    created: BodyOf<'addPasskey'>['credential'],
    userId: string,
    client: Client,
  ): Promise<{ readonly credential: PasskeyCredential; readonly cookies: Cookies }> {
    const { challenge, cookies } = await this.#takePasskeyChallenge(userId, client);
    return { credential: await this.#passkeys.created(created, challenge), cookies };
  }

  /** Mails a link that confirms an address, unless one was mailed a moment ago. */
  async mailVerification(email: string): Promise<void> {
    await this.#answer((api) => api.sendVerificationEmail({ body: { email }, asResponse: true }));
  }

  /** Keeps the checks of a sign-in at the identity provider for this browser. */
  async keepOidcChecks(checks: string, client: Client): Promise<Cookies> {
    return this.#keepChallenge('oidc', { purpose: PROVIDER_SIGN_IN, challenge: checks }, client);
  }

  /** Takes these checks, once. @throws DashboardError `oidc.refused` */
  async takeOidcChecks(
    client: Client,
  ): Promise<{ readonly checks: string; readonly began: Date; readonly cookies: Cookies }> {
    const taken = await this.#takeChallenge('oidc', PROVIDER_SIGN_IN, client);
    if (!taken) throw new DashboardError('oidc.refused');
    return { checks: taken.challenge, began: taken.keptAt, cookies: taken.cookies };
  }

  /**
   * Begins a session of a person whom the identity provider has signed in, or with a second factor a challenge.
   * @param began when the sign-in began
   * @throws DashboardError `oidc.refused` if the identity was unlinked meanwhile
   */
  async beginSession(
    userId: string,
    identity: ProviderIdentity,
    began: Date,
    client: Client,
    at: Date,
  ): Promise<{ readonly isComplete: boolean; readonly cookies: Cookies }> {
    const headers = headersOf({ ...client, cookie: undefined });
    const { body, cookies } = await this.#answerWithLock({ userId, proof: null, at }, async (api, prisma) => {
      if (!(await isLinked(prisma, identity, { userId, began }))) throw new DashboardError('oidc.refused');
      return api.beginProviderSession({ body: { userId }, headers, asResponse: true });
    });
    if (body['twoFactorRedirect'] === true) return { isComplete: false, cookies };
    requirePerson(body);
    return { isComplete: true, cookies };
  }

  async #keepChallenge(
    cookie: keyof typeof CHALLENGES,
    kept: { readonly purpose: string; readonly challenge: string },
    client: Client,
  ): Promise<Cookies> {
    const body = { ...kept, cookie };
    const headers = headersOf({ ...client, cookie: undefined });
    return (await this.#answer((api) => api.keepChallenge({ body, headers, asResponse: true }))).cookies;
  }

  /** Takes a challenge, which is then gone, whatever follows; null if there is none for this purpose. */
  async #takeChallenge(
    cookie: keyof typeof CHALLENGES,
    purpose: string,
    client: Client,
  ): Promise<{ readonly challenge: string; readonly keptAt: Date; readonly cookies: Cookies } | null> {
    const headers = headersOf({ ...client, cookie: only(client.cookie, CHALLENGES[cookie]) });
    const { body, cookies } = await this.#answer((api) =>
      api.takeChallenge({ body: { purpose, cookie }, headers, asResponse: true }),
    );
    const taken = challengeTaken.safeParse(body);
    return taken.success ? { ...taken.data, cookies } : null;
  }

  /** @throws DashboardError `passkey.invalid` */
  async #takePasskeyChallenge(
    purpose: string,
    client: Client,
  ): Promise<{ readonly challenge: string; readonly cookies: Cookies }> {
    const taken = await this.#takeChallenge('passkey', purpose, client);
    if (!taken) throw new DashboardError('passkey.invalid');
    return taken;
  }

  /** @throws DashboardError `service.unavailable`, or the library's own error, if it failed */
  async #answer(call: (api: Auth['api']) => Promise<Response>): Promise<Answer> {
    const logged: unknown[] = [];
    let cause: unknown;
    try {
      const response = await loggedErrors.run(logged, () => call(this.#auth.api));
      const text = await response.text();
      const parsed: unknown = text === '' ? null : JSON.parse(text);
      const body = (parsed ?? {}) as Record<string, unknown>;
      const { status } = response;
      const code = typeof body['code'] === 'string' ? body['code'] : null;
      const unavailable = status >= 400 ? logged.find(isDatabaseUnavailable) : undefined;
      if (status < 500 && unavailable === undefined)
        return { status, code, body, cookies: response.headers.getSetCookie() };
      cause = unavailable ?? new Error(`the sign-in library failed: ${String(code)}`);
    } catch (error) {
      if ([AccessEndedError, DashboardError, OwnerBusyError].some((kind) => error instanceof kind)) throw error;
      cause = error;
    }
    // The library hides the cause of some failures from its log, too.
    if (isDatabaseUnavailable(cause) || !(await this.#database.ready(1_000)))
      throw new DashboardError('service.unavailable', { cause });
    throw cause;
  }
}

const answered = z.object({ user: z.object({ id: z.string(), email: z.string() }) });

const challengeTaken = z.object({ challenge: z.string(), keptAt: z.coerce.date() });

const ofPerson = z.object({ userId: z.string() });

/** The person whom the library's answer names. */
function personIn(body: Answer['body']): KnownPerson | null {
  const parsed = answered.safeParse(body);
  return parsed.success ? { userId: parsed.data.user.id, email: parsed.data.user.email } : null;
}

function requirePerson(body: Answer['body']): KnownPerson {
  const person = personIn(body);
  if (!person) throw new Error('the sign-in library does not say who has signed in');
  return person;
}

interface Answer {
  readonly status: number;
  /** Of the library's error. */
  readonly code: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  readonly cookies: Cookies;
}

/** Of a request, only what the library needs. */
function headersOf({ address, userAgent, cookie }: Client): Headers {
  const headers = new Headers();
  if (address !== undefined) headers.set(ADDRESS_HEADER, address);
  if (userAgent !== undefined) headers.set('user-agent', userAgent.slice(0, USER_AGENT_LENGTH_MAX));
  if (cookie !== undefined) headers.set('cookie', cookie);
  return headers;
}

/** The headers with the cookie of the session, and no other. */
const withSession = (client: Client): Headers => headersOf({ ...client, cookie: sessionCookieOf(client.cookie) });

/** Of a Cookie header the part of the session. */
export const sessionCookieOf = (cookie: string | undefined): string | undefined => only(cookie, SESSION);

/**
 * The cookie with such a name; undefined if there is none. One that a site beside ours has planted, which cannot have
 * the prefix, does not hide ours.
 */
function only(cookie: string | undefined, name: RegExp): string | undefined {
  const pairs = (cookie ?? '').split(/; */).filter((pair) => name.test(pair.split('=')[0] ?? ''));
  return pairs.find((pair) => pair.startsWith('__Host-')) ?? pairs[0];
}
