import { TokenBucket } from '@pf/runtime';
import { type Finding, type ScreeningOrigin, ScreeningUnavailableError } from '../port.ts';
import { Circuit } from './circuit.ts';
import { SanctionsApi } from './sanctions-api.ts';

interface Capacity {
  readonly connections: number;
  /** Addresses looked up at once, including those that wait for a connection. */
  readonly pending: number;
  /** Those of one account. */
  readonly pendingOfAccount: number;
}

const LIVE: Capacity = { connections: 64, pending: 256, pendingOfAccount: 128 };
const TEST: Capacity = { connections: 16, pending: 64, pendingOfAccount: 32 };
/**
 * Addresses that test mode may have looked up: the provider counts the requests of both modes together, and anyone can
 * cause those of test mode.
 */
const TEST_QUOTA = { requests: 100, windowSeconds: 5 } as const;

export interface ModeChannelsOptions {
  readonly url: string;
  readonly key: string;
  readonly timeoutMs: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The way to the provider of one mode: what fails or waits on it is not noticed on the other. */
export class Channel {
  readonly api: SanctionsApi;
  readonly circuit: Circuit;
  /** By address. */
  readonly pending = new Map<string, Promise<Finding | null>>();
  readonly #ofAccount = new Map<string, number>();
  readonly #capacity: Capacity;
  /** Null for live mode. */
  readonly #quota: TokenBucket | null;
  readonly #now: () => number;

  constructor({ url, key, timeoutMs, now }: ModeChannelsOptions, capacity: Capacity, quota: TokenBucket | null) {
    this.api = new SanctionsApi(url, key, capacity.connections, timeoutMs);
    this.circuit = new Circuit(now);
    this.#capacity = capacity;
    this.#quota = quota;
    this.#now = now;
  }

  /** Asks for an address that is not pending. @throws ScreeningUnavailableError */
  lookUp(address: string, { accountId }: ScreeningOrigin, ask: () => Promise<Finding | null>): Promise<Finding | null> {
    const account = accountId ?? '';
    const ofAccount = this.#ofAccount.get(account) ?? 0;
    const hasItsShare = ofAccount >= this.#capacity.pendingOfAccount;
    if (hasItsShare || this.pending.size >= this.#capacity.pending)
      throw new ScreeningUnavailableError('too many addresses wait for the sanctions API', {
        retryAfterSeconds: 1,
        // Of live mode it takes several accounts to fill the queue: the API does not keep up.
        limited: hasItsShare || this.#quota !== null,
      });
    if (this.#quota?.take(1, this.#now()).tokens === 0)
      throw new ScreeningUnavailableError('too many addresses of test mode were looked up', {
        retryAfterSeconds: 1,
        limited: true,
      });
    if (!this.circuit.admits())
      throw new ScreeningUnavailableError('the sanctions API does not respond', {
        retryAfterSeconds: this.circuit.retryAfterSeconds,
      });
    this.#ofAccount.set(account, ofAccount + 1);
    const finding = ask().finally(() => {
      this.pending.delete(address);
      const left = (this.#ofAccount.get(account) ?? 1) - 1;
      if (left > 0) this.#ofAccount.set(account, left);
      else this.#ofAccount.delete(account);
    });
    this.pending.set(address, finding);
    return finding;
  }
}

/** The channels of both modes. */
export class ModeChannels {
  readonly #live: Channel;
  readonly #test: Channel;

  constructor(options: ModeChannelsOptions) {
    this.#live = new Channel(options, LIVE, null);
    this.#test = new Channel(options, TEST, new TokenBucket(TEST_QUOTA, options.now()));
  }

  of({ livemode }: ScreeningOrigin): Channel {
    return livemode ? this.#live : this.#test;
  }

  async close(): Promise<void> {
    await Promise.all([this.#live.api.close(), this.#test.api.close()]);
  }
}
