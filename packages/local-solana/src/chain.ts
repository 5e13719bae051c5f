import { randomUUID } from 'node:crypto';
import { type AccountKeys, accountKeys } from './account-keys.ts';
import type { Blockhashes } from './blockhashes.ts';
import { type Commitment, heightOf, SLOTS_PER_EPOCH, type SlotClock } from './clock.ts';
import { Faults } from './faults.ts';
import { feeOf } from './fee.ts';
import { Journal } from './journal.ts';
import type { Landed, Ledger } from './ledger.ts';
import { tokenBalances, type TransactionMeta } from './meta.ts';
import type { Account, Execution, Runtime } from './runtime.ts';
import { repair, spoil } from './spoil.ts';
import { parseWire, type Wire } from './wire.ts';

/** The recent slots that programs can name, for example to create a lookup table; a real chain has 512. */
const SLOT_HASHES = 32;

/**
 * The chain: transactions land in the head slot in the order of arrival, and are confirmed and finalized as the clock
 * advances. It stores blocks; which request may read what is up to the methods.
 */
export class Chain {
  readonly clock: SlotClock;
  readonly faults = new Faults();
  readonly #ledger: Ledger;
  readonly #runtime: Runtime;
  readonly #blockhashes: Blockhashes;
  readonly #journal = new Journal();
  /** Transactions that will land in a later slot, oldest first. */
  #waiting: { readonly wire: Wire; readonly due: number }[] = [];
  readonly #listeners = new Set<() => void>();

  constructor(dependencies: {
    readonly clock: SlotClock;
    readonly ledger: Ledger;
    readonly runtime: Runtime;
    readonly blockhashes: Blockhashes;
  }) {
    this.clock = dependencies.clock;
    this.#ledger = dependencies.ledger;
    this.#runtime = dependencies.runtime;
    this.#blockhashes = dependencies.blockhashes;
  }

  /** Registers a listener for every change: a landing, a slot by a control, a reorg. Returns its removal. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
  /** Must be called after a control has moved the clock. */
  changed(): void {
    this.catchUp();
    for (const listener of this.#listeners) listener();
  }
  /** Whether a transaction is waiting for its slot. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }
  /** Lands the transactions that are due. */
  catchUp(): void {
    const head = this.clock.slot();
    const due = this.#waiting.filter((one) => one.due <= head).sort((one, other) => one.due - other.due);
    if (due.length === 0) return;
    this.#waiting = this.#waiting.filter((one) => one.due > head);
    for (const one of due) this.#land(one.wire, one.due);
  }

  /** The account at the end of a slot; null: it did not exist. */
  account(address: string, slot = this.clock.slot()): Account | null {
    const before = this.#journal.at(address, slot);
    return before === undefined ? this.#runtime.account(address) : before;
  }
  /** The accounts that a program owned at the end of a slot. */
  owned(program: string, slot: number): (readonly [string, Account])[] {
    return [...new Set([...this.#runtime.owned(program), ...this.#journal.addresses()])].flatMap((address) => {
      const account = this.account(address, slot);
      return account?.owner === program ? [[address, account] as const] : [];
    });
  }
  rent(bytes: number): bigint {
    return this.#runtime.rent(bytes);
  }

  blockhash(slot: number): string {
    return this.#blockhashes.at(heightOf(slot));
  }
  /** The block height of a blockhash that is valid in a block of this slot; null: not among the last 150. */
  heightOfBlockhash(blockhash: string, slot = this.clock.slot()): number | null {
    return this.#blockhashes.heightOf(blockhash, heightOf(slot));
  }

  transaction(signature: string): Landed | null {
    return this.#ledger.transaction(signature);
  }
  mentioning(...query: Parameters<Ledger['mentioning']>): Landed[] {
    return this.#ledger.mentioning(...query);
  }
  between(from: number, to: number): Landed[] {
    return this.#ledger.between(from, to);
  }
  /** The transactions that landed after a position in the order of execution, up to a slot. */
  after(sequence: number, slot: number): Landed[] {
    return this.#ledger.after(sequence, slot);
  }
  lastSequence(): number {
    return this.#ledger.lastSequence();
  }
  transactionCount(): number {
    return this.#ledger.count();
  }

  /** Simulates an execution on the head's state. */
  simulate(wire: Wire): ReturnType<Runtime['simulate']> {
    this.#atSlot(this.clock.slot());
    return this.#runtime.simulate(wire);
  }
  /** Accepts a signed transaction. It lands, or is dropped silently, as a node drops one that cannot land. */
  send(wire: Wire): void {
    this.catchUp();
    if (this.faults.drops(wire) || this.#waiting.some((one) => one.wire.signature === wire.signature)) return;
    const delay = this.faults.take('delay', wire);
    if (delay !== null) this.#waiting.push({ wire, due: this.clock.slot() + delay.slots });
    else this.#land(wire, this.clock.slot());
    this.changed();
  }

  /**
   * Rolls back every block above `slot`, none of which may be final: their transactions and blockhashes are gone.
   * Returns the transactions, oldest first.
   */
  reorganize(slot: number): Landed[] {
    const lost = this.#ledger.between(slot + 1, this.clock.slot());
    const fork = { height: heightOf(slot) + 1, salt: randomUUID() };
    const before = this.#journal.undo(slot);
    this.#ledger.together(() => {
      for (const [address, account] of before) {
        this.#runtime.setAccount(address, account);
        this.#ledger.setAccount(address, account);
      }
      this.#ledger.truncate(slot);
      this.#blockhashes.fork(fork);
      this.#ledger.setFact('forks', this.#blockhashes.forks);
    });
    this.changed();
    return lost;
  }
  /** Sends the transactions of a rollback again. */
  requeue(lost: readonly Landed[]): void {
    for (const { wire } of lost) this.send(parseWire(wire));
  }

  #atSlot(slot: number): void {
    const hashes = Array.from({ length: SLOT_HASHES }, (_, index) => this.blockhash(slot - 1 - index));
    this.#runtime.at(slot, Math.floor(slot / SLOTS_PER_EPOCH), this.clock.timeOf(slot), hashes);
  }

  #land(wire: Wire, slot: number): void {
    if (this.heightOfBlockhash(wire.blockhash, slot) === null || this.#ledger.transaction(wire.signature) !== null)
      return;
    const keys = accountKeys(wire.message, (address) => this.#runtime.account(address));
    if (typeof keys === 'string') return;
    const before = new Map(keys.all.map((address) => [address, this.#runtime.account(address)]));
    const fee = feeOf(wire.message);
    const spoilt = this.faults.take('fail', wire) === null ? [] : spoil(wire, before, fee + this.#runtime.rent(0));
    this.#atSlot(slot);
    for (const one of spoilt) this.#runtime.setAccount(one.address, one.spoilt);
    const execution = this.#runtime.execute(wire);
    for (const one of spoilt) this.#runtime.setAccount(one.address, repair(one, this.#runtime.account(one.address)));
    const after = new Map(keys.all.map((address) => [address, this.#runtime.account(address)]));
    // A transaction that fails before it executes is in no block, and its payer pays no fee.
    if (execution.error !== null && after.get(wire.payer)?.lamports === before.get(wire.payer)?.lamports) return;
    this.#keep(wire, slot, keys, { before, after, execution, fee });
    if (this.faults.take('hold', wire) === null) return;
    // Pauses the clock when the transaction is confirmed, before it is final.
    this.clock.advance(1);
    this.clock.pause();
  }

  #keep(
    wire: Wire,
    slot: number,
    keys: AccountKeys,
    done: {
      readonly before: ReadonlyMap<string, Account | null>;
      readonly after: ReadonlyMap<string, Account | null>;
      readonly execution: Execution;
      readonly fee: bigint;
    },
  ): void {
    const { before, after, execution, fee } = done;
    const accountOf = (address: string): Account | null => this.#runtime.account(address);
    const meta: TransactionMeta = {
      err: execution.error,
      status: execution.error === null ? { Ok: null } : { Err: execution.error },
      fee,
      preBalances: [...before.values()].map((account) => account?.lamports ?? 0n),
      postBalances: [...after.values()].map((account) => account?.lamports ?? 0n),
      preTokenBalances: tokenBalances([...before.values()], accountOf),
      postTokenBalances: tokenBalances([...after.values()], accountOf),
      innerInstructions: execution.inner,
      logMessages: execution.logs,
      loadedAddresses: keys.loaded,
      ...(execution.returnData && { returnData: execution.returnData }),
      computeUnitsConsumed: execution.units,
      rewards: [],
    };
    this.#journal.prune(this.clock.slot('finalized'));
    this.#ledger.together(() => {
      for (const [address, account] of after) {
        const old = before.get(address) ?? null;
        if (isSame(old, account)) continue;
        this.#journal.add(slot, address, old);
        this.#ledger.setAccount(address, account);
      }
      this.#ledger.append(
        { signature: wire.signature, slot, time: Math.floor(this.clock.timeOf(slot) / 1000), wire: wire.bytes, meta },
        keys.all,
      );
    });
  }
}

/** Whether two states of an account are equal. */
export const isSame = (one: Account | null, other: Account | null): boolean =>
  one === other ||
  (one !== null &&
    other !== null &&
    one.lamports === other.lamports &&
    one.owner === other.owner &&
    Buffer.from(one.data).equals(other.data));

/** The commitment that a landed slot has reached. */
export function levelOf(clock: SlotClock, slot: number): Commitment {
  if (slot <= clock.slot('finalized')) return 'finalized';
  return slot <= clock.slot('confirmed') ? 'confirmed' : 'processed';
}
