import { isForeign, type LoggedEvent, type Reply } from '@pf/contracts';
import type { ProjectedIntent, ProjectedOutcome } from '@pf/database';
import { type CommandId, type Instant, isPublicType, view } from '@pf/domain';
import type { LogRecord } from '@pf/event-log';
import type { Notice } from '@pf/redis';
import { OUTCOME_RETENTION_MS, outcomesIn } from './outcome.ts';
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
  events: readonly LoggedEvent[],
  intents: readonly ProjectedIntent[],
  clock: Instant,
): OwedReplies {
  const recent = events
    .map((event, index) => ({
      event,
      at: Date.parse(event.at),
      replyTo: records[index]?.headers[REPLY_TO_HEADER] ?? null,
    }))
    .filter(({ at }) => at > clock - OUTCOME_RETENTION_MS);
  const caused = new Map<CommandId, { readonly at: Instant; readonly replyTo: string | null }>();
  for (const { event, at, replyTo } of recent)
    if (event.commandId !== null) caused.set(event.commandId, { at, replyTo });

  const outcomes = outcomesIn(recent.flatMap(({ event }) => (isForeign(event) ? [] : [event]))).map((outcome) => ({
    outcome,
    at: caused.get(outcome.commandId)?.at ?? clock,
  }));
  const after = new Map(intents.map(({ intent }) => [intent.id, intent]));
  const replies = new Map<string, Reply[]>();
  for (const { outcome } of outcomes) {
    const replyTo = caused.get(outcome.commandId)?.replyTo ?? null;
    if (replyTo === null) continue;
    const intent = after.get(outcome.intentId);
    const reply: Reply = { outcome, intent: intent === undefined ? null : view(intent) };
    const others = replies.get(replyTo);
    if (others === undefined) replies.set(replyTo, [reply]);
    else others.push(reply);
  }
  const seen = new Set(recent.filter(({ event }) => isPublicType(event.type)).map(({ event }) => event.intentId));
  const notices = intents
    .filter(({ intent }) => seen.has(intent.id))
    .map(({ intent }) => ({ intentId: intent.id, version: intent.version, state: intent.status }));
  return { outcomes, replies, notices };
}
