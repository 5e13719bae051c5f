import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';

/** A blockhash is valid until the block height is this much above its own. */
export const LIFETIME = 150;

/** From `height` on, blocks have other hashes than before the fork. */
export interface Fork {
  readonly height: number;
  readonly salt: string;
}

/**
 * The blockhashes of a ledger: each is the hash of a fork's salt and a height, so that none has to be stored and all
 * survive a restart.
 */
export class Blockhashes {
  readonly #forks: Fork[];

  /** @param forks in the order in which they happened; the first starts at height 0 */
  constructor(forks: readonly Fork[]) {
    this.#forks = [...forks];
  }

  at(height: number): string {
    const fork = this.#forks.findLast((one) => one.height <= height);
    return base58.encode(createHash('sha256').update(`${fork?.salt} ${height}`).digest());
  }
  /**
   * The height of a blockhash that is valid in a block of height `head`; null: unknown, expired, or of an abandoned
   * fork.
   */
  heightOf(blockhash: string, head: number): number | null {
    for (let height = head; height >= Math.max(0, head - LIFETIME); height -= 1)
      if (this.at(height) === blockhash) return height;
    return null;
  }
  get forks(): readonly Fork[] {
    return this.#forks;
  }
  /** Starts a fork: all blocks from this height on get other hashes. */
  fork(fork: Fork): void {
    this.#forks.push(fork);
  }
}
