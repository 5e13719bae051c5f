import { createHash } from 'node:crypto';
import { DASHBOARD_OPERATIONS, type DashboardOperationId } from '@pf/contracts/dashboard';
import {
  type AttemptCount,
  countAttempts,
  type Database,
  forgetAttempts,
  isRemembered,
  rememberKey,
} from '@pf/database';
import { AddressBuckets, type SharingGroup, sharingGroups } from '@pf/http';
import { boundedCache, count, KeyedPlaces, Places, TokenBucket } from '@pf/runtime';
import { DashboardError } from './dashboard-error.ts';

/** What a limit counts by. `pair`: an e-mail address from one client address. */
type By = 'address' | 'email' | 'pair' | 'person' | 'account';
interface Limit {
  readonly by: By;
  readonly attempts: number;
  readonly windowSeconds: number;
}

const QUARTER = 900;
const HOUR = 3_600;
const limit = (by: By, attempts: number, windowSeconds: number): Limit => ({ by, attempts, windowSeconds });
const DAY_MS = 86_400_000;
/** For requests with a password of a signed-in person. */
const PASSWORD_LIMITS = [limit('person', 10, QUARTER)];
const DECISION_LIMITS = [limit('person', 30, QUARTER)];

/**
 * The limits of what is costly, sends mail or can be guessed. All processes share them. Counted by the e-mail address
 * that a request names, whether or not a person has it, so that a refusal tells nothing.
 */
const LIMITS: Readonly<Partial<Record<DashboardOperationId, readonly Limit[]>>> = {
  signUp: [limit('address', 10, HOUR), limit('email', 5, HOUR)],
  verifyEmail: [limit('address', 30, QUARTER)],
  signIn: [limit('address', 50, QUARTER), limit('pair', 10, QUARTER), limit('email', 100, QUARTER)],
  signInWithCode: [limit('address', 30, QUARTER)],
  // The page of sign-in asks for it when it is opened.
  beginPasskeySignIn: [limit('address', 300, QUARTER)],
  signInWithPasskey: [limit('address', 50, QUARTER)],
  beginOidcSignIn: [limit('address', 100, QUARTER)],
  signInWithOidc: [limit('address', 50, QUARTER)],
  forgotPassword: [limit('address', 10, HOUR), limit('email', 5, HOUR)],
  resetPassword: [limit('address', 30, QUARTER)],
  changePassword: PASSWORD_LIMITS,
  beginSecondFactor: PASSWORD_LIMITS,
  confirmSecondFactor: PASSWORD_LIMITS,
  disableSecondFactor: PASSWORD_LIMITS,
  beginPasskey: PASSWORD_LIMITS,
  addPasskey: PASSWORD_LIMITS,
  renamePasskey: [limit('person', 60, HOUR)],
  removePasskey: PASSWORD_LIMITS,
  unlinkIdentity: PASSWORD_LIMITS,
  createAccount: [limit('person', 10, HOUR)],
  acceptInvitation: [limit('person', 30, HOUR)],
  // By the address, too: each invitation mails it a text that the account has chosen.
  invite: [limit('account', 50, HOUR), limit('person', 100, HOUR), limit('email', 10, HOUR)],
  createKey: [limit('account', 50, HOUR)],
  updateSettings: [limit('account', 120, HOUR)],
  createToken: [limit('person', 30, HOUR)],
  beginDevice: [limit('address', 30, QUARTER)],
  // Once a second: a program asks every five.
  pollDevice: [limit('address', 900, QUARTER)],
  // User codes could be guessed.
  getDevice: DECISION_LIMITS,
  beginDeviceApproval: PASSWORD_LIMITS,
  approveDevice: PASSWORD_LIMITS,
  denyDevice: DECISION_LIMITS,
  // Each reads up to 100,000 rows.
  exportAudit: [limit('account', 30, HOUR)],
};
/** Of all that the audit log records, together: its entries stay for two years, and cannot be deleted. */
const RECORDED_LIMITS = [limit('person', 1_000, HOUR), limit('account', 5_000, HOUR)];
/**
 * What takes an access away does not count there, so that who has a stolen session cannot delay it: there is no more of
 * it than other limits let people create, or enter passwords. A new password ends the other sessions.
 */
const ENDS_ACCESS: ReadonlySet<DashboardOperationId> = new Set([
  'signOut',
  'endSession',
  'changePassword',
  'removePasskey',
  'unlinkIdentity',
  'removeMember',
  'withdrawInvitation',
  'revokeKey',
  'revokeToken',
]);
/**
 * Counted one after the other, each only by a request that the ones before have let pass: who is refused uses up
 * nothing of another, and makes no row.
 */
const STAGES: readonly (readonly By[])[] = [['address'], ['pair'], ['email', 'person', 'account']];
/** Of mails that confirm an address. */
const VERIFICATION_MAIL = limit('email', 1, QUARTER);
/** How long an address from which a person has signed in is theirs: others cannot lock them out of it. */
const PLACE_MS = 30 * DAY_MS;
/** Any requests of an address, in one process: of an office, perhaps, in which five persons ask all they may. */
const ADDRESS_QUOTA = { requests: 3_000, windowSeconds: 60 };
/**
 * What an address, or the network that it shares, has under way at a time, and how many of its requests wait for how
 * long: its burst must not take the few connections to Postgres from others. Look-ups are of sessions and accounts.
 * What anyone may ask has turns of its own, in which a sign-in hashes a password.
 */
const TURNS = {
  lookup: { atOnce: 2, waiting: 200, waitMs: 5_000 },
  anyone: { atOnce: 2, waiting: 200, waitMs: 10_000 },
} as const;
/**
 * The same of a session or token within an address: the burst of one waits in a line of its own, so that the next turn
 * is that of another of the office. A page asks for ten things at once, which must not fail where Postgres is slow.
 */
const PROOF_TURNS = { atOnce: 2, waiting: 100 } as const;
/**
 * What sign-ins at the identity provider have under way in Postgres, of all addresses together: many of them leave
 * connections to those who sign in with a password.
 */
const PROVIDER_TURNS = { atOnce: 2, waiting: 200, waitMs: 5_000 } as const;
/** Any requests of a person, in one process. */
const PERSON_QUOTA = { requests: 600, windowSeconds: 60 };
const PERSONS_KEPT = 10_000;
/** Addresses and operations whose window is in memory. */
const WINDOWS_KEPT = 50_000;

/** The attempts of an address, as far as this process knows. */
interface Window {
  count: number;
  endsAt: number;
}

/** A limit of a caller. */
interface Applied {
  readonly by: By;
  readonly key: string;
  readonly windowSeconds: number;
  readonly most: number;
}

/** Who makes a request. */
export interface Caller {
  /** The client's address, or the network that it belongs to. */
  readonly address: string;
  /** What the address counts for: its own, and a network that it shares, with more for all of it. Default: `address` */
  readonly groups?: readonly SharingGroup[];
  /** In lower case. */
  readonly email?: string | undefined;
  readonly userId?: string | undefined;
  readonly accountId?: string | undefined;
}

export class Limits {
  readonly #database: Database;
  readonly #factor: number;
  readonly #now: () => number;
  readonly #addresses: AddressBuckets;
  readonly #persons = boundedCache<string, TokenBucket>(PERSONS_KEPT);
  readonly #windows = boundedCache<string, Window>(WINDOWS_KEPT);
  readonly #turns = {
    lookup: new KeyedPlaces(TURNS.lookup.waiting),
    anyone: new KeyedPlaces(TURNS.anyone.waiting),
  };
  readonly #ofProofs = new KeyedPlaces(PROOF_TURNS.waiting);
  readonly #ofProvider = new Places(PROVIDER_TURNS.atOnce, PROVIDER_TURNS.waiting);

  /** @param factor multiplies all limits, for tests */
  constructor(database: Database, factor: number, now: () => number = Date.now) {
    this.#database = database;
    this.#factor = factor;
    this.#now = now;
    const requests = Math.max(1, Math.round(ADDRESS_QUOTA.requests * factor));
    this.#addresses = new AddressBuckets({ ...ADDRESS_QUOTA, requests });
  }

  /** Counts any request of an address, before anything is looked up. @throws DashboardError `rate_limit.exceeded` */
  admitAddress(ip: string | undefined): void {
    const nextMs = this.#addresses.take(ip);
    if (nextMs !== null) throw exceeded(nextMs);
  }

  /**
   * Works for a request when it is the turn of its address, and there of its session or token, if it has one.
   * @throws DashboardError `rate_limit.exceeded`
   */
  inTurn<Result>(
    kind: keyof typeof TURNS,
    ip: string | undefined,
    work: () => Promise<Result>,
    proof?: string,
  ): Promise<Result> {
    const key = sharingGroups(ip).at(-1)?.group ?? '';
    const { atOnce: most, waitMs } = TURNS[kind];
    const turn = { until: performance.now() + waitMs, refuse: () => exceeded(waitMs) };
    const ofAddress = () => this.#turns[kind].run({ key, most, ...turn }, work);
    if (proof === undefined) return ofAddress();
    return this.#ofProofs.run({ key: `${key} ${proof}`, most: PROOF_TURNS.atOnce, ...turn }, ofAddress);
  }

  /** Reads or writes for a sign-in at the identity provider. @throws DashboardError `service.unavailable` */
  inTurnOfProvider<Result>(work: () => Promise<Result>): Promise<Result> {
    const refuse = () => new DashboardError('service.unavailable');
    return this.#ofProvider.run({ waitMs: PROVIDER_TURNS.waitMs, refuse }, work);
  }

  /** Counts a request of a signed-in person. @throws DashboardError `rate_limit.exceeded` */
  admitPerson(userId: string): void {
    const quota = { ...PERSON_QUOTA, requests: PERSON_QUOTA.requests * this.#factor };
    const bucket = this.#persons.get(userId) ?? new TokenBucket(quota, performance.now());
    this.#persons.set(userId, bucket);
    const { tokens, nextMs } = bucket.take(1, performance.now());
    if (tokens === 0) throw exceeded(nextMs);
  }

  /** Counts an attempt of an operation. @throws DashboardError `rate_limit.exceeded` */
  async admit(operation: DashboardOperationId, caller: Caller): Promise<void> {
    const now = this.#now();
    const recorded = isRecorded(operation) ? this.#recorded(caller, now) : [];
    const limits = [...(LIMITS[operation] ?? []).flatMap((one) => this.#applied(operation, one, caller)), ...recorded];
    // An address that is past its limit costs Postgres nothing.
    for (const one of limits) if (one.by === 'address') this.#admitInMemory(one, now);
    for (const stage of STAGES) {
      const counted = limits.filter(({ by }) => stage.includes(by));
      if (counted.length === 0) continue;
      // Where a person has signed in before, only failures from there count.
      if (operation === 'signIn' && stage.includes('email') && (await this.#isPlace(caller, now))) continue;
      await this.#count(counted, now);
    }
  }

  /**
   * Counts a change of the payment API, which is recorded, before the gateway is asked for it.
   * @throws DashboardError `rate_limit.exceeded`
   */
  async admitChange(caller: Pick<Caller, 'userId' | 'accountId'>): Promise<void> {
    const now = this.#now();
    await this.#count(this.#recorded({ address: '', ...caller }, now), now);
  }

  /** The limits of what is recorded. One that is known to be reached costs Postgres nothing. */
  #recorded(caller: Caller, now: number): readonly Applied[] {
    const limits = RECORDED_LIMITS.flatMap((one) => this.#applied('recorded', one, caller));
    for (const one of limits) this.#admitInMemory(one, now);
    return limits;
  }

  /** Whether a mail that confirms an address may be sent to it now: then it is counted. */
  async admitVerificationMail(email: string): Promise<boolean> {
    const limits = this.#applied('verificationMail', VERIFICATION_MAIL, { address: '', email });
    const now = this.#now();
    return (await this.#waits(limits, now)).length === 0;
  }

  /** Forgets the failed sign-ins of this person from this address, which is a place of theirs from now on. */
  async signedIn(caller: Caller): Promise<void> {
    const key = keyOf('signIn', 'pair', caller);
    if (key !== null) await forgetAttempts(this.#database, key);
    const place = keyOf('place', 'pair', caller);
    if (place !== null) await rememberKey(this.#database, place, new Date(this.#now() + PLACE_MS));
  }

  async #isPlace(caller: Caller, now: number): Promise<boolean> {
    const place = keyOf('place', 'pair', caller);
    return place !== null && isRemembered(this.#database, place, new Date(now));
  }

  #applied(operation: string, { by, attempts, windowSeconds }: Limit, caller: Caller): readonly Applied[] {
    return groupsFor(by, caller).flatMap(({ group: address, times }) => {
      const key = keyOf(operation, by, { ...caller, address });
      const most = Math.max(1, Math.round(attempts * this.#factor)) * times;
      return key === null ? [] : [{ by, key, windowSeconds, most }];
    });
  }

  #admitInMemory({ key, windowSeconds, most }: Applied, now: number): void {
    let window = this.#windows.get(key);
    if (!window || window.endsAt <= now)
      this.#windows.set(key, (window = { count: 0, endsAt: now + windowSeconds * 1_000 }));
    window.count += 1;
    if (window.count > most) throw exceeded(window.endsAt - now);
  }

  async #count(limits: readonly Applied[], now: number): Promise<void> {
    const waits = await this.#waits(limits, now);
    if (waits.length > 0) throw exceeded(Math.max(...waits));
  }

  /** Counts an attempt in all processes. @returns for how long each of the limits refuses it that does */
  async #waits(limits: readonly Applied[], now: number): Promise<readonly number[]> {
    const counted = new Map<string, AttemptCount>();
    for (const one of await countAttempts(this.#database, limits, new Date(now))) counted.set(one.key, one);
    return limits.flatMap(({ key, most }) => {
      const found = counted.get(key);
      if (!found) return [];
      const endsAt = found.endsAt.getTime();
      const window = this.#windows.get(key);
      if (window) this.#windows.set(key, { count: Math.max(window.count, found.count), endsAt });
      return found.count > most ? [endsAt - now] : [];
    });
  }
}

/** Whether an operation of a signed-in person counts among all that is recorded. */
function isRecorded(id: DashboardOperationId): boolean {
  const operation = DASHBOARD_OPERATIONS[id];
  const records = 'action' in operation && operation.action !== null;
  return records && operation.access !== 'anyone' && !ENDS_ACCESS.has(id);
}

/** The addresses that a limit counts. One of a pair guards what an e-mail address opens, and is of the caller alone. */
const groupsFor = (by: By, { address, groups }: Caller): readonly SharingGroup[] =>
  (by === 'address' ? groups : undefined) ?? [{ group: address, times: 1 }];

/** A hash, so that the table of counts holds no addresses; null if the caller has none of these. */
function keyOf(operation: string, by: By, { address, email, userId, accountId }: Caller): string | null {
  const subject = {
    address,
    email,
    pair: email === undefined ? undefined : `${email} ${address}`,
    person: userId,
    account: accountId,
  }[by];
  if (subject === undefined) return null;
  return createHash('sha256')
    .update(JSON.stringify([operation, by, subject]))
    .digest('base64url');
}

function exceeded(waitMs: number): DashboardError {
  count('payments.rate_limited', { policy: 'dashboard' });
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new DashboardError('rate_limit.exceeded', {
    message: `Too many attempts. Try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
  });
}
