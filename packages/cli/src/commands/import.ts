import type * as Archive from '@pf/archive';
import { ImportSealer, recordChange } from '@pf/database';
import { LogUnavailableError } from '@pf/event-log';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { withEventLog } from '../event-log.ts';
import { table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

const NEXT = `Next: pf log rebuild --all --accept-log, pf positions reset, then start the services again
(docs/operations/log-set-back.md#kafka-is-lost).`;

/** `pf log import`: the log again, from the archive. */
export function addImportCommand(log: Command, context: CommandContext): void {
  log
    .command('import')
    .description(
      'append the archived events to an empty log after verifying them; stop the intent services first; an ' +
        'interrupted import can be resumed',
    )
    .option('--key <public key>', 'the key that must have signed the archive (default: the published one)')
    .option('--seal', 'seal the events that are not sealed: docs/operations/privacy.md#events-from-before')
    .addHelpText('after', '\nExample:\n  pf log import --key S3tH…=')
    .action(({ key, seal }: { key?: string; seal?: true }, command: Command) =>
      withSession(command, context, async ({ database, output, stack, by }) =>
        withEventLog(stack, async (reader, eventLog) => {
          // Its library is large, and other commands of `pf log` need none of it.
          const archive = await import('@pf/archive');
          const store = archive.openStore(await stack.archive());
          const parquet = await archive.ParquetFiles.open();
          const reports: Archive.RestoreReport[] = [];
          const sealing = seal && (await ImportSealer.open(database, await stack.secretsKey(), Date.now()));
          try {
            const partitions = await explained(archive, () => archive.partitionsIn(store));
            if (partitions.length === 0) throw new CliError('The archive has no events. Is ARCHIVE_URL correct?');
            const surplus = partitions.filter((partition) => partition >= eventLog.partitions);
            if (surplus.length > 0)
              throw new CliError(
                `The archive has partition ${surplus.join(', ')}, and the log has ${eventLog.partitions} partitions. ` +
                  'Create its topics with as many as the archived log had: the id of an intent names its partition.',
              );
            for (const partition of partitions) {
              const report = await explained(archive, () =>
                archive.restorePartition(partition, {
                  store,
                  parquet,
                  publicKey: key ?? null,
                  log: reader,
                  openAppender: (one) => eventLog.appender(one),
                  ...(sealing && { sealing }),
                }),
              );
              reports.push(report);
              if (report.imported > 0)
                await recordChange(database.sql, by, {
                  accountId: null,
                  action: 'ledger.imported',
                  after: { ...report, sealed: seal === true },
                });
            }
          } finally {
            await parquet.close();
          }
          output.answer({ partitions: reports }, () =>
            [
              table([
                ['PARTITION', 'IN THE LOG BEFORE', 'IMPORTED'],
                ...reports.map(({ partition, before, imported }) => [partition, before, imported].map(String)),
              ]),
              '',
              NEXT,
            ].join('\n'),
          );
        }),
      ),
    );
}

async function explained<Result>(archive: typeof Archive, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { ArchiveDamagedError, OtherEventsError, StoreUnavailableError } = archive;
    if ([ArchiveDamagedError, OtherEventsError, StoreUnavailableError].some((kind) => error instanceof kind))
      throw new CliError((error as Error).message, { cause: error });
    if (error instanceof LogUnavailableError)
      throw new CliError(
        `${error.message}\nStop the intent services, then run the command again: it resumes where it stopped.`,
        { cause: error },
      );
    throw error;
  }
}
