import { type RpcNode, RpcUpstreamError } from '@pf/rpc';

/**
 * The newest confirmed slot that a build has seen, on any node. A node that has not reached it cannot tell whether a
 * blockhash has expired or is too new for it.
 */
export class NewestSlot {
  #slot = 0n;

  saw(slot: bigint): void {
    if (slot > this.#slot) this.#slot = slot;
  }

  /** @throws RpcUpstreamError for a node whose bank at this slot is older */
  requireReached(node: RpcNode, slot: bigint): void {
    if (slot < this.#slot) throw new RpcUpstreamError(`${node.name} is at slot ${slot}, behind ${this.#slot}`, 'no');
  }
}
