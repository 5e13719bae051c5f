/** Which payment a control waits for: every given field must match; without fields, the next payment. */
export interface PaymentFilter {
  /** Who signs and pays for it. */
  readonly payer?: string;
  /** The reference of its intent. */
  readonly reference?: string;
}

/** A payment as the chain shows it. */
export interface Payment {
  readonly hash: string;
  readonly payer: string;
  /** null: it carries none. */
  readonly reference: string | null;
}

/** A payment that met an injected fault. */
export interface AffectedPayment extends Payment {
  /** The effect, in the chain's terms. */
  readonly how: string;
  /** From when on it is proven that the payment can never land, where that takes until a given time; null: at once. */
  readonly provenFrom: Date | null;
}

/**
 * A fault that waits for its payment. It ends with that payment, with `end`, or with a ControlError when another
 * process healed the chain.
 */
export interface Armed<T> {
  /** null: it was ended before. */
  readonly done: Promise<T | null>;
  /** Stops waiting and leaves the chain unchanged. Idempotent. */
  end(): Promise<void>;
}

/** A payment in a block of a chain that is paused: confirmed and not yet finalized. */
export interface Held extends Payment {
  /** Removes its block and those after it by a reorg; the chain continues. */
  orphan(options: ReorgOptions): Promise<Orphaned>;
  /** Lets the chain continue unchanged. */
  release(): Promise<void>;
}

export interface ReorgOptions {
  /** Whether the removed transactions can never land again; otherwise they land in the next block. */
  readonly lose: boolean;
}

/** Blocks that a reorg removed. */
export interface Orphaned {
  readonly blocks: number;
  /** Hashes of their transactions, oldest first. */
  readonly transactions: readonly string[];
  /** For lost transactions: seconds until the loss is proven; 0: some blocks. */
  readonly provenWithinSeconds: number;
}

export interface ChainState {
  /** What serves the chain. */
  readonly node: string;
  /** Height of the newest block, or slot. */
  readonly head: number;
  readonly final: number;
  /** held: a control keeps blocks from being produced. */
  readonly clock: 'running' | 'held';
  /**
   * In words, what waits for a payment; on EVM chains whoever armed it waits, and the node knows only that it is held.
   */
  readonly armed: readonly string[];
}

/**
 * Fault injection for a local chain. Every control means the same on each chain; an unsupported one throws a
 * ControlError that says why. On EVM chains a fault ends with this process, which produces the blocks meanwhile.
 */
export interface ChainControls {
  /** The node accepts the payment, but it never lands. */
  drop(filter: PaymentFilter): Promise<Armed<AffectedPayment>>;
  /** The payment passes its simulation, gets into a block and fails there. */
  fail(filter: PaymentFilter): Promise<Armed<AffectedPayment>>;
  /** The payment gets into a block, then the chain pauses until `orphan` or `release`. */
  hold(filter: PaymentFilter): Promise<Armed<Held>>;
  /** Removes the newest blocks. @param depth how many; null: all that are not finalized */
  reorg(depth: number | null, options: ReorgOptions): Promise<Orphaned>;
  /** Keeps transactions out of blocks until the returned function is called. */
  stall(): Promise<() => Promise<void>>;
  /** Finalizes every block. @returns the finalized height */
  finalize(): Promise<number>;
  /** Ends every fault and pause, of any process. */
  heal(): Promise<void>;
  state(): Promise<ChainState>;
}
