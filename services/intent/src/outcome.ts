import { type CommandMessage, type EventEnvelope, eventOf, type Outcome } from '@pf/contracts';
import type { Build, CommandId, Decision, IntentId } from '@pf/domain';

/**
 * How long outcomes are kept. Older ones that a new owner finds in the log are not written again, and older commands
 * are not decided: whether they were is not known.
 */
export const OUTCOME_RETENTION_MS = 24 * 60 * 60 * 1000;

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
 * The outcomes of the commands that caused these events. The log has only commands that were accepted and changed
 * something; any other is decided again when it is sent again.
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
    // The outcome of a refund names the refund.
    if (event.type === 'refund_linked') intentId = event.data.refundIntentId;
    if (event.type === 'transaction_built') build = { version: event.version, ...event.data };
    if (event.type === 'submission_prepared') attempts = event.data.attempts;
  }
  if (intentId === null) throw new Error(`command ${commandId} has no event`);
  return { kind: 'accepted', commandId, intentId, replayed: false, build, attempts };
}
