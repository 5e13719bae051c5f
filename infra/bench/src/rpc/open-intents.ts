import type { WatchedIntent, WatchSet } from '@pf/chains';
import type { Address, IntentId, Observation, PaymentTerms, Reference } from '@pf/domain';

/** The open intents of one network, as a watcher holds them: one for each recipient, and those that are paid. */
export class OpenIntents implements WatchSet {
  readonly #byReference = new Map<Reference, WatchedIntent>();
  readonly #byId = new Map<IntentId, Reference>();
  readonly #recipients = new Set<Address>();
  readonly #awaited = new Set<Address>();

  /** @param isNew whether it was made in the last 15 minutes */
  add(terms: PaymentTerms, isNew: boolean): IntentId {
    const id = `pi_bench_${this.#byReference.size}` as IntentId;
    this.#put({ id, status: 'created', terms, submission: null, settlement: null, createdAt: 0 });
    this.#recipients.add(terms.requestor);
    if (isNew) this.#awaited.add(terms.requestor);
    return id;
  }

  /** What the ledger does with an observation, as far as a watcher sees it. */
  apply({ type, intentId, data }: Observation): void {
    const reference = this.#byId.get(intentId);
    const intent = reference && this.#byReference.get(reference);
    if (intent === undefined || type !== 'landed') return;
    const isFinal = data.level === 'finalized';
    this.#put({
      ...intent,
      status: data.level,
      settlement: { hash: data.hash, transfer: data.transfer, finalized: isFinal, lost: false },
    });
    this.#awaited.delete(intent.terms.requestor);
  }

  get size(): number {
    return this.#byReference.size;
  }
  recall(): Promise<void> {
    return Promise.resolve();
  }
  byReference(reference: Reference): WatchedIntent | undefined {
    return this.#byReference.get(reference);
  }
  byAlias(): undefined {
    return undefined;
  }
  hasRecipient(address: Address): boolean {
    return this.#recipients.has(address);
  }
  recipients(): readonly Address[] {
    return [...this.#recipients];
  }
  ownersOf(): [] {
    return [];
  }
  readonly hasDeposits = false;
  depositsOf(): [] {
    return [];
  }
  openDeposits(): [] {
    return [];
  }
  awaited(): Iterable<Address> {
    return this.#awaited;
  }
  expected(): readonly WatchedIntent[] {
    return [];
  }
  lapsed(): readonly WatchedIntent[] {
    return [];
  }
  submitted(): [] {
    return [];
  }
  *settling(): ReturnType<WatchSet['settling']> & Generator {
    for (const { settlement, ...intent } of this.#byReference.values())
      if (settlement !== null && !settlement.finalized) yield { ...intent, settlement };
  }

  #put(intent: WatchedIntent): void {
    this.#byReference.set(intent.terms.reference, intent);
    this.#byId.set(intent.id, intent.terms.reference);
  }
}
