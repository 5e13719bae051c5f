import type { Wire } from './wire.ts';

/** Which transactions a fault is for: of this payer, of this signature, or any. */
export interface Target {
  readonly payer?: string | undefined;
  readonly signature?: string | undefined;
  /** How many transactions; absent: one, and every one where a payer is named. */
  readonly count?: number | undefined;
}
export type Fault = { readonly kind: 'drop' } | { readonly kind: 'fail' } | { readonly kind: 'delay'; readonly slots: number };

interface Pending {
  readonly fault: Fault;
  readonly target: Target;
  left: number;
}

/** What is to happen to transactions that are yet to come. */
export class Faults {
  readonly #pending: Pending[] = [];
  /** Clients send the same transaction again and again until it lands: what was dropped once never lands. */
  readonly #dropped = new Set<string>();

  add(fault: Fault, target: Target): void {
    this.#pending.push({ fault, target, left: target.count ?? (target.payer === undefined ? 1 : Infinity) });
  }
  /** Whether the transaction is to be forgotten, now and whenever it comes again. */
  drops(wire: Wire): boolean {
    if (!this.#dropped.has(wire.signature) && this.take('drop', wire) !== null) this.#dropped.add(wire.signature);
    return this.#dropped.has(wire.signature);
  }
  /** The oldest fault of this kind that is meant for the transaction; uses it up. */
  take<Kind extends Fault['kind']>(kind: Kind, { payer, signature }: Wire): Extract<Fault, { kind: Kind }> | null {
    const found = this.#pending.find(({ fault, target }) => fault.kind === kind && (target.payer ?? payer) === payer && (target.signature ?? signature) === signature);
    if (found === undefined) return null;
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
