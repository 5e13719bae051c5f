import { evolve } from '../evolve.ts';
import { HeldIntentError, type Transition, type World } from '../model/decision.ts';
import type { EventData, EventType, IntentEvent } from '../model/event.ts';
import type { AccountId, Instant, IntentId } from '../model/ids.ts';
import type { PaymentIntent } from '../model/intent.ts';

/** A decision in the making: each event is numbered, stamped and folded at once, so the next step sees its effect. */
export class Draft implements World {
  /** Event time. */
  readonly now: Instant;
  /** The writer's clock: `now`, unless event time stands still ahead of it. */
  readonly clock: Instant;
  readonly transitions: Transition[] = [];
  readonly #world: World;
  readonly #after = new Map<IntentId, PaymentIntent>();

  constructor(now: Instant, clock: Instant, world: World) {
    this.now = now;
    this.clock = clock;
    this.#world = world;
  }

  /** @throws HeldIntentError */
  intent(id: IntentId): PaymentIntent | undefined {
    return this.#after.get(id) ?? notHeld(this.#world.intent(id));
  }

  /** True for an intent that no rule may look at. */
  isHeld(id: IntentId): boolean {
    return this.#world.intent(id)?.heldFrom !== undefined;
  }

  /** @throws HeldIntentError */
  withKey(accountId: AccountId, livemode: boolean, idempotencyKey: string, now: Instant): PaymentIntent | undefined {
    return notHeld(this.#world.withKey(accountId, livemode, idempotencyKey, now));
  }

  /** Appends the intent's next event and returns the intent after it. */
  append<Type extends EventType>(intentId: IntentId, type: Type, data: EventData[Type]): PaymentIntent {
    const before = this.intent(intentId);
    // The compiler cannot see that type and data belong to one member of the union; the signature ties them together.
    const event = { type, intentId, version: (before?.version ?? 0) + 1, at: this.now, data } as IntentEvent;
    const after = evolve(before, event);
    this.transitions.push({ event, intent: after });
    this.#after.set(intentId, after);
    return after;
  }
}

/** What newer code has done to a held intent is not known here, so no rule may look at it. */
const notHeld = (intent: PaymentIntent | undefined): PaymentIntent | undefined => {
  if (intent?.heldFrom !== undefined)
    throw new HeldIntentError(`${intent.id} is held from version ${intent.heldFrom} on: newer code has changed it`);
  return intent;
};
