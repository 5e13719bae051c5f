import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/** A blockhash is taken while the block height is at most so much above its own. */
export const LIFETIME = 150;

/** Blocks from `height` on have other hashes than before a fork. */
export interface Fork {
  readonly height: number;
  readonly salt: string;
}

/**
 * The blockhashes of a ledger: the hash of a fork's salt and a height, so that none has to be kept and all survive a
 * restart.
 */
export class Blockhashes {
  readonly #forks: Fork[];

  /** @param forks in the order they happened; the first begins at height 0 */
  constructor(forks: readonly Fork[]) {
    this.#forks = [...forks];
  }

  at(height: number): string {
    const fork = this.#forks.findLast((one) => one.height <= height);
    return base58.encode(createHash('sha256').update(`${fork?.salt} ${height}`).digest());
  }
  /**
   * The height of a blockhash that a block of height `head` still takes; null: unknown, too old, or from a lost fork.
   */
  heightOf(blockhash: string, head: number): number | null {
    for (let height = head; height >= Math.max(0, head - LIFETIME); height -= 1)
      if (this.at(height) === blockhash) return height;
    return null;
  }
  get forks(): readonly Fork[] {
    return this.#forks;
  }
  /** All blocks from this height on are others. */
  fork(fork: Fork): void {
    this.#forks.push(fork);
  }
}
