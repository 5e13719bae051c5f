import { Lack } from './lack.ts';
import type { TransportNode } from './node.ts';

/** A circuit stays open this long after the first failure, twice as long after each further one, up to the maximum. */
const OPEN_MS = 1_000;
const OPEN_MAX_MS = 30_000;
/** How long an identification is trusted, and how long an upstream of the wrong network is not asked. */
const IDENTITY_MS = 300_000;
const EXCLUDED_MS = 60_000;
/** An upstream lags when it reports a head that others have passed at least this long ago. */
const LAG_MS = 3_000;
/** An upstream is probed when its last head is older than this. */
const HEAD_DUE_MS = 5_000;
/** A head older than this says nothing about the upstream any more. */
const HEAD_STALE_MS = 15_000;
/** An upstream that has failed for so long does not count among those that have to respond. */
const LONG_DOWN_MS = 600_000;

/**
 * One upstream of a pool and its recent health: failures, how far its head lags, and whether it serves the right
 * network. Times are of one clock, in ms.
 */
export class Upstream {
  readonly node: TransportNode;
  #failures = 0;
  /** Since when it has not done any work: failed, or refused calls because of their number. */
  #failingSince: number | null = null;
  /** While there are failures: from then on a probe may close the circuit. */
  #openUntil = 0;
  readonly #lack = new Lack();
  #lagMs = 0;
  #headAt = Number.NEGATIVE_INFINITY;
  #identifiedUntil = Number.NEGATIVE_INFINITY;
  #excludedUntil = Number.NEGATIVE_INFINITY;

  constructor(node: TransportNode) {
    this.node = node;
  }

  /** Its last request failed. */
  get isOpen(): boolean {
    return this.#failures > 0;
  }
  get isLagging(): boolean {
    return this.#lagMs > LAG_MS;
  }
  /** It refuses reads because of their number. */
  isPaused(now: number): boolean {
    return this.node.reads.isPaused(now);
  }
  isUp(now: number): boolean {
    return !this.isOpen && !this.isLagging && !this.isPaused(now) && !this.isExcluded(now);
  }
  /**
   * Lower is better: 0 for a healthy upstream, more for one whose reads wait, that lags, or that lacks what work here
   * needs, most for a failed one, by when it may be retried.
   */
  rank(now: number): number {
    if (this.isOpen) return 8 + this.#openUntil;
    return (this.#lack.isKnown(now) ? 4 : 0) + (this.isLagging ? 2 : 0) + (this.node.reads.isBusy(now) ? 1 : 0);
  }
  isExcluded(now: number): boolean {
    return now < this.#excludedUntil;
  }
  isIdentified(now: number): boolean {
    return now < this.#identifiedUntil;
  }
  /**
   * Whether it counts among those that have to respond before something is concluded: not where it has been down for
   * long, or lacks a method or a history again and again.
   */
  isAwaited(now: number): boolean {
    const isLongDown = this.#failingSince !== null && now - this.#failingSince > LONG_DOWN_MS;
    return !this.isExcluded(now) && !isLongDown && !this.#lack.isLasting(now);
  }
  /** Whether it is time for a cheap call that finds out how it does. */
  isProbeDue(now: number): boolean {
    if (this.isExcluded(now) || this.isPaused(now)) return false;
    return this.isOpen ? now >= this.#openUntil : now - this.#headAt >= HEAD_DUE_MS;
  }

  /** Whether it may have begun to lag unnoticed. */
  isHeadStale(now: number): boolean {
    return !this.isOpen && !this.isExcluded(now) && !this.isPaused(now) && now - this.#headAt >= HEAD_STALE_MS;
  }

  identified(now: number): void {
    this.#identifiedUntil = now + IDENTITY_MS;
  }
  /** Its network is identified again before its next call. */
  forgetIdentity(): void {
    this.#identifiedUntil = Number.NEGATIVE_INFINITY;
  }
  excluded(now: number): void {
    this.#excludedUntil = now + EXCLUDED_MS;
  }
  /** @param lagMs for how long others had had a newer head. @returns true where it has begun or stopped lagging */
  headReported(lagMs: number, now: number): boolean {
    const before = this.isLagging;
    this.#headAt = now;
    this.#lagMs = lagMs;
    return before !== this.isLagging;
  }
  succeeded(): void {
    this.#failures = 0;
    this.#failingSince = null;
  }
  /** Work failed that needs a method or a history that it does not have: it is asked last while that is known. */
  lacked(now: number): void {
    this.#lack.learned(now);
  }
  /** It may respond to other calls: its circuit stays closed. */
  throttled(now: number): void {
    this.#failingSince ??= now;
  }
  /** After a failure another node may respond at the same URL: its network is identified again. */
  failed(now: number): void {
    this.#failingSince ??= now;
    this.#failures += 1;
    this.forgetIdentity();
    const openMs = Math.min(OPEN_MS * 2 ** (this.#failures - 1), OPEN_MAX_MS);
    this.#openUntil = now + openMs * (0.8 + 0.4 * Math.random());
  }
}
