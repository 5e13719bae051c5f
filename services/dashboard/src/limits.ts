import { createHash } from 'node:crypto';
import type { DashboardOperationId } from '@pf/contracts/dashboard';
import { type AttemptCount, type AttemptKey, countAttempts, type Database, forgetAttempts } from '@pf/database';
import type { SharingGroup } from '@pf/http';
import { boundedCache, count, TokenBucket } from '@pf/runtime';
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
  // Each writes an entry of the audit log.
  markAttentionDone: [limit('person', 1_000, HOUR)],
  reopenAttention: [limit('person', 1_000, HOUR)],
  createToken: [limit('person', 30, HOUR)],
  beginDevice: [limit('address', 30, QUARTER)],
  // Once a second: a program asks every five.
  pollDevice: [limit('address', 900, QUARTER)],
  // User codes could be guessed.
  getDevice: DECISION_LIMITS,
  approveDevice: DECISION_LIMITS,
  denyDevice: DECISION_LIMITS,
};
/** Any requests of a person, in one process. */
const PERSON_QUOTA = { requests: 600, windowSeconds: 60 };
const PERSONS_KEPT = 10_000;

/** Who makes a request. */
export interface Caller {
  /** The client's address, or the network that it belongs to. */
  readonly address: string;
  /** What the address counts for: its own, and a network that it shares, with more for all of it. Default: `address` */
  readonly groups?: readonly SharingGroup[];
  readonly email?: string | undefined;
  readonly userId?: string | undefined;
  readonly accountId?: string | undefined;
}

export class Limits {
  readonly #database: Database;
  readonly #factor: number;
  readonly #now: () => number;
  readonly #persons = boundedCache<string, TokenBucket>(PERSONS_KEPT);

  /** @param factor multiplies all limits, for tests */
  constructor(database: Database, factor: number, now: () => number = Date.now) {
    this.#database = database;
    this.#factor = factor;
    this.#now = now;
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
    const limits = (LIMITS[operation] ?? []).flatMap(({ by, attempts, windowSeconds }) =>
      groupsFor(by, caller).flatMap(({ group: address, times }) => {
        const key = keyOf(operation, by, { ...caller, address });
        const most = Math.max(1, Math.round(attempts * this.#factor)) * times;
        return key === null ? [] : [{ key, windowSeconds, most }];
      }),
    );
    if (limits.length === 0) return;
    const now = this.#now();
    const counted = new Map<string, AttemptCount>();
    const keys: readonly AttemptKey[] = limits;
    for (const one of await countAttempts(this.#database, keys, new Date(now))) counted.set(one.key, one);
    const waits = limits.flatMap(({ key, most }) => {
      const found = counted.get(key);
      return found !== undefined && found.count > most ? [found.endsAt.getTime() - now] : [];
    });
    if (waits.length > 0) throw exceeded(Math.max(...waits));
  }

  /** Forgets the failed sign-ins of this person from this address. */
  async signedIn(caller: Caller): Promise<void> {
    const key = keyOf('signIn', 'pair', caller);
    if (key !== null) await forgetAttempts(this.#database, key);
  }
}

/** The addresses that a limit counts. One of a pair guards what an e-mail address opens, and is of the caller alone. */
const groupsFor = (by: By, { address, groups }: Caller): readonly SharingGroup[] =>
  (by === 'address' ? groups : undefined) ?? [{ group: address, times: 1 }];

/** A hash, so that the table of counts holds no addresses; null if the caller has none of these. */
function keyOf(operation: string, by: By, { address, email, userId, accountId }: Caller): string | null {
  const mail = email?.toLowerCase();
  const subject = {
    address,
    email: mail,
    pair: mail === undefined ? undefined : `${mail} ${address}`,
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
