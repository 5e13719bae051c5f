import {
  type CommandMessage,
  encodeInput,
  newCommandId,
  newIntentId,
  type ObservationMessage,
  partitionOf,
  partitionOfKey,
  randomPartition,
  type Trace,
} from '@pf/contracts';
import type { Command, CreateData, IntentId, Observation } from '@pf/domain';
import type { NewRecord } from '@pf/event-log';
import { about, gateway, samples } from '@pf/domain/testing';

export const PARTITIONS = 6;
export const TRACE: Trace = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  requestId: 'req_test',
};

/** A command as the gateway sends it, with a new id and a reply to `replyTo`. */
export const sent = (command: Command, replyTo: string | null = null): CommandMessage => ({
  ...command,
  commandId: newCommandId(),
  replyTo,
  trace: TRACE,
});

/** An observation as a watcher sends it. */
export const observed = (observation: Observation): ObservationMessage => ({ ...observation, trace: TRACE });

/** A create of a new intent, in the partition of its idempotency key or in the given one. */
export function create(
  change: Partial<CreateData> = {},
  { replyTo = null, partition }: { replyTo?: string | null; partition?: number } = {},
): CommandMessage {
  const { idempotencyKey = null } = change;
  const where =
    partition ??
    (idempotencyKey === null
      ? randomPartition(PARTITIONS)
      : partitionOfKey(samples.ACCOUNT, false, idempotencyKey, PARTITIONS));
  return sent(about(newIntentId(where), gateway.create(change)), replyTo);
}

/** The same command for another intent of the test. */
export const of = (intentId: IntentId, command: Command, replyTo: string | null = null): CommandMessage =>
  sent(about(intentId, command), replyTo);

/** A message as a record of its topic. */
export const recordOf = (message: CommandMessage | ObservationMessage): NewRecord => ({
  partition: partitionOf(message.intentId),
  key: message.intentId,
  value: encodeInput(message),
});
