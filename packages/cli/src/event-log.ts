import { createEventLog, type EventLog, eventLogOptions, type LogReader } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { CliError } from './cli-error.ts';
import type { StackAccess } from './stack.ts';

/**
 * Opens the event log, runs a command's work with a reader of it, closes it again.
 * @throws CliError where the log cannot be reached
 */
export async function withEventLog(
  stack: StackAccess,
  work: (reader: LogReader, eventLog: EventLog) => Promise<void>,
): Promise<void> {
  const environment = await stack.kafka();
  const eventLog = createEventLog(eventLogOptions(environment, 'pf', createLogger('pf', 'silent')));
  try {
    await eventLog.verifyTopics();
  } catch (cause) {
    throw new CliError(
      `The log at ${environment.KAFKA_BROKERS.join(', ')} cannot be read: ` +
        `${cause instanceof Error ? cause.message : String(cause)}\n` +
        'Is the stack running? Start it with `npm start`.',
      { cause },
    );
  }
  const reader = await eventLog.reader('pf');
  try {
    await work(reader, eventLog);
  } finally {
    await reader.close();
  }
}
