import { boundedCache, TokenBucket } from '@pf/runtime';
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
/** What is unused of a share is kept for so long. */
const SHARE_SECONDS = 5;
/** Shares that are remembered. With more at once, those that were quiet longest begin again with a full bucket. */
const SHARES_MAX = 10_000;

export interface ModeChannelsOptions {
  readonly url: string;
  readonly key: string;
  readonly timeoutMs: number | undefined;
  /** Addresses that each live account, and test mode as a whole, may have looked up in a second. */
  readonly sharePerSecond: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/**
 * The way to the provider of one mode: what fails or waits on it is not noticed on the other. The provider counts the
 * requests of all together, and refuses everyone's beyond its own limit: so each account has a share, and test mode,
 * where anyone can be any number of accounts, has one as a whole.
 */
export class Channel {
  readonly api: SanctionsApi;
  readonly circuit: Circuit;
  /** By address. */
  readonly pending = new Map<string, Promise<Finding | null>>();
  readonly #ofAccount = new Map<string, number>();
  readonly #shares = boundedCache<string, TokenBucket>(SHARES_MAX);
  readonly #livemode: boolean;
  readonly #capacity: Capacity;
  readonly #sharePerSecond: number;
  readonly #now: () => number;

  constructor({ url, key, timeoutMs, sharePerSecond, now }: ModeChannelsOptions, livemode: boolean) {
    this.#livemode = livemode;
    this.#capacity = livemode ? LIVE : TEST;
    this.#sharePerSecond = sharePerSecond;
    this.#now = now;
    this.api = new SanctionsApi(url, key, this.#capacity.connections, timeoutMs);
    this.circuit = new Circuit(now);
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
        limited: hasItsShare || !this.#livemode,
      });
    if (this.circuit.isOpen)
      throw new ScreeningUnavailableError('the sanctions API does not respond', {
        retryAfterSeconds: this.circuit.retryAfterSeconds,
      });
    if (this.#shareOf(this.#livemode ? account : 'test').take(1, this.#now()).tokens === 0)
      throw new ScreeningUnavailableError('too many addresses of the account, or of test mode, were looked up', {
        retryAfterSeconds: 1,
        limited: true,
      });
    this.circuit.begin();
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

  #shareOf(name: string): TokenBucket {
    let share = this.#shares.get(name);
    const quota = { requests: this.#sharePerSecond * SHARE_SECONDS, windowSeconds: SHARE_SECONDS };
    if (!share) this.#shares.set(name, (share = new TokenBucket(quota, this.#now())));
    return share;
  }
}

/** The channels of both modes. */
export class ModeChannels {
  readonly #live: Channel;
  readonly #test: Channel;

  constructor(options: ModeChannelsOptions) {
    this.#live = new Channel(options, true);
    this.#test = new Channel(options, false);
  }

  of({ livemode }: ScreeningOrigin): Channel {
    return livemode ? this.#live : this.#test;
  }

  async close(): Promise<void> {
    await Promise.all([this.#live.api.close(), this.#test.api.close()]);
  }
}
