import { evolve } from './evolve.ts';
import type { World } from './model/decision.ts';
import type { IntentEvent } from './model/event.ts';
import type { AccountId, Instant, IntentId } from './model/ids.ts';
import type { PaymentIntent } from './model/intent.ts';

/** How long an idempotency key stands for the intent that it made, from its first use. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/** The intents a batch works on, in memory: each input sees what the inputs before it changed. */
export class Ledger implements World {
  readonly #intents = new Map<IntentId, PaymentIntent>();
  /** The newest intent that each key of an account and mode made. */
  readonly #byKey = new Map<string, PaymentIntent>();

  constructor(intents: Iterable<PaymentIntent> = []) {
    for (const intent of intents) this.put(intent);
  }

  /** Stores an intent in place of its earlier state. */
  put(intent: PaymentIntent): void {
    this.#intents.set(intent.id, intent);
    if (intent.idempotencyKey === null) return;
    const key = keyOf(intent.accountId, intent.livemode, intent.idempotencyKey);
    const newest = this.#byKey.get(key);
    if (newest === undefined || newest.createdAt <= intent.createdAt) this.#byKey.set(key, intent);
  }

  /**
   * Folds an event.
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
    // #byKey may hold an earlier state of the intent: only its id and createdAt, which never change, are used.
    return made !== undefined && now < made.createdAt + IDEMPOTENCY_WINDOW_MS ? this.#intents.get(made.id) : undefined;
  }

  /** All intents, in the order in which they were first stored. */
  intents(): IterableIterator<PaymentIntent> {
    return this.#intents.values();
  }
}

/** The client's text comes last, so no two keys are equal by accident. */
const keyOf = (accountId: AccountId, livemode: boolean, idempotencyKey: string): string =>
  `${accountId}\n${livemode ? 'live' : 'test'}\n${idempotencyKey}`;
