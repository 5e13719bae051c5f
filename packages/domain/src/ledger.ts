import type { AccountId, Instant, IntentId } from './model/ids.ts';
import type { World } from './model/decision.ts';
import type { IntentEvent } from './model/event.ts';
import type { PaymentIntent } from './model/intent.ts';
import { evolve } from './evolve.ts';

/** How long an idempotency key answers with the intent it made, from its first use (spec.md part 8). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/** The intents a batch works on, in memory: what one input appends the next one sees. */
export class Ledger implements World {
  readonly #intents = new Map<IntentId, PaymentIntent>();
  /** The newest intent that each key of an account and mode made. */
  readonly #byKey = new Map<string, PaymentIntent>();

  constructor(intents: Iterable<PaymentIntent> = []) {
    for (const intent of intents) this.put(intent);
  }

  /** Puts an intent in as it was loaded, in place of an earlier state of it. */
  put(intent: PaymentIntent): void {
    this.#intents.set(intent.id, intent);
    if (intent.idempotencyKey === null) return;
    const key = keyOf(intent.accountId, intent.livemode, intent.idempotencyKey);
    const newest = this.#byKey.get(key);
    if (newest === undefined || newest.createdAt <= intent.createdAt) this.#byKey.set(key, intent);
  }

  /**
   * Folds an event in.
   * @returns the intent after it.
   * @throws VersionGapError when it is not the intent's next event.
   */
  apply(event: IntentEvent): PaymentIntent {
    const intent = evolve(this.#intents.get(event.intentId), event);
    if (event.type === 'intent.created') this.put(intent);
    else this.#intents.set(intent.id, intent);
    return intent;
  }

  intent(id: IntentId): PaymentIntent | undefined {
    return this.#intents.get(id);
  }

  withKey(accountId: AccountId, livemode: boolean, idempotencyKey: string, now: Instant): PaymentIntent | undefined {
    const made = this.#byKey.get(keyOf(accountId, livemode, idempotencyKey));
    // The key's own map holds the intent as it was made: what never changes is enough there, the present state is asked for.
    return made !== undefined && now < made.createdAt + IDEMPOTENCY_WINDOW_MS ? this.#intents.get(made.id) : undefined;
  }

  /** All intents, in the order in which they came in. */
  intents(): IterableIterator<PaymentIntent> {
    return this.#intents.values();
  }
}

/** The client's part is the last one, so no key can be taken for another. */
const keyOf = (accountId: AccountId, livemode: boolean, idempotencyKey: string): string =>
  `${accountId}\n${livemode ? 'live' : 'test'}\n${idempotencyKey}`;
