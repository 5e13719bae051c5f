import { boundedCache, type Logger } from '@pf/runtime';
import type { LRUCache } from 'lru-cache';
import { comparableOf } from '../comparable.ts';
import {
  type Finding,
  type ScreenedWallet,
  type Screener,
  type ScreeningOrigin,
  ScreeningUnavailableError,
} from '../port.ts';
import { type Channel, ModeChannels } from './channels.ts';
import { ProviderError } from './sanctions-api.ts';

/** How long a clean result may be cached (docs/reference/contract.md). */
export const CLEAN_MAX_SECONDS = 600;
const CLEAN_MAX_ADDRESSES = 50_000;
export const SHARE_PER_SECOND = 20;

export interface ApiScreenerOptions {
  /** The base URL of the provider's API: `https://public.chainalysis.com`. */
  readonly url: string;
  readonly key: string;
  /** How long a clean result is cached, at most 600. */
  readonly cleanSeconds?: number;
  readonly timeoutMs?: number;
  /** Addresses that each live account, and test mode as a whole, may have looked up in a second. Default 20. */
  readonly sharePerSecond?: number;
  readonly log: Logger;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** Screens by the HTTP API. Clean results are cached, matches and failures never; one request per address at a time. */
export class ApiScreener implements Screener {
  readonly #channels: ModeChannels;
  readonly #clean: LRUCache<string, true> | null;
  readonly #log: Logger;
  readonly #now: () => number;

  constructor({
    url,
    key,
    cleanSeconds = CLEAN_MAX_SECONDS,
    timeoutMs,
    sharePerSecond = SHARE_PER_SECOND,
    log,
    now = Date.now,
  }: ApiScreenerOptions) {
    this.#channels = new ModeChannels({ url, key, timeoutMs, sharePerSecond, now });
    this.#log = log;
    this.#now = now;
    this.#clean =
      cleanSeconds === 0
        ? null
        : boundedCache(CLEAN_MAX_ADDRESSES, { ttl: cleanSeconds * 1_000, ttlResolution: 0, perf: { now } });
  }

  async find(wallet: ScreenedWallet, origin: ScreeningOrigin): Promise<Finding | null> {
    const address = comparableOf(wallet);
    if (this.#clean?.has(address)) return null;
    const channel = this.#channels.of(origin);
    return channel.pending.get(address) ?? channel.lookUp(address, origin, () => this.#ask(channel, address));
  }

  close(): Promise<void> {
    return this.#channels.close();
  }

  async #ask({ api, circuit }: Channel, address: string): Promise<Finding | null> {
    const requestedAt = this.#now();
    try {
      const [identification] = await api.identifications(address);
      circuit.succeeded();
      if (identification)
        return { part: 'api', label: identification.category ?? null, uid: null, name: identification.name ?? null };
      // The result is as old as the request.
      this.#clean?.set(address, true, { start: requestedAt });
      return null;
    } catch (error) {
      const retryAfterMs = error instanceof ProviderError ? error.retryAfterMs : null;
      if (circuit.failed(retryAfterMs))
        this.#log.error(
          { alarm: 'screening_unavailable', err: error },
          'the sanctions API does not respond: every screening is refused',
        );
      throw new ScreeningUnavailableError('the sanctions API gave no result', {
        retryAfterSeconds: circuit.retryAfterSeconds,
        cause: error,
      });
    }
  }
}
