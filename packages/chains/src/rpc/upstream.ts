import type { RpcNode } from './node.ts';

/** A circuit stays open for this long after the first failure, twice as long after each further one, up to the maximum. */
const OPEN_MS = 1_000;
const OPEN_MAX_MS = 30_000;
/** How long an upstream's network is taken for granted, and how long a wrong one is left alone. */
const IDENTITY_MS = 300_000;
const EXCLUDED_MS = 60_000;

/** One upstream of a pool and what is remembered of it: how it did lately, and whether it serves the right network. */
export class Upstream {
  readonly node: RpcNode;
  #failures = 0;
  #openUntil = 0;
  #identifiedUntil = 0;
  #excludedUntil = 0;

  constructor(node: RpcNode) {
    this.node = node;
  }

  /** When it may be asked with good hope: 0 while it does well. */
  get openUntil(): number {
    return this.#openUntil;
  }
  isExcluded(now: number): boolean {
    return now < this.#excludedUntil;
  }
  isIdentified(now: number): boolean {
    return now < this.#identifiedUntil;
  }

  identified(now: number): void {
    this.#identifiedUntil = now + IDENTITY_MS;
  }
  excluded(now: number): void {
    this.#excludedUntil = now + EXCLUDED_MS;
  }
  succeeded(): void {
    this.#failures = 0;
    this.#openUntil = 0;
  }
  /** What answers there after a failure may be another node: its network is asked again. */
  failed(now: number): void {
    this.#failures += 1;
    this.#identifiedUntil = 0;
    const openMs = Math.min(OPEN_MS * 2 ** (this.#failures - 1), OPEN_MAX_MS);
    this.#openUntil = now + openMs * (0.8 + 0.4 * Math.random());
  }
}
