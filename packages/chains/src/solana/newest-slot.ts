import { type RpcNode, RpcUpstreamError } from '@pf/rpc';

/** A blockhash is dead by then: what was seen before refuses nothing any more, should it have been wrong. */
const FORGOTTEN_MS = 60_000;

/**
 * The newest confirmed slot that a build has seen, on any node. A node that has not reached it cannot tell whether a
 * blockhash has expired or is too new for it.
 */
export class NewestSlot {
  #slot = 0n;
  #seenAt = Number.NEGATIVE_INFINITY;

  saw(slot: bigint): void {
    const now = performance.now();
    if (slot < this.#slot && now - this.#seenAt < FORGOTTEN_MS) return;
    this.#slot = slot;
    this.#seenAt = now;
  }

  /** @throws RpcUpstreamError for a node whose bank at this slot is older */
  requireReached(node: RpcNode, slot: bigint): void {
    const isKnown = performance.now() - this.#seenAt < FORGOTTEN_MS;
    if (isKnown && slot < this.#slot)
      throw new RpcUpstreamError(`${node.name} is at slot ${slot}, behind ${this.#slot}`, 'no');
  }
}
