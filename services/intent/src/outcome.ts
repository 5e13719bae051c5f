import { type CommandMessage, type EventEnvelope, eventOf, type Outcome } from '@pf/contracts';
import type { Build, CommandId, Decision, IntentId } from '@pf/domain';

/** The outcome of a command as it is stored and sent. */
export function outcomeOf(
  { commandId, intentId }: Pick<CommandMessage, 'commandId' | 'intentId'>,
  decided: Decision['outcome'],
): Outcome {
  if (decided.kind === 'refused') return { kind: 'refused', commandId, intentId, refusal: decided.refusal };
  return {
    kind: 'accepted',
    commandId,
    intentId: decided.intentId,
    replayed: decided.replayed,
    build: decided.build ?? null,
    attempts: decided.attempts ?? null,
  };
}

/**
 * The outcomes that the log itself tells: of the commands these events decided. Only what was accepted and changed
 * something is there; anything else is decided anew when it is asked again.
 */
export function outcomesIn(events: readonly EventEnvelope[]): readonly Outcome[] {
  const byCommand = new Map<CommandId, EventEnvelope[]>();
  for (const event of events) {
    if (event.commandId === null) continue;
    const others = byCommand.get(event.commandId);
    if (others === undefined) byCommand.set(event.commandId, [event]);
    else others.push(event);
  }
  return [...byCommand].map(([commandId, caused]) => acceptedBy(commandId, caused));
}

function acceptedBy(commandId: CommandId, caused: readonly EventEnvelope[]): Outcome {
  let intentId: IntentId | null = null;
  let build: Build | null = null;
  let attempts: number | null = null;
  for (const event of caused.map(eventOf)) {
    intentId ??= event.intentId;
    // The answer to a refund is the refund.
    if (event.type === 'refund_linked') intentId = event.data.refundIntentId;
    if (event.type === 'transaction_built') build = { version: event.version, ...event.data };
    if (event.type === 'submission_prepared') attempts = event.data.attempts;
  }
  if (intentId === null) throw new Error(`no event of command ${commandId}`);
  return { kind: 'accepted', commandId, intentId, replayed: false, build, attempts };
}
