import type { TransactionHash } from '@pf/domain';
import type { Block } from '../../evm/calls.ts';

/** After this a newer block is chosen, should no other upstream have this one. */
const CHOSEN_FOR_MS = 600_000;

/**
 * The final block at which each expired transaction is proven absent. It is the first one that was seen after the
 * transaction's end, and stays: so an upstream that is always some blocks behind has it too, soon after.
 */
export class ProofBlocks {
  readonly #chosen = new Map<TransactionHash, { readonly block: Block; readonly at: number }>();

  /** @param final the newest final block */
  of(hash: TransactionHash, final: Block, now: number): Block {
    const chosen = this.#chosen.get(hash);
    if (chosen !== undefined && now - chosen.at < CHOSEN_FOR_MS) return chosen.block;
    this.#chosen.set(hash, { block: final, at: now });
    return final;
  }
  /** Forgets the transactions that are no longer pending. */
  keep(pending: ReadonlySet<TransactionHash>): void {
    for (const hash of this.#chosen.keys()) if (!pending.has(hash)) this.#chosen.delete(hash);
  }
  /** The chain has other blocks now. */
  clear(): void {
    this.#chosen.clear();
  }
}
