import { aliasOf, type WatchedIntent, type WatchSet } from '@pf/chains';
import type { SettledIntent } from '@pf/database';
import { type Address, type Reference, termsOf } from '@pf/domain';

const viewOf = (intent: SettledIntent): WatchedIntent => ({
  id: intent.id,
  status: intent.status,
  terms: termsOf(intent),
  // Nothing that was verified before is believed.
  submission: null,
  settlement: intent.settlement,
  createdAt: intent.createdAt,
});

/** Settled intents of one network as an observer sees those that it watches. */
export class SettledIntents implements WatchSet {
  readonly #byReference = new Map<string, WatchedIntent>();
  readonly #byAlias = new Map<string, WatchedIntent>();
  readonly #recipients = new Set<Address>();

  constructor(intents: readonly SettledIntent[]) {
    for (const intent of intents) {
      const view = viewOf(intent);
      this.#byReference.set(intent.reference, view);
      const alias = aliasOf(intent);
      if (alias !== null) this.#byAlias.set(alias, view);
      this.#recipients.add(intent.requestor);
    }
  }

  get size(): number {
    return this.#byReference.size;
  }

  /** All are here. */
  recall(): Promise<void> {
    return Promise.resolve();
  }

  byReference(reference: Reference): WatchedIntent | undefined {
    return this.#byReference.get(reference);
  }

  byAlias(alias: string): WatchedIntent | undefined {
    return this.#byAlias.get(alias);
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
    return [];
  }

  expected(): Iterable<never> {
    return [];
  }

  lapsed(): Iterable<never> {
    return [];
  }

  submitted(): Iterable<never> {
    return [];
  }

  settling(): Iterable<never> {
    return [];
  }
}
