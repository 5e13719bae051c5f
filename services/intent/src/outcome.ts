import type { CommandMessage, Outcome } from '@pf/contracts';
import type { Decision } from '@pf/domain';

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
