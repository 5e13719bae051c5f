import { pause } from '@pf/runtime';
import type { Work } from './work.ts';

/** What was learned of a plan is forgotten after this time: plans change, and others may use the same one. */
export const LEARNED_MS = 60 * 60_000;
/**
 * Of the rate, this much is used evenly and this much at once, so that no second has more calls, wherever it begins.
 */
const EVEN = 0.75;
const AT_ONCE = 0.2;
const SLACK_MS = 50;
/** A pair of calls that belong together stays one request at any rate. */
const AT_ONCE_MIN = 2;
/** Pauses where a provider does not say how long: doubled each time. And the longest, whatever it says. */
const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 60_000;
/** A learned rate in calls a second: the lowest, the lowest to begin with, and its changes. */
const RATE_MIN = 1;
const RATE_FIRST = 10;
const SLOWER = 0.75;
const FASTER = 1.02;
/** An upstream whose calls wait this long is asked after others. */
const BACKLOG_MS = 250;

/** What a bucket has. */
export interface Budget {
  readonly callsPerSecond?: number | undefined;
  readonly creditsPerSecond?: number | undefined;
}

/** Calls that wait for their turn. */
interface Waiting {
  readonly credits: readonly number[];
  readonly work: Work;
  readonly resolve: (isInTime: boolean) => void;
}

/** Urgent ones first, then by their deadlines; of one work in the order in which they came. */
const byTurn = ({ work: a }: Waiting, { work: b }: Waiting): number =>
  a.isUrgent === b.isUrgent ? a.deadline - b.deadline : a.isUrgent ? -1 : 1;

/**
 * A bucket of calls to one upstream. Calls take turns at the configured rate, or at the rate that is learned from
 * refusals: down at once, slowly up, and forgotten after an hour. After a refusal all wait for as long as the upstream
 * says. The earliest deadline goes first: work that has begun is finished before newer work takes its turns, as where
 * all advance alike, none may end in time. Times are of performance.now(), in ms.
 */
export class Pace {
  readonly #callsPerSecond: number;
  readonly #creditsPerSecond: number;
  /** When the calls that had their turn have used up their share. */
  #usedUntil = 0;
  #pausedUntil = 0;
  /** In the order of their turns. */
  #waiting: readonly Waiting[] = [];
  #isServing = false;
  /** Refusals since the last call that was not refused. */
  #refusals = 0;
  #learned: { readonly rate: number; readonly at: number; readonly until: number } | null = null;
  /** Calls that passed in this second and in the one before. */
  #passed = { second: 0, now: 0, before: 0 };

  /** @param budget of the plan; what is not known: as much as there is, until the upstream refuses some */
  constructor({ callsPerSecond = Number.POSITIVE_INFINITY, creditsPerSecond = Number.POSITIVE_INFINITY }: Budget = {}) {
    this.#callsPerSecond = callsPerSecond;
    this.#creditsPerSecond = creditsPerSecond;
  }

  /** Calls a second. */
  get rate(): number {
    if (this.#learned !== null && performance.now() >= this.#learned.until) this.#learned = null;
    return Math.min(this.#learned?.rate ?? Number.POSITIVE_INFINITY, this.#callsPerSecond);
  }
  /** How many of these calls fit into one request. @param credits what each costs */
  most(credits: readonly number[]): number {
    let ms = 0;
    for (const [place, each] of credits.entries()) {
      ms += this.#costOf([each]);
      const isMuch = ms * EVEN > (place < AT_ONCE_MIN ? 1 : AT_ONCE) * 1_000;
      if (place > 0 && isMuch) return place;
    }
    return credits.length;
  }
  /** How many calls have their turn within this time, at least one. @param credits what each costs */
  callsIn(ms: number, credits: number): number {
    return Math.max(1, Math.floor(ms / this.#costOf([credits])));
  }
  isPaused(now: number): boolean {
    return now < this.#pausedUntil;
  }
  /** Its calls wait, so that others had better be asked. */
  isBusy(now: number): boolean {
    const backlog = this.#waiting.reduce((ms, { credits }) => ms + this.#costOf(credits), this.#usedUntil - now);
    return this.isPaused(now) || backlog > BACKLOG_MS;
  }

  /**
   * Waits for the turn of these calls. @returns false, at once, where that is later than the work may wait
   * @param credits what each call costs
   */
  async take(credits: readonly number[], work: Work): Promise<boolean> {
    const now = performance.now();
    const isFree = this.#waiting.length === 0 && this.#usedUntil - SLACK_MS <= now;
    if (!this.isPaused(now) && (work.isUrgent || isFree)) {
      this.#use(credits);
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting = [...this.#waiting, { credits, work, resolve }].sort(byTurn);
    this.#turnAway();
    if (!this.#isServing) void this.#serve();
    return promise;
  }

  /** Calls that were not refused. */
  passed(calls: number): void {
    const now = performance.now();
    const second = Math.floor(now / 1_000);
    const { second: last, now: count } = this.#passed;
    const before = second === last + 1 ? count : 0;
    this.#passed = second === last ? { ...this.#passed, now: count + calls } : { second, now: calls, before };
    if (calls > 0) this.#refusals = 0;
    if (this.#learned !== null && now - this.#learned.at >= 1_000)
      this.#learned = { ...this.#learned, rate: this.#learned.rate * FASTER, at: now };
  }

  /**
   * The upstream refused calls because of their number.
   * @param askedMs the pause that it asks for; null where it does not say
   * @returns the pause in ms; null where it had begun already
   */
  refused(askedMs: number | null): number | null {
    const now = performance.now();
    const wasPaused = this.isPaused(now);
    if (!wasPaused) this.#refusals += 1;
    const ms = askedMs === null ? PAUSE_MIN_MS * 2 ** (this.#refusals - 1) : Math.max(askedMs, PAUSE_MIN_MS);
    // Never shorter than it asks for; different in each process.
    const until = now + Math.min(ms, PAUSE_MAX_MS) * (1 + Math.random() / 4);
    this.#pausedUntil = Math.max(this.#pausedUntil, until);
    this.#usedUntil = this.#pausedUntil;
    if (!wasPaused) this.#slowDown(now);
    this.#turnAway();
    if (wasPaused) return null;
    return this.#pausedUntil - now;
  }

  #slowDown(now: number): void {
    const passed = Math.max(this.#passed.now, this.#passed.before);
    const { rate } = this;
    const slower = Number.isFinite(rate) ? rate * SLOWER : Math.max(passed, RATE_FIRST);
    this.#learned = { rate: Math.max(RATE_MIN, slower), at: now, until: now + LEARNED_MS };
  }

  /** Gives those who wait their turns, one after the other. */
  async #serve(): Promise<void> {
    this.#isServing = true;
    for (;;) {
      this.#turnAway();
      const [first] = this.#waiting;
      if (first === undefined) break;
      const turn = this.#turnOf(first, this.#usedUntil);
      const now = performance.now();
      if (turn > now) {
        await pause(turn - now);
        continue;
      }
      this.#waiting = this.#waiting.slice(1);
      this.#use(first.credits);
      first.resolve(true);
    }
    this.#isServing = false;
  }

  /** Those who would wait for too long by now. */
  #turnAway(): void {
    const isPaused = this.isPaused(performance.now());
    let usedUntil = Math.max(this.#usedUntil, performance.now());
    this.#waiting = this.#waiting.filter((one) => {
      if ((isPaused && one.work.canMoveOn) || this.#turnOf(one, usedUntil) > one.work.deadline) {
        one.resolve(false);
        return false;
      }
      if (!one.work.isUrgent) usedUntil += this.#costOf(one.credits);
      return true;
    });
  }

  /** @param usedUntil when the calls before these have used up their share */
  #turnOf({ work }: Waiting, usedUntil: number): number {
    return Math.max(this.#pausedUntil, work.isUrgent ? 0 : usedUntil - SLACK_MS);
  }

  #use(credits: readonly number[]): void {
    this.#usedUntil = Math.max(this.#usedUntil, performance.now()) + this.#costOf(credits);
  }

  /** The ms of the budget that calls use. */
  #costOf(credits: readonly number[]): number {
    const all = credits.reduce((sum, each) => sum + each, 0);
    return (Math.max(credits.length / this.rate, all / this.#creditsPerSecond) * 1_000) / EVEN;
  }
}
