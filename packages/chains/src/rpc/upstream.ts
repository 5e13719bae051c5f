import type { RpcNode } from './node.ts';

/** A circuit stays open for this long after the first failure, twice as long after each further one, up to the maximum. */
const OPEN_MS = 1_000;
const OPEN_MAX_MS = 30_000;
/** How long an upstream's network is taken for granted, and how long a wrong one is left alone. */
const IDENTITY_MS = 300_000;
const EXCLUDED_MS = 60_000;
/** One that shows a head which others had so long before lags. */
const LAG_MS = 3_000;
/** One whose head was not heard of for so long is asked for it. */
const HEARD_MS = 5_000;
/** What was known of a head so long ago is worth nothing. */
const STALE_MS = 15_000;
/** One that has not answered for so long is not waited for any more where all have to be heard. */
const GONE_MS = 600_000;

/** One upstream of a pool and what is remembered of it: how it did lately, how far its head lags, and whether it serves the right network. Times are of one clock, in ms. */
export class Upstream {
  readonly node: RpcNode;
  #failures = 0;
  #failingSince = 0;
  /** While there are failures: from then on a probe may close the circuit. */
  #openUntil = 0;
  #lagMs = 0;
  #heardAt = Number.NEGATIVE_INFINITY;
  #identifiedUntil = Number.NEGATIVE_INFINITY;
  #excludedUntil = Number.NEGATIVE_INFINITY;

  constructor(node: RpcNode) {
    this.node = node;
  }

  /** It gave no answer the last time. */
  get isOpen(): boolean {
    return this.#failures > 0;
  }
  get isLagging(): boolean {
    return this.#lagMs > LAG_MS;
  }
  /** The lower, the better hope: 0 for what does well, 1 for what lags, more for what did not answer, by when it may be tried again. */
  get rank(): number {
    return this.isOpen ? 2 + this.#openUntil : Number(this.isLagging);
  }
  isExcluded(now: number): boolean {
    return now < this.#excludedUntil;
  }
  isIdentified(now: number): boolean {
    return now < this.#identifiedUntil;
  }
  isGone(now: number): boolean {
    return this.isOpen && now - this.#failingSince > GONE_MS;
  }
  /** Whether one cheap question is to find out how it does. */
  isProbeDue(now: number): boolean {
    return !this.isExcluded(now) && (this.isOpen ? now >= this.#openUntil : now - this.#heardAt >= HEARD_MS);
  }

  /** Whether it may lag by now without anybody having noticed. */
  isUnheard(now: number): boolean {
    return !this.isOpen && !this.isExcluded(now) && now - this.#heardAt >= STALE_MS;
  }

  identified(now: number): void {
    this.#identifiedUntil = now + IDENTITY_MS;
  }
  /** Its network is looked at before it is asked anything else. */
  unidentified(): void {
    this.#identifiedUntil = Number.NEGATIVE_INFINITY;
  }
  excluded(now: number): void {
    this.#excludedUntil = now + EXCLUDED_MS;
  }
  /** @param lagMs for how long others had had a newer head. @returns true where it has begun or ceased to lag */
  heard(lagMs: number, now: number): boolean {
    const before = this.isLagging;
    this.#heardAt = now;
    this.#lagMs = lagMs;
    return before !== this.isLagging;
  }
  succeeded(): void {
    this.#failures = 0;
  }
  /** What answers there after a failure may be another node: its network is asked again. */
  failed(now: number): void {
    if (this.#failures === 0) this.#failingSince = now;
    this.#failures += 1;
    this.unidentified();
    const openMs = Math.min(OPEN_MS * 2 ** (this.#failures - 1), OPEN_MAX_MS);
    this.#openUntil = now + openMs * (0.8 + 0.4 * Math.random());
  }
}
