import { USER_AGENT } from '@pf/runtime';
import { z } from 'zod';

/** A token for SASL OAUTHBEARER. */
interface BearerToken {
  readonly value: string;
  /** Milliseconds from when it was requested until it expires. */
  readonly lifetimeMs: number;
}

/** Gets a new token, each time. Any source will do: an identity provider, a cloud's signer. */
export type TokenProvider = () => Promise<BearerToken>;

/**
 * A connection authenticates again so long before its session ends, which is when its token expires: a broker closes
 * connections that do not.
 */
export const REAUTHENTICATE_MS = 5_000;
/**
 * What is left of a token that is handed out, at least. With less, a connection would authenticate again at once, and a
 * broker refuses that within a second.
 */
const MIN_LEFT_MS = REAUTHENTICATE_MS + 3_000;
export const MIN_LIFETIME_S = 15;
/** A new token is requested when no more than so much of the last one's lifetime is left. */
const REFRESH_AT = 0.3;

/**
 * Hands out one token to all connections of a process, and requests the next one before it expires. While that fails,
 * the last token is used as long as it is valid.
 *
 * @param now milliseconds of a clock that only goes forward
 */
export function reusedToken(request: TokenProvider, now = () => performance.now()): () => Promise<{ value: string }> {
  let last: (BearerToken & { readonly since: number }) | null = null;
  let pending: Promise<{ value: string }> | null = null;
  const hasLeft = (token: typeof last, ms: number): token is NonNullable<typeof last> =>
    token !== null && token.since + token.lifetimeMs - now() > ms;
  const refresh = async (): Promise<{ value: string }> => {
    const since = now();
    try {
      last = { ...(await request()), since };
      return last;
    } catch (error) {
      if (hasLeft(last, MIN_LEFT_MS)) return last;
      throw error;
    }
  };
  return async () => {
    if (hasLeft(last, Math.max(MIN_LEFT_MS, (last?.lifetimeMs ?? 0) * REFRESH_AT))) return { value: last.value };
    pending ??= refresh().finally(() => (pending = null));
    return { value: (await pending).value };
  };
}

export interface ClientCredentials {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope?: string | undefined;
}

const REQUEST_MS = 5_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Where the response does not say (RFC 6749, 5.1: it should). */
const DEFAULT_LIFETIME_S = 300;

const tokenResponse = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().min(MIN_LIFETIME_S).default(DEFAULT_LIFETIME_S),
});

/** Requests tokens by the client-credentials grant (RFC 6749, 4.4). */
export function clientCredentials({ tokenUrl, clientId, clientSecret, scope }: ClientCredentials): TokenProvider {
  const login = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  return async () => {
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${login}`, accept: 'application/json', 'user-agent': USER_AGENT },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }),
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    const text = await bounded(response);
    const host = new URL(tokenUrl).host;
    if (!response.ok)
      throw new Error(`${host} issued no token for Kafka: status ${response.status}. Check KAFKA_OAUTH_….`);
    const token = tokenResponse.safeParse(parsed(text));
    if (!token.success)
      throw new Error(
        `${host} issued no token: its response needs access_token, and expires_in of ${MIN_LIFETIME_S} or more.`,
      );
    return { value: token.data.access_token, lifetimeMs: token.data.expires_in * 1_000 };
  };
}

/** @throws Error if the body is too long */
async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new Error(`The response to a token request exceeds ${MAX_RESPONSE_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
