import {
  commandId as commandIdSchema,
  type CommandMessage,
  type CommandSeal,
  type DepositCommandMessage,
  depositIdOf,
  type DepositMessage,
  intentId as intentIdSchema,
  type ObservationMessage,
  parseCommand,
  parseDepositId,
  parseIntentId,
  parseObservation,
  type Trace,
  trace as traceSchema,
} from '@pf/contracts';
import type { CommandId, IntentId } from '@pf/domain';
import type { LogRecord } from '@pf/event-log';
import { z } from 'zod';
import type { ObservationAuthors } from './observation-authors.ts';

/** The readable part of a message that cannot be parsed, to reply to its sender. */
export interface MessageHead {
  readonly commandId: CommandId | null;
  readonly intentId: IntentId | null;
  readonly replyTo: string | null;
  readonly trace: Trace | null;
}

/** What an input topic has. */
export type Message = CommandMessage | ObservationMessage | DepositInput;
/** What is of a deposit: commands, and observations. */
export type DepositInput = DepositCommandMessage | DepositMessage;
export const isOfDeposit = (message: Message): message is DepositInput => 'depositId' in message;
const isObservation = (message: Message): message is ObservationMessage | DepositMessage =>
  message.kind === 'observation' || message.kind === 'deposit';

/** A record of an input topic: the message in it, or why it holds none. */
export type Input =
  | { readonly record: LogRecord; readonly message: Message }
  | { readonly record: LogRecord; readonly message: null; readonly reason: string; readonly head: MessageHead };

const UNREADABLE: MessageHead = { commandId: null, intentId: null, replyTo: null, trace: null };
const head = z.object({
  commandId: commandIdSchema.nullable().catch(null),
  intentId: intentIdSchema.nullable().catch(null),
  replyTo: z.string().max(128).nullable().catch(null),
  trace: traceSchema.nullable().catch(null),
});
/** The number of issues of one message that its reason names. */
const ISSUES_NAMED = 5;

/**
 * Reads a record of an input topic. Never throws: a record that is not a message, or is of an intent of another
 * partition, or is not its author's to say, has a reason in place of the message.
 * @param partitions the number of partitions of the log.
 * @param seal opens sealed commands; null: these have a reason in place of the message
 * @param authors of observations; null: whoever wrote one is believed
 */
export function readInput(
  record: LogRecord,
  partitions: number,
  seal: CommandSeal | null = null,
  authors: ObservationAuthors | null = null,
): Input {
  if (record.value === null) return { record, message: null, reason: 'the record has no value', head: UNREADABLE };
  try {
    const message =
      record.topic === 'intent.commands' ? parseCommand(record.value, seal) : parseObservation(record.value);
    const refusal = authors !== null && isObservation(message) ? authors.refusalOf(record.value, message) : null;
    if (refusal !== null) return { record, message: null, reason: refusal, head: headOf(record.value) };
    // Its id is that of the transfer: no watcher takes the place of another network's deposit.
    if (message.kind === 'deposit' && message.type === 'deposit_landed') {
      const { accountId, chain, arrival } = message.data;
      if (depositIdOf(accountId, chain, arrival, partitions) !== message.depositId) {
        const reason = `${message.depositId} is not the deposit of this transfer on ${chain}`;
        return { record, message: null, reason, head: headOf(record.value) };
      }
    }
    if (isOfDeposit(message))
      return parseDepositId(message.depositId, partitions)?.partition === record.partition
        ? { record, message }
        : {
            record,
            message: null,
            reason: `${message.depositId} is not of this partition`,
            head: headOf(record.value),
          };
    const ids = message.type === 'refund' ? [message.intentId, message.data.refundIntentId] : [message.intentId];
    // Each intent has one writer: an intent of another partition is not this one's to change.
    const foreign = ids.find((id) => parseIntentId(id, partitions)?.partition !== record.partition);
    if (foreign === undefined) return { record, message };
    return {
      record,
      message: null,
      reason: `the intent ${foreign} is not of this partition`,
      head: headOf(record.value),
    };
  } catch (error) {
    return { record, message: null, reason: reasonOf(error), head: headOf(record.value) };
  }
}

/** Paths and rules, never values, which may be secret. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the record is not JSON';
  if (!(error instanceof z.ZodError)) return `the record cannot be read: ${(error as Error).name}`;
  return error.issues
    .slice(0, ISSUES_NAMED)
    .map(({ path, message }) => `${path.join('.') || 'message'}: ${message}`)
    .join('; ');
}

function headOf(value: string): MessageHead {
  try {
    return head.parse(JSON.parse(value));
  } catch {
    // Not even a JSON object: there is no sender to reply to.
    return UNREADABLE;
  }
}
