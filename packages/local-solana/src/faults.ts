import { memosIn } from './memos.ts';
import { nodeWallet } from './wallets.ts';
import type { Wire } from './wire.ts';

/** Which transactions a fault is for: those of a payer, with an account, with a signature, or any. */
export interface Target {
  readonly payer?: string | undefined;
  /** A program or static account: the Memo program, for example, or a payment's reference. */
  readonly mentions?: string | undefined;
  readonly signature?: string | undefined;
  /** How many transactions; by default one, and every one with a payer. */
  readonly count?: number | undefined;
}
export type Fault =
  | { readonly kind: 'drop' }
  | { readonly kind: 'fail' }
  | { readonly kind: 'hold' }
  | { readonly kind: 'delay'; readonly slots: number };

interface Pending {
  readonly id: number;
  readonly fault: Fault;
  readonly target: Target;
  left: number;
}

/** A transaction that a fault has affected. */
export interface AffectedTransaction {
  readonly id: number;
  readonly signature: string;
  readonly payer: string;
  /** The text of its first memo: the payment's reference. */
  readonly memo: string | null;
}
/** How many affected transactions are kept: clients read them soon. */
const REMEMBERED = 100;

/** The faults for future transactions. */
export class Faults {
  readonly #pending: Pending[] = [];
  /** Clients resend a transaction until it lands: one that was dropped once never lands. */
  readonly #dropped = new Set<string>();
  #affected: AffectedTransaction[] = [];
  #lastId = 0;

  /** @returns the fault's id */
  add(fault: Fault, target: Target): number {
    this.#lastId += 1;
    this.#pending.push({
      id: this.#lastId,
      fault,
      target,
      left: target.count ?? (target.payer === undefined ? 1 : Infinity),
    });
    return this.#lastId;
  }
  /** Ends a fault; the transactions that it has affected stay as they are. */
  remove(id: number): void {
    const place = this.#pending.findIndex((one) => one.id === id);
    if (place >= 0) this.#pending.splice(place, 1);
  }
  get pending(): readonly Readonly<Pending>[] {
    return this.#pending;
  }
  /** The last affected transactions, oldest first. */
  get affected(): readonly AffectedTransaction[] {
    return this.#affected;
  }
  /** Whether the transaction must be dropped, now and whenever it is sent again. */
  drops(wire: Wire): boolean {
    if (!this.#dropped.has(wire.signature) && this.take('drop', wire) !== null) this.#dropped.add(wire.signature);
    return this.#dropped.has(wire.signature);
  }
  /** Takes the oldest fault of this kind that applies to the transaction, and counts its use. */
  take<Kind extends Fault['kind']>(
    kind: Kind,
    { payer, signature, message }: Wire,
  ): Extract<Fault, { kind: Kind }> | null {
    const accounts: readonly string[] = message.staticAccounts;
    // The node's own payouts (airdrops, mints) are affected only by a fault that names them.
    const isOurs = payer === nodeWallet.address;
    const isMeant = ({ target }: Pending): boolean =>
      (target.payer ?? (isOurs ? target.signature && payer : payer)) === payer &&
      (target.signature ?? signature) === signature &&
      (target.mentions === undefined || accounts.includes(target.mentions));
    const found = this.#pending.find((one) => one.fault.kind === kind && isMeant(one));
    if (found === undefined) return null;
    const memo = memosIn(message)[0]?.toString() ?? null;
    this.#affected = [...this.#affected, { id: found.id, signature, payer, memo }].slice(-REMEMBERED);
    found.left -= 1;
    if (found.left <= 0) this.#pending.splice(this.#pending.indexOf(found), 1);
    return found.fault as Extract<Fault, { kind: Kind }>;
  }
  /** Ends all faults; dropped transactions may be sent again. */
  clear(): void {
    this.#pending.length = 0;
    this.#dropped.clear();
  }
}
