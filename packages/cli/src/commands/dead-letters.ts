import { type DeadLetter, parseDeadLetter, parseObservation, partitionOf } from '@pf/contracts';
import { recordChange } from '@pf/database';
import { type LogReader, PositionOutOfRangeError } from '@pf/event-log';
import { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { withEventLog } from '../event-log.ts';
import { table } from '../output.ts';
import { type CommandContext, withoutDatabase, withSession } from '../session.ts';

interface Choice {
  readonly intent?: string;
  readonly topic?: string;
}

/** `pf dead-letters …`: messages that could not be processed, intent.dead. */
export function deadLettersCommand(context: CommandContext): Command {
  const deadLetters = new Command('dead-letters').description(
    'messages that could not be processed; each observation among them is a payment missing from the ledger',
  );
  deadLetters
    .command('list')
    .description('list the dead letters of the last 30 days, oldest first in each partition')
    .option('--intent <id>', 'only of this payment intent')
    .option('--topic <name>', 'only of this topic: intent.commands or chain.observations')
    .addHelpText('after', '\nExample:\n  pf dead-letters list --topic chain.observations')
    .action((choice: Choice, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      return withEventLog(stack, async (reader, { partitions }) => {
        const letters = await lettersOf(reader, partitions, choice);
        output.answer({ deadLetters: letters }, () =>
          letters.length === 0
            ? 'There are no dead letters.'
            : table([
                ['AT', 'MESSAGE', 'INTENT', 'REASON'],
                ...letters.map((letter) => [letter.at, nameOf(letter), letter.intentId ?? '', letter.reason]),
              ]),
        );
      });
    });

  deadLetters
    .command('replay')
    .description(
      'publish dead-lettered observations again once the bug is fixed; one that the ledger already has changes ' +
        'nothing',
    )
    .option('--intent <id>', 'only of this payment intent')
    .addHelpText('after', '\nExamples:\n  pf dead-letters replay\n  pf dead-letters replay --intent pi_5mUj8xNgYq3vW')
    .action((choice: Choice, command: Command) =>
      withSession(command, context, async ({ database, output, stack, by }) =>
        withEventLog(stack, async (reader, eventLog) => {
          const letters = await lettersOf(reader, eventLog.partitions, { ...choice, topic: 'chain.observations' });
          const publisher = await eventLog.publisher();
          const replayed: string[] = [];
          const failed: { readonly message: string; readonly problem: string }[] = [];
          try {
            for (const letter of letters) {
              const observation = await observationOf(reader, letter);
              if (typeof observation !== 'string') {
                failed.push({ message: nameOf(letter), ...observation });
                continue;
              }
              const message = parseObservation(observation);
              const id = message.kind === 'deposit' ? message.depositId : message.intentId;
              await publisher.publish('chain.observations', {
                partition: partitionOf(id),
                key: id,
                value: observation,
              });
              replayed.push(nameOf(letter));
            }
          } finally {
            await publisher.close();
          }
          const after = { replayed: replayed.length, intent: choice.intent ?? null };
          await recordChange(database.sql, by, { accountId: null, action: 'dead_letters.replayed', after });
          output.answer({ replayed, failed }, () =>
            [
              `${replayed.length} observations were published again. Those that fail again become dead letters again.`,
              ...failed.map(({ message, problem }) => `${message}: ${problem}`),
            ].join('\n'),
          );
          if (failed.length > 0)
            throw new CliError(
              `${failed.length} observations could not be replayed. Rescan their blocks with \`pf watch rescan\`.`,
            );
        }),
      ),
    );
  return deadLetters;
}

const nameOf = ({ topic, partition, offset }: DeadLetter): string => `${topic}-${partition}/${offset}`;

/** Each message once: its letter is there twice where the writer died between letter and commit. */
async function lettersOf(
  reader: LogReader,
  partitions: number,
  { intent, topic }: Choice,
): Promise<readonly DeadLetter[]> {
  const found = new Map<string, DeadLetter>();
  const ends = await reader.endOffsets('intent.dead');
  for (let partition = 0; partition < partitions; partition++) {
    const from = await reader.startOffset('intent.dead', partition);
    const end = ends[partition] ?? 0n;
    if (from >= end) continue;
    for await (const { records } of reader.read('intent.dead', partition, from, end)) {
      for (const { value } of records) {
        const letter = parseDeadLetter(value ?? '');
        if (intent !== undefined && letter.intentId !== intent) continue;
        if (topic === undefined || letter.topic === topic) found.set(nameOf(letter), letter);
      }
    }
  }
  return [...found.values()];
}

/** The observation of a letter, as this version reads it, or why there is none. */
async function observationOf(reader: LogReader, letter: DeadLetter): Promise<string | { readonly problem: string }> {
  const value = letter.payload ?? (await originalOf(reader, letter));
  if (value === null) return { problem: 'its content is no longer kept' };
  try {
    parseObservation(value);
    return value;
  } catch {
    // It would become a dead letter again at once.
    return { problem: 'this version of pf cannot parse it either' };
  }
}

/** The message itself, for letters of before 1.1, which did not repeat it. Null once its topic has deleted it. */
async function originalOf(reader: LogReader, { topic, partition, offset }: DeadLetter): Promise<string | null> {
  const at = BigInt(offset);
  try {
    for await (const { records } of reader.read(topic, partition, at, at + 1n))
      return records.find((record) => record.offset === at)?.value ?? null;
    return null;
  } catch (error) {
    if (error instanceof PositionOutOfRangeError) return null;
    throw error;
  }
}
