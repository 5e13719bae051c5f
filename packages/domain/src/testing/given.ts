import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type {
  Decision,
  EventData,
  EventType,
  Input,
  Instant,
  IntentEvent,
  IntentId,
  Outcome,
  PaymentIntent,
  PublicIntent,
  RefusalCode,
} from '../index.ts';
import { decide, Ledger, view } from '../index.ts';
import { INTENT, SCENARIO_START } from './samples.ts';

/** An event as a story tells it: its version and time follow from its place. Without `of` it is of the story's main intent. */
export type ExpectedEvent = {
  [Type in EventType]: { readonly type: Type; readonly data: EventData[Type]; readonly of?: IntentId };
}[EventType];

/** What happens in a story takes a second. */
export const STEP_MS = 1000;

/**
 * Tests of the lifecycle in one language: `given(events).when(input).then(events)`. What follows `then` may go on with
 * another `when`. The events given are folded as they are, also where the domain would not decide so by itself.
 */
export const given = (...told: readonly ExpectedEvent[]): Scenario => {
  const ledger = new Ledger();
  let now = SCENARIO_START;
  for (const event of told) {
    ledger.apply(numbered(event, ledger, now));
    now += STEP_MS;
  }
  return new Scenario(ledger, now);
};

export class Scenario {
  readonly ledger: Ledger;
  readonly now: Instant;

  /** @param now the time of the next input, unless it is given another. */
  constructor(ledger: Ledger, now: Instant) {
    this.ledger = ledger;
    this.now = now;
  }

  /** @param at the writer's time, where it matters. */
  when(input: Input, at: Instant = this.now): ScenarioResult {
    const decision = decide(input, at, this.ledger);
    const before = new Ledger(this.ledger.intents());
    // Folding an event by itself must give the state that the decision made of it.
    for (const { event, intent } of decision.transitions) deepStrictEqual(this.ledger.apply(event), intent);
    return new ScenarioResult(before, this.ledger, decision, at);
  }
}

/** What came of an input. Every assertion is on the whole decision: events that are not told are too many. */
export class ScenarioResult extends Scenario {
  readonly decision: Decision;
  readonly #before: Ledger;
  readonly #at: Instant;

  constructor(before: Ledger, after: Ledger, decision: Decision, at: Instant) {
    super(after, at + STEP_MS);
    this.#before = before;
    this.decision = decision;
    this.#at = at;
  }

  /** It was accepted, and exactly this happened, in this order. */
  then(...told: readonly ExpectedEvent[]): this {
    this.#happened(told);
    if (this.decision.outcome.kind === 'refused') deepStrictEqual(this.decision.outcome, 'accepted');
    return this;
  }

  /** It was accepted, and the present state is the answer. */
  thenNothing(): this {
    return this.then();
  }

  /** It was refused, and nothing happened, or only this: an expiry that was due. */
  thenRefused(code: RefusalCode, ...told: readonly ExpectedEvent[]): this {
    this.#happened(told);
    const { outcome } = this.decision;
    strictEqual(outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind, code);
    return this;
  }

  /** The answer says this, among other things. */
  withOutcome(
    expected:
      Partial<Extract<Outcome, { kind: 'accepted' }>> | Partial<Extract<Outcome, { kind: 'refused' }>['refusal']>,
  ): this {
    const { outcome } = this.decision;
    deepStrictEqual(only(outcome.kind === 'accepted' ? outcome : outcome.refusal, expected), expected);
    return this;
  }

  /** Integrators now see this, among other things. */
  showing(expected: Partial<PublicIntent>, id: IntentId = INTENT): this {
    deepStrictEqual(only(view(this.intent(id)), expected), expected);
    return this;
  }

  /** The ledger privately knows this, among other things. */
  knowing(expected: Partial<PaymentIntent>, id: IntentId = INTENT): this {
    deepStrictEqual(only(this.intent(id), expected), expected);
    return this;
  }

  /** An intent of the story as it is now. */
  intent(id: IntentId = INTENT): PaymentIntent {
    const intent = this.ledger.intent(id);
    if (intent === undefined) throw new Error(`${id} is not in this story`);
    return intent;
  }

  #happened(told: readonly ExpectedEvent[]): void {
    const ledger = new Ledger(this.#before.intents());
    const expected = told.map((event) => {
      const next = numbered(event, ledger, this.#at);
      ledger.apply(next);
      return next;
    });
    deepStrictEqual(eventsOf(this.decision), expected);
  }
}

/** The events of a decision, without the intents after them. */
export const eventsOf = ({ transitions }: Decision): readonly IntentEvent[] => transitions.map(({ event }) => event);

const numbered = ({ type, data, of = INTENT }: ExpectedEvent, ledger: Ledger, at: Instant): IntentEvent =>
  ({ type, intentId: of, version: (ledger.intent(of)?.version ?? 0) + 1, at, data }) as IntentEvent;

const only = <T extends object>(whole: T, wanted: Partial<T>): Partial<T> =>
  Object.fromEntries(Object.keys(wanted).map((key) => [key, whole[key as keyof T]])) as Partial<T>;
