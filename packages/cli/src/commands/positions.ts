import { DELIVERY_DAYS, readRecord } from '@pf/contracts';
import { readPositions, recordChange, setWebhookPosition } from '@pf/database';
import type { LogReader, LogRecord } from '@pf/event-log';
import { Command, InvalidArgumentError } from 'commander';
import { CliError } from '../cli-error.ts';
import { withEventLog } from '../event-log.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Events whose deliveries are no longer kept would be delivered again; with a day to spare. */
const OLDEST_MS = (DELIVERY_DAYS - 1) * DAY_MS;

/** `pf positions …`: how far the projection and the webhooks have read the log. */
export function positionsCommand(context: CommandContext): Command {
  const positions = new Command('positions').description('how far the projection and the webhooks have read the log');
  positions
    .command('show')
    .description('show the positions of each partition, and where its log ends')
    .addHelpText('after', '\nExample:\n  pf positions show')
    .action((_options: object, command: Command) =>
      withSession(command, context, async ({ database, output, stack }) =>
        withEventLog(stack, async (reader) => {
          const ends = await reader.endOffsets('intent.events');
          const known = await readPositions(database);
          const rows = ends.map((end, partition) => {
            const { projected = 0n, webhooks = 0n } = known.get(partition) ?? {};
            const beyond = [projected > end ? 'projection' : [], webhooks > end ? 'webhooks' : []].flat();
            return { partition, end, projected, webhooks, beyond };
          });
          output.answer(
            {
              partitions: rows.map(({ partition, end, projected, webhooks, beyond }) => ({
                partition,
                end: String(end),
                projected: String(projected),
                webhooks: String(webhooks),
                beyond,
              })),
            },
            () =>
              table([
                ['PARTITION', 'LOG ENDS AT', 'PROJECTED', 'WEBHOOKS', 'BEYOND THE END'],
                ...rows.map(({ partition, end, projected, webhooks, beyond }) =>
                  [partition, end, projected, webhooks, beyond.join(', ')].map(String),
                ),
              ]),
          );
        }),
      ),
    );

  positions
    .command('reset')
    .description(
      'make the webhook service read the log again from a time, after the log or database was restored; no URL ' +
        'gets an event twice',
    )
    .requiredOption('--since <time>', 'ISO 8601, within the last 29 days: a time before the incident', timeOf)
    .option('--partition <number>', 'only this partition', partitionOf)
    .addHelpText('after', '\nExample:\n  pf positions reset --since 2026-11-21T10:00:00Z')
    .action(({ since, partition: only }: { since: number; partition?: number }, command: Command) =>
      withSession(command, context, async ({ database, output, stack, by }) =>
        withEventLog(stack, async (reader) => {
          if (since < Date.now() - OLDEST_MS)
            throw new CliError(
              `--since ${new Date(since).toISOString()} is more than 29 days ago. Older deliveries are deleted, so ` +
                'their events would be delivered again. Choose a later time.',
            );
          const ends = await reader.endOffsets('intent.events');
          if (only !== undefined && ends[only] === undefined)
            throw new CliError(`Partition ${only} does not exist: the log has partitions 0 to ${ends.length - 1}.`);
          const reset: { partition: number; before: bigint; position: bigint }[] = [];
          for (const [partition, end] of ends.entries()) {
            if (only !== undefined && only !== partition) continue;
            const position = await firstSince(reader, partition, end, since);
            reset.push({ partition, before: await setWebhookPosition(database, partition, position), position });
          }
          const after = { since: new Date(since), partitions: reset.map(({ partition }) => partition) };
          await recordChange(database.sql, by, { accountId: null, action: 'positions.reset', after });
          output.answer(
            {
              since: new Date(since).toISOString(),
              partitions: reset.map(({ partition, before, position }) => ({
                partition,
                before: String(before),
                position: String(position),
              })),
            },
            () =>
              [
                table([
                  ['PARTITION', 'WAS', 'IS'],
                  ...reset.map(({ partition, before, position }) => [partition, before, position].map(String)),
                ]),
                '',
                `The webhook service reads again from ${moment(new Date(since))} on.`,
              ].join('\n'),
          );
        }),
      ),
    );
  return positions;
}

/** The position of the first event at or after a time, by bisection: a partition's times never go back. */
async function firstSince(reader: LogReader, partition: number, end: bigint, since: number): Promise<bigint> {
  let low = 0n;
  let high = end;
  while (low < high) {
    const middle = (low + high) / 2n;
    const record = await firstRecord(reader, partition, middle, high);
    if (record !== null && timeIn(record) < since) low = record.offset + 1n;
    else high = middle;
  }
  return low;
}

/** Null where there are only markers of transactions. */
async function firstRecord(reader: LogReader, partition: number, from: bigint, end: bigint): Promise<LogRecord | null> {
  for await (const { records } of reader.read('intent.events', partition, from, end)) {
    const [first] = records;
    if (first) return first.offset < end ? first : null;
  }
  return null;
}

function timeIn({ value, timestamp }: LogRecord): number {
  try {
    return Date.parse(readRecord(value ?? '').at);
  } catch {
    // It cannot be read here: its append is not earlier than its event.
    return timestamp;
  }
}

function timeOf(text: string): number {
  const time = Date.parse(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(time))
    throw new InvalidArgumentError(`"${text}" is not an ISO 8601 time, e.g. 2026-11-21T10:00:00Z.`);
  return time;
}

function partitionOf(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('A partition is a whole number from 0.');
  return Number(text);
}
