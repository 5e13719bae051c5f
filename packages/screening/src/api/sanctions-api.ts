import { USER_AGENT } from '@pf/runtime';
import { Agent } from 'undici';
import { z } from 'zod';

/** For one whole lookup: a create waits for it. */
const TIMEOUT_MS = 2_000;
/** Responses are some hundred bytes. */
const RESPONSE_MAX_BYTES = 1_048_576;

// One entry is a match, whatever it says.
const identification = z.looseObject({ category: z.string().nullish(), name: z.string().nullish() });
const responseBody = z.looseObject({ identifications: z.array(identification) });
export type Identification = z.infer<typeof identification>;

/** The provider gave no usable response. The message holds neither its key nor the address. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  /** Its Retry-After; null if it sent none. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    { retryAfterMs = null, cause }: { readonly retryAfterMs?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

// Not `instanceof Error`: if modules run in a VM context of their own, the system's errors come from another one.
const failure = z
  .object({ code: z.string().optional().catch(undefined), name: z.string().catch('failed') })
  .catch({ name: 'failed' });
/** A kept connection was closed at the other end as we used it: the question is asked once more, on a new one. */
const CUT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * A sanctions API of Chainalysis' shape: GET /api/v1/address/{address}.
 * https://auth-developers.chainalysis.com/sanctions-screening
 */
export class SanctionsApi {
  readonly #base: URL;
  readonly #key: string;
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  /** @param connections the most at a time */
  constructor(url: string, key: string, connections: number, timeoutMs = TIMEOUT_MS) {
    this.#base = new URL(url);
    this.#key = key;
    this.#timeoutMs = timeoutMs;
    this.#agent = new Agent({
      connections,
      connect: { timeout: timeoutMs },
      maxResponseSize: RESPONSE_MAX_BYTES,
    });
  }

  /** The provider's entries for an address; empty if it has none. @throws ProviderError */
  async identifications(address: string): Promise<readonly Identification[]> {
    const { status, text, retryAfter } = await this.#get(
      `${this.#base.pathname.replace(/\/$/, '')}/api/v1/address/${encodeURIComponent(address)}`,
    );
    if (status !== 200)
      throw new ProviderError(
        `${this.#base.host} returned HTTP ${status}${isRefusedKey(status) ? ': it refuses the API key' : ''}`,
        { retryAfterMs: status === 429 ? retryAfter : null },
      );
    try {
      return responseBody.parse(JSON.parse(text)).identifications;
    } catch (cause) {
      throw new ProviderError(`${this.#base.host} returned an invalid response`, { cause });
    }
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  async #get(path: string): Promise<{ readonly status: number; readonly text: string; readonly retryAfter: number }> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    for (let tries = 1; ; tries += 1) {
      try {
        const response = await this.#agent.request({
          origin: this.#base.origin,
          path,
          method: 'GET',
          headers: { 'x-api-key': this.#key, accept: 'application/json', 'user-agent': USER_AGENT },
          signal,
        });
        return {
          status: response.statusCode,
          text: await response.body.text(),
          retryAfter: waitOf(response.headers['retry-after']),
        };
      } catch (cause) {
        const { code, name } = failure.parse(cause);
        if (tries === 1 && code !== undefined && CUT.has(code)) continue;
        throw new ProviderError(`${this.#base.host} cannot be reached (${code ?? name})`, { cause });
      }
    }
  }
}

const isRefusedKey = (status: number): boolean => status === 401 || status === 403;

/** Milliseconds of a Retry-After header in seconds; some providers send none, or a date. */
function waitOf(header: string | string[] | undefined): number {
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 1_000;
}
