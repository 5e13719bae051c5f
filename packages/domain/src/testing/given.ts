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

/** An event without version and time, which follow from its position. Without `of` it is of the main intent. */
export type ExpectedEvent = {
  [Type in EventType]: { readonly type: Type; readonly data: EventData[Type]; readonly of?: IntentId };
}[EventType];

/** The time between two events of a scenario. */
export const STEP_MS = 1000;

/**
 * Begins a scenario: `given(events).when(input).then(events)`, which can go on with another `when`. The given events
 * are folded as they are, even where the domain would never decide them.
 */
export const given = (...history: readonly ExpectedEvent[]): Scenario => {
  const ledger = new Ledger();
  let now = SCENARIO_START;
  for (const event of history) {
    ledger.apply(numbered(event, ledger, now));
    now += STEP_MS;
  }
  return new Scenario(ledger, now);
};

export class Scenario {
  readonly ledger: Ledger;
  readonly now: Instant;

  /** @param now the time of the next input, unless `when` gets another. */
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

/** The result of an input. Every assertion is on the whole decision: an event that is not expected is a failure. */
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

  /** The input was accepted with exactly these events, in this order. */
  then(...expected: readonly ExpectedEvent[]): this {
    this.#assertEvents(expected);
    if (this.decision.outcome.kind === 'refused') deepStrictEqual(this.decision.outcome, 'accepted');
    return this;
  }

  /** The input was accepted and changed nothing. */
  thenNothing(): this {
    return this.then();
  }

  /** The input was refused, without events but for an expiry that was due. */
  thenRefused(code: RefusalCode, ...expected: readonly ExpectedEvent[]): this {
    this.#assertEvents(expected);
    const { outcome } = this.decision;
    strictEqual(outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind, code);
    return this;
  }

  /** The outcome has at least these fields. */
  withOutcome(
    expected:
      Partial<Extract<Outcome, { kind: 'accepted' }>> | Partial<Extract<Outcome, { kind: 'refused' }>['refusal']>,
  ): this {
    const { outcome } = this.decision;
    deepStrictEqual(only(outcome.kind === 'accepted' ? outcome : outcome.refusal, expected), expected);
    return this;
  }

  /** The public view has at least these fields. */
  showing(expected: Partial<PublicIntent>, id: IntentId = INTENT): this {
    deepStrictEqual(only(view(this.intent(id)), expected), expected);
    return this;
  }

  /** The state has at least these fields. */
  knowing(expected: Partial<PaymentIntent>, id: IntentId = INTENT): this {
    deepStrictEqual(only(this.intent(id), expected), expected);
    return this;
  }

  /** The current state of an intent of the scenario. */
  intent(id: IntentId = INTENT): PaymentIntent {
    const intent = this.ledger.intent(id);
    if (intent === undefined) throw new Error(`${id} is not in this scenario`);
    return intent;
  }

  #assertEvents(events: readonly ExpectedEvent[]): void {
    const ledger = new Ledger(this.#before.intents());
    const expected = events.map((event) => {
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
