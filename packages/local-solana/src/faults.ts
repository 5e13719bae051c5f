import { memosIn } from './memos.ts';
import { nodeWallet } from './wallets.ts';
import type { Wire } from './wire.ts';

/** Which transactions a fault is for: of this payer, that name this account, of this signature, or any. */
export interface Target {
  readonly payer?: string | undefined;
  /** A program or an account among the static ones: Memo's, or the reference of a payment. */
  readonly mentions?: string | undefined;
  readonly signature?: string | undefined;
  /** How many transactions; absent: one, and every one where a payer is named. */
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

/** A transaction that met a fault. */
export interface AffectedTransaction {
  readonly id: number;
  readonly signature: string;
  readonly payer: string;
  /** The text of its first memo: a payment's reference. */
  readonly memo: string | null;
}
/** Whoever armed a fault asks soon. */
const REMEMBERED = 100;

/** What is to happen to transactions that are yet to come. */
export class Faults {
  readonly #pending: Pending[] = [];
  /** Clients send the same transaction again and again until it lands: what was dropped once never lands. */
  readonly #dropped = new Set<string>();
  #struck: AffectedTransaction[] = [];
  #lastId = 0;

  /** @returns its id */
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
  /** Ends one that is still to come; what met it stays as it is. */
  remove(id: number): void {
    const place = this.#pending.findIndex((one) => one.id === id);
    if (place >= 0) this.#pending.splice(place, 1);
  }
  get pending(): readonly Readonly<Pending>[] {
    return this.#pending;
  }
  /** The last of them, oldest first. */
  get affected(): readonly AffectedTransaction[] {
    return this.#struck;
  }
  /** Whether the transaction is to be forgotten, now and whenever it comes again. */
  drops(wire: Wire): boolean {
    if (!this.#dropped.has(wire.signature) && this.take('drop', wire) !== null) this.#dropped.add(wire.signature);
    return this.#dropped.has(wire.signature);
  }
  /** The oldest fault of this kind that is meant for the transaction; uses it up. */
  take<Kind extends Fault['kind']>(
    kind: Kind,
    { payer, signature, message }: Wire,
  ): Extract<Fault, { kind: Kind }> | null {
    const accounts: readonly string[] = message.staticAccounts;
    // What the node itself pays out, an airdrop say, meets only what is meant for it by name.
    const isOurs = payer === nodeWallet.address;
    const isMeant = ({ target }: Pending): boolean =>
      (target.payer ?? (isOurs ? target.signature && payer : payer)) === payer &&
      (target.signature ?? signature) === signature &&
      (target.mentions === undefined || accounts.includes(target.mentions));
    const found = this.#pending.find((one) => one.fault.kind === kind && isMeant(one));
    if (found === undefined) return null;
    const memo = memosIn(message)[0]?.toString() ?? null;
    this.#struck = [...this.#struck, { id: found.id, signature, payer, memo }].slice(-REMEMBERED);
    found.left -= 1;
    if (found.left <= 0) this.#pending.splice(this.#pending.indexOf(found), 1);
    return found.fault as Extract<Fault, { kind: Kind }>;
  }
  /** Ends them all; what was dropped may be sent again. */
  clear(): void {
    this.#pending.length = 0;
    this.#dropped.clear();
  }
}
