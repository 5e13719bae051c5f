import { stat } from 'node:fs/promises';
import type { Logger } from '@pf/runtime';
import { comparable, comparableOf } from '../comparable.ts';
import { type Finding, type ScreenedWallet, type Screener, ScreeningUnavailableError } from '../port.ts';
import { readListFile, type SanctionsList } from './list-file.ts';

/** An older list is not used (docs/reference/contract.md). */
const STALE_AFTER_MS = 48 * 3_600_000;
/** From this age on a warning is logged every hour. */
const WARN_AFTER_MS = 36 * 3_600_000;
const WARN_EVERY_MS = 3_600_000;
/** Machines' clocks differ; a list from further in the future would never become stale. */
const AHEAD_MS = 600_000;
/** How often the file is checked. */
const CHECK_EVERY_MS = 1_000;

export interface ListScreenerOptions {
  readonly file: string;
  readonly log: Logger;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

interface Loaded {
  readonly fetchedAt: number;
  /** By comparable address. */
  readonly findings: ReadonlyMap<string, Finding>;
}

/**
 * The list in memory. A new file is taken when it is there; while it cannot be read, the last one that could stays in
 * use until it is too old.
 */
export class ListScreener implements Screener {
  readonly #file: string;
  readonly #log: Logger;
  readonly #now: () => number;
  #loaded: Loaded | null = null;
  /** The version of the file that was read last, valid or not. */
  #seen = '';
  #lookedAt = Number.NEGATIVE_INFINITY;
  #look: Promise<void> | null = null;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor({ file, log, now = Date.now }: ListScreenerOptions) {
    this.#file = file;
    this.#log = log;
    this.#now = now;
  }

  async find(wallet: ScreenedWallet): Promise<Finding | null> {
    if (this.#now() - this.#lookedAt >= CHECK_EVERY_MS || this.#loaded === null) {
      this.#look ??= this.#lookForNew().finally(() => (this.#look = null));
      await this.#look;
    }
    return this.#inForce().findings.get(comparableOf(wallet)) ?? null;
  }

  async close(): Promise<void> {}

  #inForce(): Loaded {
    if (!this.#loaded) throw new ScreeningUnavailableError('there is no sanctions list', { retryAfterSeconds: 60 });
    const age = this.#now() - this.#loaded.fetchedAt;
    if (age > STALE_AFTER_MS || age < -AHEAD_MS)
      throw new ScreeningUnavailableError(
        [
          `the sanctions list was fetched at ${new Date(this.#loaded.fetchedAt).toISOString()},`,
          `which is ${age > 0 ? 'too long ago' : 'in the future'}`,
        ].join(' '),
        { retryAfterSeconds: 60 },
      );
    if (age > WARN_AFTER_MS && this.#now() - this.#warnedAt > WARN_EVERY_MS) {
      this.#warnedAt = this.#now();
      this.#log.warn(
        { alarm: 'sanctions_list_old', fetchedAt: new Date(this.#loaded.fetchedAt).toISOString() },
        'the sanctions list is becoming stale: after 48 hours every screening is refused. Run `pf sanctions update`.',
      );
    }
    return this.#loaded;
  }

  async #lookForNew(): Promise<void> {
    let seen = '';
    try {
      const { mtimeMs, size, ino } = await stat(this.#file);
      seen = `${mtimeMs} ${size} ${ino}`;
      if (seen === this.#seen) return;
      const list = await readListFile(this.#file);
      this.#loaded = { fetchedAt: Date.parse(list.fetchedAt), findings: findingsOf(list) };
      this.#log.info(
        { file: this.#file, addresses: list.count, fetchedAt: list.fetchedAt, publishedOn: list.publishedOn },
        'the sanctions list was read',
      );
    } catch (error) {
      // Once for each unusable version of the file. The last good list stays in use until it is stale.
      if (seen !== this.#seen || this.#lookedAt === Number.NEGATIVE_INFINITY)
        this.#log.error(
          { alarm: 'sanctions_list_unreadable', file: this.#file, err: error },
          'the sanctions list cannot be read',
        );
    } finally {
      this.#seen = seen;
      this.#lookedAt = this.#now();
    }
  }
}

const findingsOf = ({ addresses }: SanctionsList): ReadonlyMap<string, Finding> =>
  new Map(
    addresses.map(({ address, label, uid, name }) => [
      comparable(address),
      { part: 'list', label, uid, name } as const,
    ]),
  );
