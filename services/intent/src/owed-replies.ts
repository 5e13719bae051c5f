import { isIntentEvent, type LoggedRecord, type Reply } from '@pf/contracts';
import { OUTCOME_RETENTION_MS, outcomesIn, type ProjectedIntent, type ProjectedOutcome } from '@pf/database';
import { type CommandId, type Instant, isPublicType, view } from '@pf/domain';
import type { LogRecord } from '@pf/event-log';
import type { Notice } from '@pf/redis';
import { REPLY_TO_HEADER } from './batch-decider.ts';

/** The outcomes, replies and notices of events whose owner died before it published them. */
export interface OwedReplies {
  readonly outcomes: readonly ProjectedOutcome[];
  readonly replies: ReadonlyMap<string, readonly Reply[]>;
  readonly notices: readonly Notice[];
}

/**
 * Reads outcomes, replies and notices from the log.
 * @param events those of `records`, in the same order.
 * @param intents their state after the events.
 */
export function owedReplies(
  records: readonly LogRecord[],
  events: readonly LoggedRecord[],
  intents: readonly ProjectedIntent[],
  clock: Instant,
): OwedReplies {
  const outcomes = outcomesIn(events, clock);
  const replyTo = new Map<CommandId, string>();
  for (const [index, { commandId }] of events.entries()) {
    const channel = records[index]?.headers[REPLY_TO_HEADER];
    if (commandId !== null && channel !== undefined) replyTo.set(commandId, channel);
  }
  const after = new Map(intents.map(({ intent }) => [intent.id, intent]));
  const replies = new Map<string, Reply[]>();
  for (const { outcome } of outcomes) {
    const channel = replyTo.get(outcome.commandId);
    if (channel === undefined) continue;
    const intent = outcome.kind === 'accepted' ? after.get(outcome.intentId) : undefined;
    const reply: Reply = { outcome, intent: intent === undefined ? null : view(intent) };
    const others = replies.get(channel);
    if (others === undefined) replies.set(channel, [reply]);
    else others.push(reply);
  }
  const seen = new Set(
    events
      .filter(isIntentEvent)
      .filter(({ type, at }) => isPublicType(type) && Date.parse(at) > clock - OUTCOME_RETENTION_MS)
      .map(({ intentId }) => intentId),
  );
  const notices = intents
    .filter(({ intent }) => seen.has(intent.id))
    .map(({ intent }) => ({ intentId: intent.id, version: intent.version, state: intent.status }));
  return { outcomes, replies, notices };
}
