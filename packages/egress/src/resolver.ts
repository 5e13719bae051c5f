import { boundedCache } from '@pf/runtime';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** Resolves a host as `dns.lookup(host, { all: true })` does. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** A name that has no addresses now. The message is the reason, in words for the account. */
export class UnresolvedError extends Error {
  override readonly name = 'UnresolvedError';
}

/** Our own name servers cannot be asked: no fault of the host. */
export class ResolverUnavailableError extends Error {
  override readonly name = 'ResolverUnavailableError';
}

/** Of one query, of which there are two: name servers that hang take 3 s of an attempt. */
const QUERY_MS = 1_000;
const TRIES = 2;
const MAX_HOSTS = 10_000;
/** However short or long the TTL is. */
const SHORTEST_MS = 1_000;
const LONGEST_MS = 60_000;
/** For a name that does not exist. */
const ABSENT_MS = 10_000;
/** A host whose name servers fail is asked for again after twice as long each time. */
const FIRST_BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 60_000;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

interface Known {
  readonly answer: readonly LookupAddress[] | Error;
  readonly until: number;
  /** Failures in a row of its name servers. */
  readonly failures: number;
}

export interface ResolverOptions {
  /** Addresses of name servers, with or without ports. Default: those of the system. */
  readonly servers?: readonly string[] | undefined;
  /** For names that no name server has: on a developer's machine the system's way, which reads the hosts file. */
  readonly otherwise?: Resolve | undefined;
  /** Milliseconds, by a clock that only goes forward. */
  readonly now?: () => number;
}

/**
 * Resolves names by c-ares, not by the system's `getaddrinfo`: that blocks one of four threads for as long as a name
 * server hangs, so two dead name servers would stop everything. Answers are remembered, good ones and bad ones, and a
 * host is asked for once at a time.
 */
export function createResolver({ servers, otherwise, now = () => performance.now() }: ResolverOptions): Resolve {
  const resolver = new Resolver({ timeout: QUERY_MS, tries: TRIES });
  if (servers && servers.length > 0) resolver.setServers([...servers]);
  const known = boundedCache<string, Known>(MAX_HOSTS);
  const pending = new Map<string, Promise<Known>>();

  const ask = async (host: string): Promise<Known> => {
    const failures = known.peek(host)?.failures ?? 0;
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(host, { ttl: true }),
      resolver.resolve6(host, { ttl: true }),
    ]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map(({ address, ttl }) => ({ address, family: 4, ttl })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map(({ address, ttl }) => ({ address, family: 6, ttl })) : []),
    ];
    if (found.length > 0) {
      const ttlMs = Math.min(...found.map(({ ttl }) => ttl)) * 1_000;
      const until = now() + Math.min(Math.max(ttlMs, SHORTEST_MS), LONGEST_MS);
      return { answer: found.map(({ address, family }) => ({ address, family })), until, failures: 0 };
    }
    const codes = [v4, v6].map((settled) => (settled.status === 'rejected' ? codeOf(settled.reason) : 'ENODATA'));
    const absent = codes.every((code) => ABSENT.has(code));
    // Also without name servers: a developer may have no network.
    const local = await otherwise?.(host).catch(() => []);
    if (local && local.length > 0) return { answer: local, until: now() + SHORTEST_MS, failures: 0 };
    if (absent) return { answer: new UnresolvedError(REASONS.absent), until: now() + ABSENT_MS, failures: 0 };
    if (codes.every((code) => code === 'ECONNREFUSED'))
      return { answer: new ResolverUnavailableError('no name server can be asked'), until: now(), failures: 0 };
    const backOff = Math.min(FIRST_BACK_OFF_MS * 2 ** failures, LONGEST_BACK_OFF_MS);
    const reason = codes.includes('ETIMEOUT') ? REASONS.silent : REASONS.failing;
    return { answer: new UnresolvedError(reason), until: now() + backOff, failures: failures + 1 };
  };

  return async (host) => {
    // RFC 6761, section 6.3: never a question for a name server.
    if (/(^|\.)localhost\.?$/i.test(host)) return LOOPBACK;
    let entry = known.get(host);
    if (!entry || entry.until <= now()) {
      let question = pending.get(host);
      if (!question) {
        question = ask(host).finally(() => pending.delete(host));
        pending.set(host, question);
      }
      entry = await question;
      known.set(host, entry);
    }
    if (entry.answer instanceof Error) throw entry.answer;
    return entry.answer;
  };
}

const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
const REASONS = {
  absent: 'The host name does not exist.',
  silent: 'The name servers of the host do not respond.',
  failing: 'The host name cannot be resolved now.',
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
