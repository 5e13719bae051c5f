import { type RebuildReport, rebuildProjection, verifyProjection } from '@pf/database';
import { createEventLog, eventLogOptions, type LogReader } from '@pf/event-log';
import { createLogger } from '@pf/runtime';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError } from '../cli-error.ts';
import { table } from '../output.ts';
import { type Session, type CommandContext, withSession } from '../session.ts';

/** `pf log verify` and `pf log rebuild`: what the log makes of every intent, against the rows that are served. */
export function addProjectionCommands(log: Command, surroundings: CommandContext): void {
  log
    .command('verify')
    .description(
      'fold the log from its beginning and compare with the projection in Postgres; nothing is stopped or changed',
    )
    .option('--partition <number>', 'only this partition', partitionOf)
    .addHelpText('after', '\nExample:\n  pf log verify --partition 3')
    .action(({ partition }: { partition?: number }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, stack }) =>
        withLog(stack, async (reader, partitions) => {
          const reports: RebuildReport[] = [];
          for (const one of wanted(partition, partitions))
            reports.push(await verifyProjection(database, one, readOf(reader, one)));
          output.answer({ partitions: reports.map(answerOf) }, () =>
            textOf(reports, 'matches the log', 'Repair it with: pf log rebuild --partition …'),
          );
          if (reports.some(({ differing }) => differing.length > 0))
            throw new CliError('The projection differs from the log.');
        }),
      ),
    );

  log
    .command('rebuild')
    .description(
      'fold the log of a partition from its beginning and put the result in the projection’s place; its writer ' +
        'waits meanwhile',
    )
    .requiredOption('--partition <number>', 'which', partitionOf)
    .addHelpText('after', '\nExample:\n  pf log rebuild --partition 3')
    .action(({ partition }: { partition: number }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, stack }) =>
        withLog(stack, async (reader, partitions) => {
          for (const one of wanted(partition, partitions)) {
            const report = await rebuildProjection(
              database,
              one,
              await reader.endOffset('intent.events', one),
              readOf(reader, one),
            );
            output.answer(answerOf(report), () =>
              textOf(
                [report],
                'was as the log has it, and was rebuilt all the same',
                'These rows were wrong and are rebuilt from the log.',
              ),
            );
          }
        }),
      ),
    );
}

const readOf = (reader: LogReader, partition: number) => (from: bigint, end: bigint) =>
  reader.read('intent.events', partition, from, end);

const wanted = (partition: number | undefined, partitions: number): readonly number[] => {
  if (partition === undefined) return Array.from({ length: partitions }, (_, one) => one);
  if (partition >= partitions)
    throw new CliError(`Partition ${partition} does not exist: the ` + `log has partitions 0 to ${partitions - 1}.`);
  return [partition];
};

async function withLog(
  stack: Session['stack'],
  work: (reader: LogReader, partitions: number) => Promise<void>,
): Promise<void> {
  const environment = await stack.kafka();
  const eventLog = createEventLog(eventLogOptions(environment, 'pf', createLogger('pf', 'silent')));
  try {
    await eventLog.verifyTopics();
  } catch (cause) {
    throw new CliError(
      `The log at ${environment.KAFKA_BROKERS.join(', ')} cannot be read: ` +
        `${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  const reader = await eventLog.reader('pf');
  try {
    await work(reader, eventLog.partitions);
  } finally {
    await reader.close();
  }
}

const answerOf = ({ position, ...report }: RebuildReport): object => ({ ...report, position: position.toString() });

function textOf(reports: readonly RebuildReport[], right: string, wrong: string): string {
  const rows = reports.map(({ partition, position, events, intents, differing }) => [
    String(partition),
    position.toString(),
    String(events),
    String(intents),
    String(differing.length),
  ]);
  const differing = reports.flatMap((report) => report.differing);
  return [
    table([['PARTITION', 'UP TO', 'EVENTS', 'INTENTS', 'DIFFERING'], ...rows]),
    '',
    ...(differing.length === 0 ? [`The projection ${right}.`] : [...differing, '', wrong]),
  ].join('\n');
}

function partitionOf(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('A partition is a whole number from 0.');
  return Number(text);
}
