import type { AccountId, Instant, IntentId } from '../model/ids.ts';
import type { World } from '../model/decision.ts';
import type { EventData, EventType, IntentEvent } from '../model/event.ts';
import type { PaymentIntent } from '../model/intent.ts';
import { evolve } from '../evolve.ts';

/** A decision while it is made: each event is numbered, stamped and folded at once, so what follows sees what came before. */
export class Draft implements World {
  readonly now: Instant;
  readonly events: IntentEvent[] = [];
  readonly #world: World;
  readonly #after = new Map<IntentId, PaymentIntent>();

  constructor(now: Instant, world: World) {
    this.now = now;
    this.#world = world;
  }

  intent(id: IntentId): PaymentIntent | undefined {
    return this.#after.get(id) ?? this.#world.intent(id);
  }

  withKey(accountId: AccountId, livemode: boolean, idempotencyKey: string, now: Instant): PaymentIntent | undefined {
    return this.#world.withKey(accountId, livemode, idempotencyKey, now);
  }

  /** Appends the intent's next event and answers the intent after it. */
  append<Type extends EventType>(intentId: IntentId, type: Type, data: EventData[Type]): PaymentIntent {
    const before = this.intent(intentId);
    // The compiler cannot see that type and data belong to one member of the union; the signature above holds them together.
    const event = { type, intentId, version: (before?.version ?? 0) + 1, at: this.now, data } as IntentEvent;
    const after = evolve(before, event);
    this.events.push(event);
    this.#after.set(intentId, after);
    return after;
  }
}
