import type { Role } from '@pf/contracts/dashboard';
import { type Database, type MemberAccount, roleInSession, roleWithToken } from '@pf/database';
import { OpenResponses, SITE_TIMES_OF_FEW, Slots, slotsOfAddress } from '@pf/http';
import { count, type Logger } from '@pf/runtime';
import type { Response } from 'express';
import { DashboardError } from './dashboard-error.ts';
import type { Client, SignedIn } from './identity/identity.ts';

const OPEN_MAX = 500;
/** Beside these, once they are taken, for persons, accounts and addresses that have next to none open: so many each. */
const RESERVE = { all: 100, each: 2 } as const;
/** The most open streams of this process. */
export const STREAMS_MAX = OPEN_MAX + RESERVE.all;
/** Of an address: of an office, perhaps. */
const ADDRESS_STREAMS_MAX = 100;
const ACCOUNT_STREAMS_MAX = 50;
const PERSON_STREAMS_MAX = 10;
/** In all accounts. */
const PERSON_STREAMS_IN_ALL_MAX = 50;
const RETRY_AFTER_SECONDS = 10;
/** Interval at which the session or token and the role of a stream are looked up: it ends within 30 s of them. */
const CHECK_MS = 10_000;

/** Who follows a stream. */
interface Follower {
  readonly client: Pick<Client, 'address'>;
  readonly person: SignedIn;
  readonly account: MemberAccount;
}

export interface StreamsDependencies {
  readonly database: Database;
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The streams that are open in this process: each lasts no longer than the session and the role that it needs. */
export class Streams {
  readonly #dependencies: StreamsDependencies;
  readonly #slots = new Slots();
  readonly #open = new OpenResponses();

  constructor(dependencies: StreamsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Counts a stream until the returned function is called.
   * @throws DashboardError `rate_limit.exceeded` or `service.unavailable` if there are as many as there may be
   */
  take({ account, client, person }: Follower): () => void {
    const own = {
      [`${account.id} ${person.userId}`]: PERSON_STREAMS_MAX,
      [account.id]: ACCOUNT_STREAMS_MAX,
      [person.userId]: PERSON_STREAMS_IN_ALL_MAX,
      ...slotsOfAddress(client.address, ADDRESS_STREAMS_MAX, (group) => `address ${group}`, SITE_TIMES_OF_FEW),
    };
    const shared = { rooms: { all: OPEN_MAX }, reserve: { reserve: RESERVE.all }, each: RESERVE.each };
    const taken = this.#slots.takeShared(own, shared);
    if (typeof taken === 'function') return taken;
    if (taken.full === 'all') throw new DashboardError('service.unavailable');
    count('payments.rate_limited', { policy: 'dashboard' });
    throw new DashboardError('rate_limit.exceeded', {
      message:
        `Too many streams are open: a person may have ${PERSON_STREAMS_MAX} in an account, an account ` +
        `${ACCOUNT_STREAMS_MAX}, an address ${ADDRESS_STREAMS_MAX}. Close some.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  /** Ends a stream with the session or token and the role that it needs, and with this process. */
  endWith(
    { account, person }: Omit<Follower, 'client'>,
    roles: readonly Role[],
    response: Response,
    ending: AbortController,
  ): void {
    const { database, log, now } = this.#dependencies;
    const end = this.#open.add(response, ending);
    const check = async (): Promise<void> => {
      const { proof, userId } = person;
      const of = { userId, accountId: account.id, at: new Date(now()) };
      const role =
        proof.kind === 'token'
          ? await roleWithToken(database, { ...of, tokenId: proof.id })
          : await roleInSession(database, { ...of, sessionId: proof.id });
      if (role === null || !roles.includes(role)) end();
    };
    const timer = setInterval(() => {
      check().catch((error: unknown) => log.warn({ err: error }, 'the role of a stream cannot be checked: will retry'));
    }, CHECK_MS);
    response.once('close', () => clearInterval(timer));
  }

  /** Ends all streams, and those that open from now on: their clients resume at another process. */
  close(): void {
    this.#open.close();
  }
}
