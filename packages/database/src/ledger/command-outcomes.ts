import {
  type EventEnvelope,
  eventOf,
  isDepositEvent,
  isForeign,
  isForeignDeposit,
  type LoggedRecord,
  type Outcome,
} from '@pf/contracts';
import type { Build, CommandId, Instant, IntentId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import type { ProjectedOutcome } from './projection.ts';

/**
 * How long outcomes are kept. Older ones that a new owner finds in the log are not written again, and older commands
 * are not decided: whether they were is not known.
 */
export const OUTCOME_RETENTION_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes outcomes of commands from before `before`, oldest first. At most `limit` of them, so that the transaction is
 * short. Several processes may call it at once.
 * @returns the number deleted: fewer than `limit` if none are left.
 */
export async function forgetOutcomes({ sql }: Database, before: Instant, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `DELETE FROM service.command_outcomes WHERE command_id IN
       (SELECT command_id FROM service.command_outcomes WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [new Date(before), limit],
  );
  return rowCount ?? 0;
}

/**
 * The outcomes of the commands that caused these events, but for those that would be deleted. The log has only commands
 * that were accepted and changed something; any other is decided again when it is sent again.
 * @param now milliseconds since 1970
 */
export function outcomesIn(events: readonly LoggedRecord[], now: Instant): readonly ProjectedOutcome[] {
  const byCommand = new Map<CommandId, EventEnvelope[]>();
  const ofDeposits: ProjectedOutcome[] = [];
  for (const event of events) {
    const { commandId } = event;
    const at = Date.parse(event.at);
    if (commandId === null || at <= now - OUTCOME_RETENTION_MS) continue;
    if (isDepositEvent(event)) {
      const { depositId } = event;
      // Each such command has one event.
      if (!isForeignDeposit(event))
        ofDeposits.push({ outcome: { kind: 'deposit', commandId, depositId, refusal: null }, at });
      continue;
    }
    if (isForeign(event)) continue;
    const others = byCommand.get(commandId);
    if (others === undefined) byCommand.set(commandId, [event]);
    else others.push(event);
  }
  const ofIntents = [...byCommand].map(([commandId, caused]) => ({
    outcome: acceptedBy(commandId, caused),
    at: Math.max(...caused.map(({ at }) => Date.parse(at))),
  }));
  return [...ofIntents, ...ofDeposits];
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
