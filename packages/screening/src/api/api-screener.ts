import type { Logger } from '@pf/runtime';
import { LRUCache } from 'lru-cache';
import { comparableOf } from '../comparable.ts';
import { type Finding, type ScreenedWallet, type Screener, ScreeningUnavailableError } from '../port.ts';
import { Circuit } from './circuit.ts';
import { ProviderError, SanctionsApi } from './sanctions-api.ts';

/** How long a clean answer may be believed (decisions.md). */
export const CLEAN_MAX_SECONDS = 600;
const CLEAN_MAX_ADDRESSES = 50_000;
/** Addresses that are asked about at once, those that wait for a connection among them. */
const UNDER_WAY_MAX = 256;

export interface ApiScreenerOptions {
  /** Where the provider's API begins: `https://public.chainalysis.com`. */
  readonly url: string;
  readonly key: string;
  /** How long a clean answer is believed, at most 600. */
  readonly cleanSeconds?: number;
  readonly timeoutMs?: number;
  readonly log: Logger;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** The HTTP API: clean answers are remembered, matches and failures never; one request an address at a time. */
export class ApiScreener implements Screener {
  readonly #api: SanctionsApi;
  readonly #circuit: Circuit;
  readonly #clean: LRUCache<string, true> | null;
  readonly #underWay = new Map<string, Promise<Finding | null>>();
  readonly #log: Logger;
  readonly #now: () => number;

  constructor({ url, key, cleanSeconds = CLEAN_MAX_SECONDS, timeoutMs, log, now = Date.now }: ApiScreenerOptions) {
    this.#api = new SanctionsApi(url, key, timeoutMs);
    this.#log = log;
    this.#now = now;
    this.#circuit = new Circuit(now);
    this.#clean =
      cleanSeconds === 0
        ? null
        : new LRUCache({ max: CLEAN_MAX_ADDRESSES, ttl: cleanSeconds * 1_000, ttlResolution: 0, perf: { now } });
  }

  async find(wallet: ScreenedWallet): Promise<Finding | null> {
    const address = comparableOf(wallet);
    if (this.#clean?.has(address)) return null;
    const asked = this.#underWay.get(address);
    if (asked) return asked;
    if (this.#underWay.size >= UNDER_WAY_MAX)
      throw new ScreeningUnavailableError('too many addresses wait for the sanctions API', { retryAfterSeconds: 1 });
    if (!this.#circuit.admits())
      throw new ScreeningUnavailableError('the sanctions API does not answer', {
        retryAfterSeconds: this.#circuit.retryAfterSeconds,
      });
    const answer = this.#ask(address).finally(() => this.#underWay.delete(address));
    this.#underWay.set(address, answer);
    return answer;
  }

  close(): Promise<void> {
    return this.#api.close();
  }

  async #ask(address: string): Promise<Finding | null> {
    const askedAt = this.#now();
    try {
      const [identification] = await this.#api.identifications(address);
      this.#circuit.succeeded();
      if (identification)
        return { part: 'api', label: identification.category ?? null, uid: null, name: identification.name ?? null };
      // What was true when it was asked.
      this.#clean?.set(address, true, { start: askedAt });
      return null;
    } catch (error) {
      const askedMs = error instanceof ProviderError ? error.retryAfterMs : null;
      if (this.#circuit.failed(askedMs))
        this.#log.error(
          { alarm: 'screening_unavailable', err: error },
          'the sanctions API does not answer: nobody passes the screening',
        );
      throw new ScreeningUnavailableError('the sanctions API gave no answer', {
        retryAfterSeconds: this.#circuit.retryAfterSeconds,
        cause: error,
      });
    }
  }
}
