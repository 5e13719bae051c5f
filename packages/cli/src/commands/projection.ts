import {
  type Database,
  isDenied,
  type Keyring,
  type LogFault,
  type LogSource,
  type RebuildReport,
  rebuildProjection,
  recordChange,
  UnsoundLogError,
  verifyProjection,
} from '@pf/database';
import type { LogReader, RecordBatch } from '@pf/event-log';
import { type Command, InvalidArgumentError } from 'commander';
import { CliError } from '../cli-error.ts';
import { withEventLog } from '../event-log.ts';
import { table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';
import type { StackAccess } from '../stack.ts';

/** Longer than a broker takes to elect a leader, and to show what is committed. */
const STALLED_MS = 60_000;

/** `pf log verify` and `pf log rebuild`: what the log makes of every intent, against the rows that are served. */
export function addProjectionCommands(log: Command, context: CommandContext): void {
  log
    .command('verify')
    .description('fold the log from its beginning and compare it with the projection in Postgres; it changes nothing')
    .option('--partition <number>', 'only this partition', partitionOf)
    .option('--accept-log', 'do not fail for damage of the log itself, which `pf log rebuild --accept-log` accepts')
    .addHelpText('after', '\nExample:\n  pf log verify --partition 3')
    .action(({ partition, acceptLog }: { partition?: number; acceptLog?: true }, command: Command) =>
      withSession(command, context, async ({ database, output, stack }) =>
        withEventLog(stack, async (reader, { partitions }) => {
          const results: Result[] = [];
          const keyring = await keyringOf(stack);
          for (const one of wanted(partition, partitions))
            results.push(await resultOf(one, () => verifyProjection(database, one, sourceOf(reader, one), keyring)));
          output.answer({ partitions: results.map(answerOf) }, () => textOf(results, 'matches the log'));
          const failed = results.filter((result) =>
            findingsOf(result).some(({ kind }) => kind !== 'log' || acceptLog !== true),
          );
          if (failed.length > 0)
            throw new CliError(
              `The check failed for partition ${failed.map((result) => result.partition).join(', ')} of ${partitions}.`,
            );
        }),
      ),
    );

  log
    .command('rebuild')
    .description(
      'fold the log of a partition from its beginning and write the differences to the projection; its writer ' +
        'continues, and waits for the last step',
    )
    .option('--partition <number>', 'the partition', partitionOf)
    .option('--all', 'all partitions, three at a time')
    .option(
      '--accept-log',
      'also from a log that is damaged or ends before the projection: the projection loses what the log lacks',
    )
    .option('--bring-back', 'also store the intents that have left Postgres for the archive again')
    .addHelpText('after', '\nExample:\n  pf log rebuild --partition 3')
    .action(({ partition, all, acceptLog = false, bringBack = false }: RebuildOptions, command: Command) =>
      withSession(command, context, async ({ database, output, stack, by }) => {
        if ((partition === undefined) === (all === undefined))
          throw new CliError('Name the partition with --partition, or pass --all.');
        await withEventLog(stack, async (reader, { partitions }) => {
          const keyring = await keyringOf(stack);
          const reports = await eachOf(wanted(partition, partitions), async (one) => {
            const report = await rebuilt(() =>
              rebuildProjection(database, one, sourceOf(reader, one), { acceptLog, keyring, bringBack }),
            );
            await recordChange(database.sql, by, {
              accountId: null,
              action: 'ledger.rebuilt',
              after: { partition: one, acceptLog, bringBack },
            });
            return report;
          });
          const answers = reports.map(answerOf);
          output.answer(all ? { partitions: answers } : answers[0], () => {
            const differing = reports.flatMap((report) => report.differing);
            return differing.length === 0
              ? textOf(reports, 'matched the log, and was rebuilt anyway')
              : [table(rowsOf(reports)), '', 'Rebuilt from the log, because they differed:', ...differing].join('\n');
          });
        });
      }),
    );
}

/** Postgres writes for one partition while the events of another are parsed. Each has a connection of its own. */
const REBUILT_AT_ONCE = 3;

/** @returns the results in the order of the partitions; after a failure no further one is begun */
async function eachOf<Result>(
  partitions: readonly number[],
  work: (partition: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = [...partitions.entries()];
  const workers = Array.from({ length: REBUILT_AT_ONCE }, async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      try {
        results[next[0]] = await work(next[1]);
      } catch (error) {
        left.length = 0;
        throw error;
      }
    }
  });
  const failed = (await Promise.allSettled(workers)).find((worker) => worker.status === 'rejected');
  if (failed) throw failed.reason;
  return results;
}

interface RebuildOptions {
  readonly partition?: number;
  readonly all?: true;
  readonly acceptLog?: boolean;
  readonly bringBack?: boolean;
}

/** Null without SECRETS_KEY, which only a log with sealed events needs. */
export async function keyringOf(stack: StackAccess): Promise<Keyring | null> {
  try {
    return await stack.secretsKey();
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

/** The check of one partition, or why it could not be done. */
type Result = RebuildReport | { readonly partition: number; readonly error: string };

async function resultOf(partition: number, verify: () => Promise<RebuildReport>): Promise<Result> {
  try {
    return await verify();
  } catch (error) {
    // The other partitions are still to be checked.
    return failed(partition, error);
  }
}

const failed = (partition: number, error: unknown): Result => ({
  partition,
  error: error instanceof Error ? error.message : String(error),
});

async function rebuilt(rebuild: () => Promise<RebuildReport>): Promise<RebuildReport> {
  try {
    return await rebuild();
  } catch (error) {
    if (!(error instanceof UnsoundLogError)) throw error;
    throw new CliError(
      [
        `${error.message}. It was left unchanged.`,
        ...findingsOf(error.report)
          .filter(({ kind }) => kind !== 'rows')
          .map(({ text }) => text),
        'Read docs/operations/log-set-back.md first. To rebuild from this log as it is, add --accept-log.',
      ].join('\n'),
      { cause: error },
    );
  }
}

/**
 * What `pf log verify` finds in a partition.
 * @returns empty: the rows in Postgres are what the log makes of every intent; null: the role may not read them, as the
 * archive's
 */
export async function projectionProblems(
  database: Database,
  reader: LogReader,
  partition: number,
  keyring: Keyring | null,
): Promise<readonly string[] | null> {
  let result: Result;
  try {
    result = await verifyProjection(database, partition, sourceOf(reader, partition), keyring);
  } catch (error) {
    if (isDenied(error)) return null;
    result = failed(partition, error);
  }
  return findingsOf(result).map(({ text }) => text);
}

interface Finding {
  /** The log's own damage, an end before the projection, rows that differ, or a check that could not be done. */
  readonly kind: 'log' | 'behind' | 'rows' | 'error';
  /** What is wrong, and the remedy. */
  readonly text: string;
}

const FAULTS: Readonly<Record<LogFault['kind'], { readonly what: string; readonly page: string }>> = {
  repeated: { what: 'occurs twice', page: 'ledger-forked.md' },
  gap: { what: 'comes after a missing one', page: 'ledger-gap.md' },
  unreadable: { what: 'cannot be read', page: 'event-unreadable.md' },
};

function findingsOf(result: Result): readonly Finding[] {
  const { partition } = result;
  const at = `Partition ${partition}`;
  if ('error' in result) return [{ kind: 'error', text: `${at} could not be checked: ${result.error}` }];
  const { projected, end, faults, faultCount, differing, missing, surplus } = result;
  const findings: Finding[] = faults.map(({ kind, offset, intentId, version }) => ({
    kind: 'log',
    text:
      `${at}, offset ${offset}: ${intentId === null ? 'a record' : `version ${version} of ${intentId}`} ` +
      `${FAULTS[kind].what}. See docs/operations/runbooks/${FAULTS[kind].page}`,
  }));
  if (faultCount > faults.length)
    findings.push({ kind: 'log', text: `${at}: ${faultCount - faults.length} more such records` });
  if (end < projected)
    findings.push({
      kind: 'behind',
      text:
        `${at} is projected up to ${projected}, but its log ends at ${end}: Kafka has lost records, or a transaction ` +
        'hangs. See docs/operations/log-set-back.md',
    });
  if (differing.length > 0)
    findings.push({
      kind: 'rows',
      text:
        `${at}: ${atMost(differing)} intents differ from the log, ${atMost(missing)} of them without a row, ` +
        `${atMost(surplus)} that the log does not have. ` +
        (end < projected ? '' : `Repair them with: pf log rebuild --partition ${partition}`),
    });
  return findings;
}

/** Reports name the first 100. */
const atMost = ({ length }: readonly string[]): string => (length < 100 ? String(length) : '100 or more');

const sourceOf = (reader: LogReader, partition: number): LogSource => ({
  end: () => reader.endOffset('intent.events', partition),
  read: (from, end) => readToEnd(reader, partition, from, end),
});

/** Fails where the log has become shorter than `end`: the reader would wait for the rest. */
async function* readToEnd(
  reader: LogReader,
  partition: number,
  from: bigint,
  end: bigint,
): AsyncGenerator<RecordBatch> {
  const stalled = new AbortController();
  let position = from;
  const arm = (): NodeJS.Timeout =>
    setTimeout(() => {
      stalled.abort(
        new CliError(`Its log cannot be read from ${position} up to ${end}, where it ended when the command began.`),
      );
    }, STALLED_MS);
  let timer = arm();
  try {
    for await (const batch of reader.read('intent.events', partition, from, end, stalled.signal)) {
      clearTimeout(timer);
      position = batch.next;
      yield batch;
      timer = arm();
    }
  } finally {
    clearTimeout(timer);
  }
}

const wanted = (partition: number | undefined, partitions: number): readonly number[] => {
  if (partition === undefined) return Array.from({ length: partitions }, (_, one) => one);
  if (partition >= partitions)
    throw new CliError(`Partition ${partition} does not exist: the ` + `log has partitions 0 to ${partitions - 1}.`);
  return [partition];
};

function answerOf(result: Result): object {
  const problems = findingsOf(result).map(({ text }) => text);
  if ('error' in result) return { ...result, problems };
  const { position, projected, end, faults, ...report } = result;
  return {
    ...report,
    position: position.toString(),
    projected: projected.toString(),
    end: end.toString(),
    faults: faults.map((fault) => ({ ...fault, offset: fault.offset.toString() })),
    problems,
  };
}

const rowsOf = (results: readonly Result[]): readonly (readonly string[])[] => [
  ['PARTITION', 'UP TO', 'EVENTS', 'INTENTS', 'DIFFERING', 'LOG FAULTS'],
  ...results.map((result) =>
    'error' in result
      ? [String(result.partition), '-', '-', '-', '-', '-']
      : [
          String(result.partition),
          result.position.toString(),
          String(result.events),
          String(result.intents),
          String(result.differing.length),
          String(result.faultCount),
        ],
  ),
];

function textOf(results: readonly Result[], right: string): string {
  const problems = results.flatMap(findingsOf).map(({ text }) => text);
  const differing = results.flatMap((result) => ('error' in result ? [] : result.differing));
  return [
    table(rowsOf(results)),
    '',
    ...(problems.length === 0 ? [`The projection ${right}.`] : [...differing, ...problems]),
  ].join('\n');
}

function partitionOf(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('A partition is a whole number from 0.');
  return Number(text);
}
