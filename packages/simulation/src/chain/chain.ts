import type { Address, ChainId, Reference, TokenAddress, TransactionHash } from '@pf/domain';
import type { ChainKernel } from './kernel.ts';
import { type Payment, read, type SimulatedTransaction } from './transaction.ts';

/** How blocks come and how transactions get into them. Times in ms. */
export interface ChainOptions {
  readonly chain: ChainId;
  readonly blockMs: number;
  /** The age from which a block is `safe`, and `finalized`. No reorg reaches a final block. */
  readonly safeMs: number;
  readonly finalMs: number;
}

/** What goes wrong on the chain itself. */
export interface ChainFaults {
  /** Mean time between reorgs; null: none. */
  readonly reorgEveryMs: number | null;
  /** The deepest reorg, in blocks. Beyond `safe` only where a chain breaks its own rules. */
  readonly reorgDepth: number;
  /** A submitted transaction waits this long before it lands, instead of a few blocks. */
  readonly late: { readonly chance: number; readonly ms: number };
  /** A node accepts a transaction, and every pool forgets it. */
  readonly forgotten: number;
  /** A replaced transaction stays in some block builder's pool: either of the two may land. */
  readonly replacedSurvives: number;
}

export const CALM: ChainFaults = {
  reorgEveryMs: null,
  reorgDepth: 0,
  late: { chance: 0, ms: 0 },
  forgotten: 0,
  replacedSurvives: 0,
};

/** The node's refusal of a transaction or a call, as JSON-RPC has it. */
export class ChainRefusal extends Error {
  override readonly name = 'ChainRefusal';
  readonly code: number;
  constructor(message: string, code = -32_000) {
    super(message);
    this.code = code;
  }
}

/** A transaction in a block, from when it got in until a reorg removed the block. */
export interface Inclusion {
  readonly transaction: SimulatedTransaction;
  readonly block: number;
  readonly index: number;
  /** False: it reverted. */
  readonly succeeded: boolean;
  /** What it moved, in order. */
  readonly transfers: readonly Moved[];
  /** The place of its first log in its block. */
  readonly firstLog: number;
  readonly from: number;
  readonly until: number;
}

/** Money that moved: `to` is the account that got it. */
export type Moved = Payment;

/** Money that moved and stands on the canonical chain. */
export interface StandingTransfer extends Moved {
  readonly hash: TransactionHash;
  readonly block: number;
  readonly final: boolean;
  /** What the recipient gained by the whole transaction is all that came in: nothing of it went on. */
  readonly isKept: boolean;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface Waiting {
  readonly transaction: SimulatedTransaction;
  dueAt: number;
}

/** A branch that replaced all blocks from a number on. */
interface Fork {
  readonly id: number;
  readonly from: number;
  readonly at: number;
}

/** The chain existed for this long before the simulation began. */
const AGE_MS = 1_000_000;
/** Ordinary transactions land within this many blocks. */
const SOON_BLOCKS = 4;
/** A replacement has to offer a tenth more. */
const replaces = (fee: bigint, before: bigint): boolean => 10n * fee >= 11n * before;
const hex = (value: number): string => value.toString(16).padStart(32, '0');

/**
 * An EVM chain: blocks, reorgs, nonces, balances and a pool of transactions. Blocks exist by the clock, and what
 * happened since is worked out when the chain is asked, so that idle time costs nothing. Every moment of its history
 * can be read, because a lagging node shows the chain as it was.
 */
export class SimulatedChain {
  readonly options: ChainOptions;
  readonly #kernel: ChainKernel;
  readonly #genesisAt: number;
  #faults = CALM;
  #nextReorgAt = Number.POSITIVE_INFINITY;
  /** Newest first. */
  #forks: Fork[] = [];
  /** In the order of inclusion; orphaned ones stay, for lagging nodes. */
  readonly #inclusions: Mutable<Inclusion>[] = [];
  readonly #bySender = new Map<Address, Mutable<Inclusion>[]>();
  readonly #waiting = new Map<TransactionHash, Waiting>();
  readonly #nonces = new Map<Address, number>();
  readonly #balances = new Map<string, bigint>();
  /** Accounts that were given away, and who has what is paid to them. */
  readonly #givenAway = new Map<Address, Address>();

  constructor(kernel: ChainKernel, options: ChainOptions) {
    this.#kernel = kernel;
    this.options = options;
    this.#genesisAt = kernel.now() - AGE_MS;
  }

  /** Switches faults on or off from now on. */
  set faults(faults: ChainFaults) {
    this.#advance();
    this.#faults = faults;
    this.#nextReorgAt = this.#drawReorg(this.#kernel.now());
  }

  /** Tokens for a payer. */
  fund(account: Address, token: TokenAddress, amount: bigint): void {
    this.#move(token, account, amount);
  }

  /** From now on another account has what is paid to this one. */
  giveAway(account: Address, to: Address): void {
    this.#advance();
    this.#givenAway.set(account, to);
  }

  takeBack(account: Address): void {
    this.#advance();
    this.#givenAway.delete(account);
  }

  /**
   * Offers signed bytes, as a node passes them on.
   * @throws ChainRefusal
   */
  submit(raw: string): TransactionHash {
    this.#advance();
    const transaction = this.#decoded(raw);
    const { hash, sender, nonce } = transaction;
    if (this.#waiting.has(hash)) throw new ChainRefusal('already known');
    if (nonce < (this.#nonces.get(sender) ?? 0)) throw new ChainRefusal('nonce too low');
    for (const { transaction: other } of [...this.#waiting.values()]) {
      if (other.sender !== sender || other.nonce !== nonce) continue;
      if (!replaces(transaction.maxFee, other.maxFee)) throw new ChainRefusal('replacement transaction underpriced');
      if (!this.#kernel.random.chance(this.#faults.replacedSurvives)) this.#waiting.delete(other.hash);
    }
    if (!this.#kernel.random.chance(this.#faults.forgotten)) this.#wait(transaction);
    return hash;
  }

  /** Replaces the newest blocks; their transactions land again, later, or not at all. */
  reorganize(depth: number): void {
    this.#advance();
    this.#reorganize(depth, this.#kernel.now());
  }

  /** The transfers on the canonical chain now: the truth. */
  standing(): readonly StandingTransfer[] {
    const now = this.#settled();
    const final = this.finalHeight(now);
    return this.#inclusions.flatMap(({ transaction: { hash }, transfers, block, until }) =>
      until <= now
        ? []
        : transfers.map((moved) => ({
            ...moved,
            hash,
            block,
            final: block <= final,
            isKept: transfers.every(({ token, from }) => token !== moved.token || from !== moved.to),
          })),
    );
  }

  /** What the account gained by a transaction in this block, on whatever branch it was there; null: it never was. */
  gainedBy(hash: TransactionHash, block: number, token: TokenAddress, account: Address): bigint | null {
    this.#advance();
    const gains = this.#inclusions
      .filter((one) => one.transaction.hash === hash && one.block === block)
      .map(({ transfers }) =>
        transfers.reduce(
          (sum, one) =>
            one.token !== token
              ? sum
              : sum + (one.to === account ? one.amount : 0n) - (one.from === account ? one.amount : 0n),
          0n,
        ),
      );
    return gains.length === 0 ? null : gains.reduce((most, gain) => (gain > most ? gain : most));
  }

  /** The transfers with this reference on the canonical chain now. */
  standingOf(reference: Reference): readonly StandingTransfer[] {
    return this.standing().filter((transfer) => transfer.reference === reference);
  }

  /** Whether it may still get into a block without being sent again. */
  isWaiting(hash: TransactionHash): boolean {
    this.#advance();
    return this.#waiting.has(hash);
  }

  /** True for a transaction that waits for an earlier one of its sender, which no pool has. */
  isBehindGap(hash: TransactionHash): boolean {
    this.#advance();
    const waiting = this.#waiting.get(hash)?.transaction;
    return waiting !== undefined && waiting.nonce > (this.#nonces.get(waiting.sender) ?? 0);
  }

  /**
   * True for a transaction that is in no pool and in no block, and whose nonce is free: while another one of its sender
   * waits with it, nodes may refuse to replace that.
   */
  canLandOnlyIfSent(hash: TransactionHash, sender: Address, nonce: number): boolean {
    const now = this.#settled();
    if (this.inclusionOf(hash, now) !== null || nonce < (this.#nonces.get(sender) ?? 0)) return false;
    return !this.waitsWith(sender, nonce);
  }

  /** Whether a transaction of this sender waits with this nonce. */
  waitsWith(sender: Address, nonce: number): boolean {
    this.#advance();
    return [...this.#waiting.values()].some(
      ({ transaction }) => transaction.sender === sender && transaction.nonce === nonce,
    );
  }

  // The chain as it was at a moment `at`, for nodes ------------------------------------------------------------------

  height(at: number): number {
    return Math.max(0, Math.floor((at - this.#genesisAt) / this.options.blockMs));
  }

  /** No reorg reaches it, or what is below it. */
  finalHeight(at: number): number {
    return this.height(at - this.options.finalMs);
  }

  /** Seconds since 1970. */
  timestampOf(block: number): number {
    return Math.floor((this.#genesisAt + block * this.options.blockMs) / 1_000);
  }

  blockHash(block: number, at: number): string {
    const fork = this.#forks.find(({ from, at: began }) => began <= at && from <= block);
    return `0x${hex(fork === undefined ? 0 : fork.id)}${hex(block)}`;
  }

  /** What the blocks held at that moment, in order. */
  included(at: number): readonly Inclusion[] {
    this.#advance();
    return this.#inclusions
      .filter(({ from, until }) => from <= at && at < until)
      .sort((a, b) => a.block - b.block || a.index - b.index);
  }

  inclusionOf(hash: TransactionHash, at: number): Inclusion | null {
    this.#advance();
    return (
      this.#inclusions.find(({ transaction, from, until }) => transaction.hash === hash && from <= at && at < until) ??
      null
    );
  }

  /** Transactions of the account up to this block. */
  transactionCount(sender: Address, block: number, at: number): number {
    this.#advance();
    const all = this.#bySender.get(sender) ?? [];
    return all.filter((one) => one.from <= at && at < one.until && one.block <= block).length;
  }

  /** A transaction that waits for a block. */
  waiting(hash: TransactionHash): SimulatedTransaction | null {
    this.#advance();
    return this.#waiting.get(hash)?.transaction ?? null;
  }

  /** The next nonce behind those that wait. */
  pendingCount(sender: Address, at: number): number {
    let next = this.transactionCount(sender, this.height(at), at);
    const nonces = new Set<number>();
    for (const { transaction } of this.#waiting.values())
      if (transaction.sender === sender) nonces.add(transaction.nonce);
    while (nonces.has(next)) next += 1;
    return next;
  }

  /** The balance now: nodes' lag is not simulated here. */
  balanceOf(token: TokenAddress, account: Address): bigint {
    this.#advance();
    return this.#balances.get(`${token} ${account}`) ?? 0n;
  }

  // What happens by itself -------------------------------------------------------------------------------------------

  #settled(): number {
    this.#advance();
    return this.#kernel.now();
  }

  /** Works out what has happened up to now, in the order of time. */
  #advance(): void {
    const now = this.#kernel.now();
    for (;;) {
      const next = this.#earliest();
      const at = Math.min(next?.dueAt ?? Number.POSITIVE_INFINITY, this.#nextReorgAt);
      if (at > now) return;
      if (next !== null && next.dueAt === at) this.#include(next, this.height(at), at);
      else {
        this.#nextReorgAt = this.#drawReorg(at);
        this.#reorganize(1 + this.#kernel.random.int(this.#faults.reorgDepth), at);
      }
    }
  }

  #earliest(): Waiting | null {
    let earliest: Waiting | null = null;
    for (const waiting of this.#waiting.values())
      if (earliest === null || waiting.dueAt < earliest.dueAt) earliest = waiting;
    return earliest;
  }

  #drawReorg(after: number): number {
    const { reorgEveryMs, reorgDepth } = this.#faults;
    if (reorgEveryMs === null || reorgDepth === 0) return Number.POSITIVE_INFINITY;
    return after + 1 + this.#kernel.random.int(2 * reorgEveryMs);
  }

  #wait(transaction: SimulatedTransaction): void {
    const { late } = this.#faults;
    const { random } = this.#kernel;
    const soon = random.int(SOON_BLOCKS * this.options.blockMs);
    const waitMs = random.chance(late.chance) ? random.int(late.ms + 1) : soon;
    this.#waiting.set(transaction.hash, { transaction, dueAt: this.#blockAfter(this.#kernel.now() + waitMs) });
  }

  /** When the first block after this moment comes. */
  #blockAfter(at: number): number {
    return this.#genesisAt + (this.height(at) + 1) * this.options.blockMs;
  }

  #include(waiting: Waiting, block: number, at: number): void {
    const { transaction } = waiting;
    const { hash, sender, nonce } = transaction;
    const expected = this.#nonces.get(sender) ?? 0;
    if (nonce > expected) {
      // It waits for the one before it: woken when that has landed.
      this.#waiting.set(hash, { transaction, dueAt: Number.POSITIVE_INFINITY });
      return;
    }
    this.#waiting.delete(hash);
    if (nonce < expected) return;
    const transfers = this.#execute(transaction);
    const before = this.#inclusions.filter((one) => one.block === block && one.until > at);
    const inclusion: Mutable<Inclusion> = {
      transaction,
      block,
      index: before.length,
      succeeded: transfers !== null,
      transfers: transfers ?? [],
      firstLog: before.reduce((sum, one) => sum + Math.max(1, one.transfers.length), 0),
      from: at,
      until: Number.POSITIVE_INFINITY,
    };
    this.#inclusions.push(inclusion);
    const all = this.#bySender.get(sender);
    if (all === undefined) this.#bySender.set(sender, [inclusion]);
    else all.push(inclusion);
    this.#nonces.set(sender, nonce + 1);
    for (const other of this.#waiting.values())
      if (other.transaction.sender === sender && other.transaction.nonce === nonce + 1)
        other.dueAt = Math.min(other.dueAt, this.#blockAfter(at));
  }

  /** Moves the money of a transaction that gets into a block; null where an account lacks it: then nothing moves. */
  #execute({ payments }: SimulatedTransaction): readonly Moved[] | null {
    const moved: Moved[] = [];
    for (const payment of payments) {
      const transfer = { ...payment, to: this.#givenAway.get(payment.to) ?? payment.to };
      if (this.#balance(transfer.token, transfer.from) < transfer.amount) {
        this.#undo(moved);
        return null;
      }
      this.#move(transfer.token, transfer.from, -transfer.amount);
      this.#move(transfer.token, transfer.to, transfer.amount);
      moved.push(transfer);
    }
    return moved;
  }

  #undo(moved: readonly Moved[]): void {
    for (const { token, from, to, amount } of moved) {
      this.#move(token, to, -amount);
      this.#move(token, from, amount);
    }
  }

  #reorganize(depth: number, at: number): void {
    const head = this.height(at);
    const ancestor = Math.max(head - depth, this.finalHeight(at));
    if (ancestor >= head) return;
    this.#forks = [{ id: this.#forks.length + 1, from: ancestor + 1, at }, ...this.#forks];
    const orphaned = this.#inclusions.filter(({ block, until }) => block > ancestor && until > at);
    for (const inclusion of orphaned.toReversed()) {
      inclusion.until = at;
      this.#undo(inclusion.transfers);
      this.#nonces.set(inclusion.transaction.sender, inclusion.transaction.nonce);
    }
    const { random } = this.#kernel;
    for (const { transaction, block } of orphaned) {
      // Often the new blocks hold the same transactions; an account's later ones wait for its earlier ones.
      if (random.chance(0.5)) this.#include({ transaction, dueAt: at }, Math.min(block, head), at);
      else if (!random.chance(this.#faults.forgotten)) this.#wait(transaction);
    }
  }

  #balance(token: TokenAddress, account: Address): bigint {
    return this.#balances.get(`${token} ${account}`) ?? 0n;
  }

  #move(token: TokenAddress, account: Address, amount: bigint): void {
    this.#balances.set(`${token} ${account}`, this.#balance(token, account) + amount);
  }

  #decoded(raw: string): SimulatedTransaction {
    try {
      return read(raw);
    } catch {
      throw new ChainRefusal('failed to decode signed transaction');
    }
  }
}
