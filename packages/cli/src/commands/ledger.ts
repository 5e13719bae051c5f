import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type Answer,
  ArchiveDamagedError,
  type DeliveriesReport,
  Ledger,
  type LedgerScope,
  type NotedHead,
  openStore,
  ParquetFiles,
  type PartitionReport,
  QueryError,
  StoreUnavailableError,
  TooLargeError,
  verifyArchive,
  verifyDeliveries,
} from '@pf/archive';
import { ColdBundles, type ColdReport, verifyCold } from '@pf/archive/cold';
import { coldByBundle, coldVersions, type Database, isDatabaseUnavailable, openDatabase } from '@pf/database';
import type { EventLog, LogReader } from '@pf/event-log';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { withEventLog } from '../event-log.ts';
import { moment as momentText, table } from '../output.ts';
import { type CommandContext, globalOptions, withoutDatabase } from '../session.ts';
import { timeOf } from '../time-option.ts';
import type { StackAccess } from '../stack.ts';
import { keyringOf, projectionProblems } from './projection.ts';

const FORMATS = ['parquet', 'ndjson', 'csv'] as const;
type FileFormat = (typeof FORMATS)[number];
const SCOPED = '; of --account and --mode only where they are given';
/** A cell of a table is no longer. */
const CELL_MAX = 60;

/** `pf ledger …`: the archive of the ledger, with SQL. */
export function ledgerCommand(context: CommandContext): Command {
  const ledger = new Command('ledger').description('the archive of the ledger: query, export and verify it');
  ledger
    .command('query')
    .description(`run an SQL query (DuckDB) over events, intents, payments, journal and deliveries${SCOPED}`)
    .argument('<sql>', 'the query; the column at is a keyword of SQL: write "at"')
    .addHelpText(
      'after',
      '\nExamples:\n  pf ledger query "SELECT state, count(*) FROM intents GROUP BY state"\n' +
        '  pf ledger query "SELECT \\"at\\", type FROM events WHERE intent_id = \'pi_5mUj8xNgYq3vWJ2hTfKd7\'"',
    )
    .action(async (sql: string, _options: unknown, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      await withLedger(stack, scopeOf(command), async (open) => {
        const answer = await open.query(sql);
        output.answer(answer.rows, () => tableOf(answer));
      });
    });

  ledger
    .command('export')
    .description(`write the events of a period to a file, in the order of the log${SCOPED}`)
    .requiredOption('--output <file>', 'the file; an existing one is replaced')
    .option('--from <time>', 'from this time, ISO 8601, in UTC (default: the first event)', timeOf)
    .option('--to <time>', 'before this time (default: now)', timeOf)
    .addOption(new Option('--format <format>', 'of the file').choices(FORMATS).default('parquet'))
    .addHelpText('after', '\nExample:\n  pf ledger export --from 2026-11-01 --to 2026-12-01 --output november.parquet')
    .action(
      async (
        { output: file, from, to, format }: { output: string; from?: Date; to?: Date; format: FileFormat },
        command: Command,
      ) => {
        const { output, stack } = withoutDatabase(command, context);
        await withLedger(stack, scopeOf(command), async (open) => {
          const wanted = [from && `"at" >= ${sqlOf(from)}`, to && `"at" < ${sqlOf(to)}`].filter(Boolean).join(' AND ');
          const events = `FROM events${wanted === '' ? '' : ` WHERE ${wanted}`}`;
          const { rows } = await open.query(`SELECT count(*) AS events ${events}`);
          const target = path.resolve(file);
          await open.write(`SELECT * ${events} ORDER BY partition, log_offset`, target, format);
          const count = Number(rows[0]?.['events'] ?? 0);
          output.answer({ file: target, events: count }, () => `Wrote ${count} events to ${target}.`);
        });
      },
    );

  ledger
    .command('as-of')
    .description(`show payment intents as they were at a time${SCOPED}`)
    .argument('<time>', 'ISO 8601, in UTC: 2026-11-23 or 2026-11-23T12:00:00Z', timeOf)
    .option('--intent <id>', 'only this payment intent')
    .addHelpText('after', '\nExample:\n  pf ledger as-of 2026-11-23T12:00:00Z --intent pi_5mUj8xNgYq3vWJ2hTfKd7')
    .action(async (time: Date, { intent }: { intent?: string }, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      await withLedger(stack, scopeOf(command), async (open) => {
        const intents = await open.asOf(time, intent ?? null);
        if (intent !== undefined && intents.length === 0)
          throw new CliError(`The archive has no event of ${intent} up to ${momentText(time)}.`);
        output.answer(
          intents.map(({ version, intent: known }) => ({ version, intent: known })),
          () =>
            table([
              ['INTENT', 'VERSION', 'STATE', 'AMOUNT', 'TOKEN', 'CHAIN'],
              ...intents.map(({ version, intent: known }) => {
                const { id, state, amount, token, chain } = known as Record<string, string>;
                return [id, String(version), state, amount, token, chain].map((cell) => cell ?? '');
              }),
            ]),
        );
      });
    });

  ledger
    .command('verify')
    .description(
      'verify the archive: signatures, hash chain, gaps, forks, files of deliveries; compare it with the log, and ' +
        'the log with the intents in the database and with what has left it',
    )
    .option('--key <public key>', 'the key that must have signed it, 32 bytes in base64 (default: the published one)')
    .option('--heads <file>', 'what it printed earlier with --json, or lines that the service logged: it goes on there')
    .option('--no-log', 'check only the archive, without a Kafka cluster')
    .addHelpText('after', '\nExample:\n  pf ledger verify --no-log --key S3tH…= --heads heads-of-october.json')
    .action(async ({ key, log, heads }: { key?: string; log: boolean; heads?: string }, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      const { accountId, livemode } = scopeOf(command);
      if (accountId !== undefined || livemode !== undefined)
        throw new CliError('`pf ledger verify` proves all accounts in both modes: leave out --account and --mode.');
      const noted = heads === undefined ? [] : await readHeads(heads);
      const url = await stack.archive();
      const store = openStore(url);
      const parquet = await ParquetFiles.open();
      const database = log ? await databaseIfNamed(stack) : null;
      try {
        const verify = async (reader: LogReader | null, eventLog: EventLog | null): Promise<void> => {
          const left = async (partition: number): Promise<ReadonlyMap<string, number>> =>
            database ? await coldVersions(database, partition) : new Map();
          const keyring = await keyringOf(stack);
          const { partitions, problems } = await verifyArchive({
            store,
            parquet,
            reader,
            left,
            noted,
            publicKey: key ?? null,
            partitions: eventLog?.partitions ?? null,
          });
          const reports: VerifyReport[] = [];
          for (const report of partitions)
            reports.push({
              ...report,
              projection: database && reader && (await projectionProblems(database, reader, report.partition, keyring)),
            });
          const cold =
            database && (await verifyCold(coldByBundle(database), new ColdBundles(store, await keyringOf(stack))));
          const deliveries = await verifyDeliveries(store);
          output.answer({ partitions: reports, problems, cold, deliveries }, () =>
            [
              ...problems,
              table([
                ['PARTITION', 'FILES', 'EVENTS', 'BEHIND', 'HEAD', 'RESULT'],
                ...reports.map(({ partition, files, events, behind, head, ...found }) => [
                  String(partition),
                  String(files),
                  String(events),
                  behind === null ? '' : String(behind),
                  `${head.slice(0, 16)}…`,
                  problemsOf(found).join('; ') || 'ok',
                ]),
              ]),
              ...(log || noted.length > 0 ? [] : [NOT_MISSED]),
              textOf(cold),
              ...(log && database && reports.some(({ projection }) => projection === null) ? [DENIED] : []),
              textOfDeliveries(deliveries),
            ].join('\n'),
          );
          if (problems.length > 0) throw new CliError(`The check of ${url.href} failed. ${problems.join('; ')}`);
          const failed = reports.filter((report) => problemsOf(report).length > 0);
          if (failed.length > 0)
            throw new CliError(
              `The check failed for partition ${failed.map((one) => one.partition).join(', ')}. ` +
                'What to do: docs/operations/runbooks/archive-damaged.md.',
            );
          if (cold && cold.problems.length > 0)
            throw new CliError(
              'Intents that have left the database cannot be read. Store all of them there again: ' +
                '`pf log rebuild --all --bring-back` (docs/operations/growth.md).',
            );
          if (deliveries.problems.length > 0)
            throw new CliError(
              'Files of ended deliveries were changed, and queries refuse them (docs/operations/archive.md).',
            );
        };
        await explained(() => (log ? withEventLog(stack, verify) : verify(null, null)));
      } finally {
        await parquet.close();
        await database?.close();
      }
    });
  return ledger;
}

const notedHead = z.object({
  partition: z.number().int().nonnegative(),
  events: z.number().int().nonnegative(),
  head: z.string().regex(/^[0-9a-f]{64}$/),
});

/** The heads in what `verify --json` printed, or in lines of a log, which may have others. */
async function readHeads(file: string): Promise<readonly NotedHead[]> {
  const text = await readFile(path.resolve(file), 'utf8').catch((cause: unknown) => {
    throw new CliError(`${file} cannot be read.`, { cause });
  });
  const report = z.object({ partitions: z.array(notedHead) }).safeParse(parsed(text));
  if (report.success) return report.data.partitions;
  const heads = text.split('\n').flatMap((line) => notedHead.safeParse(parsed(line)).data ?? []);
  if (heads.length > 0) return heads;
  throw new CliError(`${file} has no heads. Write it with \`pf ledger verify --json\`.`);
}
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Null where no database is named: whoever has the archive and the log alone can prove these. */
async function databaseIfNamed(stack: StackAccess): Promise<Database | null> {
  try {
    const url = await stack.databaseUrl();
    return openDatabase({ url, applicationName: 'pf', maxConnections: 1 });
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

interface VerifyReport extends PartitionReport {
  /** What is wrong with the rows in Postgres; null where they were not compared. */
  readonly projection: readonly string[] | null;
}
const problemsOf = ({ problems, projection }: Pick<VerifyReport, 'problems' | 'projection'>): readonly string[] => [
  ...problems,
  ...(projection ?? []),
];

const NOT_MISSED =
  'Without the log, a missing partition and newest events that were cut off are noticed only with --heads.';

const DENIED =
  'The rows of intents in the database were not checked: this role may not read them. Run `pf log verify`.';

const textOf = (cold: ColdReport | null): string =>
  cold === null
    ? 'The rows of intents in the database, and what has left it, were not checked: set DATABASE_URL.'
    : `${cold.intents} intents have left the database: ${cold.problems.join('; ') || 'ok'}`;

const textOfDeliveries = ({ files, rows, problems }: DeliveriesReport): string =>
  `${rows} ends of deliveries in ${files} files: ${problems.join('; ') || 'ok'}`;

/** What --account and --mode narrow it to; without them it has all accounts, in both modes. */
function scopeOf(command: Command): LedgerScope {
  const { account, mode } = globalOptions(command);
  const isChosen = command.getOptionValueSourceWithGlobals('mode') !== 'default';
  return { accountId: account, livemode: isChosen ? mode === 'live' : undefined };
}

async function withLedger(
  stack: StackAccess,
  scope: LedgerScope,
  work: (ledger: Ledger) => Promise<void>,
): Promise<void> {
  await explained(async () => {
    const url = await stack.archive();
    // A folder needs no copies of its files.
    const copies = url.protocol === 'file:' ? undefined : await stack.archiveCopies();
    const ledger = await Ledger.open(openStore(url), copies, scope);
    try {
      const { rows } = await ledger.query('SELECT 1 FROM events LIMIT 1');
      if (rows.length === 0) throw new CliError(`The archive at ${url.href} has no events${ofScope(scope)}.`);
      await work(ledger);
    } finally {
      ledger.close();
    }
  });
}

const ofScope = ({ accountId, livemode }: LedgerScope): string =>
  accountId === undefined && livemode === undefined
    ? ': is ARCHIVE_URL correct? New events are there within a minute'
    : `${accountId === undefined ? '' : ` of account ${accountId}`}` +
      `${livemode === undefined ? '' : ` in ${livemode ? 'live' : 'test'} mode`}`;

/** What the message says to a person, without a stack. */
async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TooLargeError) throw new CliError(`${error.message} Set ARCHIVE_CACHE_MB.`, { cause: error });
    if (isDatabaseUnavailable(error))
      throw new CliError(`The database does not respond: ${(error as Error).message}`, { cause: error });
    if ([QueryError, StoreUnavailableError, ArchiveDamagedError].some((kind) => error instanceof kind))
      throw new CliError((error as Error).message, { cause: error });
    throw error;
  }
}

function tableOf({ columns, rows }: Answer): string {
  const count = `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`;
  return `${table([columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))])}\n${count}`;
}
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > CELL_MAX ? `${text.slice(0, CELL_MAX - 1)}…` : text;
}

const sqlOf = (time: Date): string => `'${time.toISOString().replace('Z', '')}'::TIMESTAMP`;
