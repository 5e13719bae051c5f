import { isDepositEvent, type LoggedRecord, parseIntentId, readRecord } from '@pf/contracts';
import type { LogReader, LogRecord } from '@pf/event-log';
import { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { withEventLog } from '../event-log.ts';
import { clock, createLines } from '../lines.ts';
import { globalOptions, type CommandContext } from '../session.ts';
import { findStack } from '../stack.ts';
import { addImportCommand } from './import.ts';
import { addProjectionCommands } from './projection.ts';

interface TailOptions {
  readonly intent?: string;
  readonly fromBeginning?: true;
  readonly follow: boolean;
}

/** `pf log …`: the ledger itself, intent.events. */
export function logCommand(context: CommandContext): Command {
  const log = new Command('log').description('the event log: every event of every intent, private ones too');
  log
    .command('tail')
    .description('show events as they are written, until Ctrl-C')
    .option('--intent <id>', 'only of this payment intent, from its first event')
    .option('--from-beginning', 'start at the first event')
    .option('--no-follow', 'stop at the current end of the log')
    .addHelpText(
      'after',
      '\nExamples:\n  pf log tail\n  pf log tail --intent pi_5mUj8xNgYq3vWJ2hTfKd7 --no-follow --json',
    )
    .action(async (options: TailOptions, command: Command) => {
      const lines = createLines(globalOptions(command).json, context.write);
      await withEventLog(findStack(context.environment), async (reader, { partitions }) => {
        const { intent } = options;
        for await (const records of read(
          reader,
          partitions,
          options,
          context.untilEnded?.() ?? new AbortController().signal,
        )) {
          for (const record of records) {
            const { partition, offset, key, value } = record;
            // The key is the intent's id: others need not be parsed.
            if (intent !== undefined && key !== intent) continue;
            const event = eventIn(record);
            lines.line({ partition, offset: offset.toString(), ...(event ? { event } : { unreadable: value }) }, () =>
              lineOf(record, event),
            );
          }
        }
      });
    });
  addProjectionCommands(log, context);
  addImportCommand(log, context);
  return log;
}

/** The records that are wanted, as far as partitions and places go. */
async function* read(
  reader: LogReader,
  partitions: number,
  { intent, fromBeginning, follow }: TailOptions,
  signal: AbortSignal,
): AsyncIterable<readonly LogRecord[]> {
  const ends = await reader.endOffsets('intent.events');
  const named = intent === undefined ? null : parseIntentId(intent, partitions);
  if (intent !== undefined && !named)
    throw new CliError(`${intent} is not the id of a payment intent. List them with \`pf intents list\`.`);
  const only = named ? [named.partition] : Array.from({ length: partitions }, (_, partition) => partition);
  const from = new Map(
    only.map((partition) => [partition, named || fromBeginning || !follow ? 0n : (ends[partition] ?? 0n)]),
  );
  if (follow) {
    try {
      for await (const { records } of reader.follow('intent.events', from, signal)) yield records;
    } catch (error) {
      // Ended by the one who reads.
      if (!signal.aborted) throw error;
    }
    return;
  }
  for (const [partition, position] of from) {
    if (signal.aborted) return;
    for await (const { records } of reader.read('intent.events', partition, position, ends[partition] ?? 0n))
      yield records;
  }
}

function eventIn({ value }: LogRecord): LoggedRecord | null {
  try {
    return readRecord(value ?? '');
  } catch (error) {
    // No version of the code wrote it: it is shown as it is.
    if (error instanceof Error) return null;
    throw error;
  }
}

function lineOf({ partition, offset, timestamp, key }: LogRecord, event: LoggedRecord | null): string {
  const place = `${partition}/${offset}`.padEnd(10);
  if (!event) return `${clock(new Date(timestamp))}  ${place}  ${key ?? ''}  cannot be read`;
  const { at, type, version } = event;
  const [id, state] = isDepositEvent(event)
    ? [event.depositId, event.deposit.level]
    : [event.intentId, event.intent.state];
  return `${clock(new Date(at))}  ${place}  ${id}  v${version}  ${type.padEnd(28)}  ${state}`;
}
