import { RpcBehindError, type RpcNode } from '@pf/rpc';
import { BlockPace } from './block-pace.ts';

/** A blockhash is dead by then: what was seen before refuses nothing any more, should it have been wrong. */
const FORGOTTEN_MS = 60_000;

/**
 * The newest block (on Solana: confirmed slot) that a build has seen, on any node. A node that has not reached it
 * cannot tell what a payer lacks: it may not have the blockhash, the nonce or the money that the build was based on.
 */
export class NewestHead {
  #head = 0n;
  #seenAt = Number.NEGATIVE_INFINITY;

  saw(head: bigint): void {
    const now = performance.now();
    if (head < this.#head && now - this.#seenAt < FORGOTTEN_MS) return;
    this.#head = head;
    this.#seenAt = now;
  }

  /** @throws RpcBehindError for a node whose state is of an earlier block or slot */
  requireReached(node: RpcNode, head: bigint): void {
    const isKnown = performance.now() - this.#seenAt < FORGOTTEN_MS;
    if (isKnown && head < this.#head) throw new RpcBehindError(`${node.name} is at ${head}, behind ${this.#head}`);
  }
}

/** The newest block of a chain whose builds count in blocks what is meant in time. */
export class PacedHead extends NewestHead {
  readonly pace: BlockPace;

  /** @param blockMs between blocks, until it is measured */
  constructor(blockMs: number) {
    super();
    this.pace = new BlockPace(blockMs);
  }

  override saw(head: bigint): void {
    super.saw(head);
    this.pace.saw(head);
  }
}
