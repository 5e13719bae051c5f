import { lookup } from 'node:dns/promises';
import { USER_AGENT } from '@pf/runtime';
import { Agent, type Dispatcher, request } from 'undici';
import { checkUrl, guardedConnector, TargetRefusedError } from './address-guard.ts';
import { ProxyUnavailableError, TunnelRefusedError } from './egress-proxy.ts';
import { createResolver, type Resolve, ResolverUnavailableError, UnresolvedError } from './resolver.ts';

const TIMEOUT_MS = 15_000;
/** How much of a response is kept; beyond, or after so long, the connection is dropped: the status is known. */
const KEPT_BYTES = 1_024;
const BODY_MS = 1_000;
/** Shorter than common servers' idle timeouts, so that no request is sent on a connection that is being closed. */
const KEEP_ALIVE_MS = 1_000;

/**
 * An HTTP response; why there is none, in words for the account; or why nothing was sent, which is no fault of the
 * receiver.
 */
export type SendResult =
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly bodyStart: string;
      readonly retryAfter: string | null;
    }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'not_sent'; readonly message: string };

/** Posts bytes to the URLs of accounts. Never rejects. */
export interface Sender {
  send(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<SendResult>;
  /** Aborts requests under way and closes all connections. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /** Whether requests to loopback, private and other addresses that are not public are allowed. */
  readonly allowPrivate: boolean;
  /** For the whole request: name resolution, connection, headers and body. Default 15 s. */
  readonly timeoutMs?: number;
  /** How much of a response's body is kept. Default 1 KiB. */
  readonly keptBytes?: number;
  /** Default: by `nameServers`. */
  readonly resolve?: Resolve;
  /** Addresses of name servers. Default: those of the system. */
  readonly nameServers?: readonly string[] | undefined;
  /** All requests go through this HTTP proxy. */
  readonly proxy?: URL | undefined;
}

export function createSender({
  allowPrivate,
  timeoutMs = TIMEOUT_MS,
  keptBytes = KEPT_BYTES,
  nameServers,
  resolve = createResolver({
    servers: nameServers,
    otherwise: allowPrivate ? (host) => lookup(host, { all: true }) : undefined,
  }),
  proxy,
}: SenderOptions): Sender {
  // No cookies or redirects, and no limit of connections to a host: the callers limit what is under way.
  const agent = new Agent({
    connect: guardedConnector({ allowPrivate, timeoutMs, resolve, proxy }),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
  return {
    async send(url, headers, body) {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        checkUrl(url, allowPrivate);
        const response = await request(url, {
          method: 'POST',
          dispatcher: agent,
          signal,
          headers: named(headers),
          body,
        });
        const { 'retry-after': retryAfter } = response.headers;
        return {
          kind: 'response',
          status: response.statusCode,
          bodyStart: await readStart(response.body, keptBytes),
          retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
        };
      } catch (error) {
        if (signal.aborted) return { kind: 'failed', reason: `No response within ${timeoutMs / 1_000} s.` };
        return judge(error);
      }
    },
    close: () => agent.destroy(),
  };
}

/** With a User-Agent, unless they have one: those of a sponsor are the account's. */
const named = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'user-agent')
    ? headers
    : { ...headers, 'user-agent': USER_AGENT };

/**
 * The first bytes as text. The status is known, so a body that is longer, slow, cut off or without end changes nothing.
 */
async function readStart(body: Dispatcher.ResponseData['body'], keptBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const slow = setTimeout(() => body.destroy(), BODY_MS);
  await new Promise<void>((resolve) => {
    body
      .on('data', (bytes: Buffer) => {
        chunks.push(bytes.subarray(0, Math.max(0, keptBytes - length)));
        length += bytes.length;
        if (length > keptBytes) body.destroy();
      })
      // What was received is kept. 'close' follows.
      .on('error', () => undefined)
      .once('close', resolve);
  });
  clearTimeout(slow);
  if (length === 0) return '';
  // `stream` drops a last character that was cut in two; Postgres stores no NUL in text.
  return new TextDecoder().decode(Buffer.concat(chunks), { stream: true }).replaceAll('\0', '\uFFFD');
}

/** Errors whose message is the reason. */
const THEIRS = [TargetRefusedError, UnresolvedError, TunnelRefusedError];
/** Faults of this process or machine: the receiver has nothing to do with them. */
const OURS = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was reset.',
  EPIPE: 'The connection was reset.',
  UND_ERR_SOCKET: 'The connection was closed before a response arrived.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection timed out.',
  ETIMEDOUT: 'The connection timed out.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
};

function judge(error: unknown): SendResult {
  for (
    let cause = error as NodeJS.ErrnoException | undefined;
    cause;
    cause = cause.cause as NodeJS.ErrnoException | undefined
  ) {
    if (THEIRS.some((theirs) => cause instanceof theirs)) return { kind: 'failed', reason: cause.message };
    if (cause instanceof ResolverUnavailableError || cause instanceof ProxyUnavailableError)
      return { kind: 'not_sent', message: cause.message };
    const { code } = cause;
    if (code === undefined) continue;
    if (OURS.has(code)) return { kind: 'not_sent', message: cause.message };
    const reason = REASONS[code] ?? reasonByFamily(code);
    if (reason !== null) return { kind: 'failed', reason };
  }
  return { kind: 'failed', reason: 'The request failed.' };
}

function reasonByFamily(code: string): string | null {
  if (code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code.includes('CERT') || code.includes('SIGNATURE'))
    return `The TLS connection failed: ${code}.`;
  if (code.startsWith('HPE_') || code.startsWith('UND_ERR_')) return `The response is not valid HTTP: ${code}.`;
  return null;
}
