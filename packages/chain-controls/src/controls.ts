/** Which payment a control waits for: all that is given must hold; nothing given means the next one. */
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

/** A payment that something was done to. */
export interface AffectedPayment extends Payment {
  /** What was done, in the chain's words. */
  readonly how: string;
  /** From when on it is proven that the payment can never land, where that takes until a given time; null: at once. */
  readonly provenFrom: Date | null;
}

/**
 * Something that waits for a payment. It ends when that came, when it is ended, or with a ControlError where somebody
 * else healed the chain.
 */
export interface Armed<T> {
  /** null: it was ended before. */
  readonly done: Promise<T | null>;
  /** Stops waiting; the chain goes on as it did. May be called at any time, also twice. */
  end(): Promise<void>;
}

/** A payment that is in a block, on a chain that stands still: it is confirmed and not yet final. */
export interface Held extends Payment {
  /** Takes back its block, and those after it; the chain goes on. */
  orphan(options: ReorgOptions): Promise<Orphaned>;
  /** The chain goes on as if nothing had been. */
  release(): Promise<void>;
}

export interface ReorgOptions {
  /** What was in the blocks can never land again; otherwise it waits for the next block at once. */
  readonly lose: boolean;
}

/** Blocks that never were. */
export interface Orphaned {
  readonly blocks: number;
  /** What was in them, oldest first. */
  readonly transactions: readonly string[];
  /** Where they are lost: how long it takes until that is proven; 0: some blocks. */
  readonly provenWithinSeconds: number;
}

export interface ChainState {
  /** What serves the chain. */
  readonly node: string;
  /** Height of the newest block, or slot. */
  readonly head: number;
  readonly final: number;
  /** held: somebody keeps blocks from coming by themselves. */
  readonly clock: 'running' | 'held';
  /**
   * In words, what waits for a payment; on EVM chains whoever armed it waits, and the node knows only that it is held.
   */
  readonly armed: readonly string[];
}

/**
 * A hand on a local chain. The same verbs mean the same on each; what a chain cannot do is refused with a ControlError
 * that says why. What is armed on an EVM chain lives as long as this process: its blocks are made from here meanwhile.
 */
export interface ChainControls {
  /** The payment vanishes on its way, though its node took it, and can never land. */
  drop(aim: PaymentFilter): Promise<Armed<AffectedPayment>>;
  /** The payment was good when it was simulated, gets into a block, and fails there. */
  fail(aim: PaymentFilter): Promise<Armed<AffectedPayment>>;
  /** The payment gets into a block, and then the chain stands still, until `orphan` or `release`. */
  hold(aim: PaymentFilter): Promise<Armed<Held>>;
  /** The newest blocks never were. @param depth how many; null: all that are not final */
  reorg(depth: number | null, options: ReorgOptions): Promise<Orphaned>;
  /** Nothing gets into a block until the returned function is called. */
  stall(): Promise<() => Promise<void>>;
  /** Everything so far is final. @returns the final height */
  finalize(): Promise<number>;
  /** Ends whatever was armed or is held, by whomever. */
  heal(): Promise<void>;
  state(): Promise<ChainState>;
}
