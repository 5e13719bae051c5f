import { UnscreenedPayments } from '@pf/database';
import {
  changesBetween,
  comparable,
  FEWEST_ADDRESSES,
  fetchExport,
  ListFileError,
  type ListChanges,
  listOf,
  OFAC_ADVANCED_EXPORT,
  OfacExportError,
  readListFileIfThere,
  type SanctionsList,
  suspicion,
  writeListFile,
} from '@pf/screening';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withoutDatabase, withSession } from '../session.ts';

/** How many of a change are shown to people. */
const SHOWN = 20;
const LIST_LIFE_HOURS = 48;
const PROVIDER_MS = 5_000;

const listOption = (): Option =>
  new Option(
    '--list <file>',
    'the list that gateways use (default: SCREENING_LIST_FILE, else that of the local stack)',
  );

export function sanctionsCommand(context: CommandContext): Command {
  const sanctions = new Command('sanctions').description(
    'the sanctions list against which wallets are screened, and the provider of the local stack',
  );

  sanctions
    .command('update')
    .description('rebuild the list from an OFAC export (SDN_ADVANCED.XML or sdn.xml); gateways reload it')
    .addOption(new Option('--from <file or URL>', 'the export').default(OFAC_ADVANCED_EXPORT, 'OFAC’s own site'))
    .addOption(listOption())
    .addOption(
      new Option('--at-least <number>', 'refuse an export with fewer addresses')
        .argParser(count)
        .default(FEWEST_ADDRESSES),
    )
    .option('--force', 'accept an export that looks wrong, after you have checked it')
    .addHelpText(
      'after',
      '\nExamples:\n  pf sanctions update\n' +
        '  pf sanctions update --from SDN_ADVANCED.XML --list /var/lib/payments/sanctions-list.json',
    )
    .action(
      async (
        { from, list, atLeast, force = false }: { from: string; list?: string; atLeast: number; force?: boolean },
        command: Command,
      ) => {
        const { output, stack } = withoutDatabase(command, context);
        const file = list ?? (await stack.sanctionsListFile());
        const former = await presentList(file, force);
        const next = listOf(await readExport(from), from, new Date());
        const problem = suspicion(next, former, atLeast);
        if (problem !== null && !force)
          throw new CliError(
            `The export looks wrong: ${problem}. The list is unchanged. If the export is correct, repeat with --force.`,
          );
        await writeListFile(file, next);
        const changes = changesBetween(former, next);
        const { count, fetchedAt, publishedOn } = next;
        output.answer({ file, source: from, count, fetchedAt, publishedOn, ...changes }, () =>
          updateText(file, next, changes),
        );
      },
    );

  sanctions
    .command('status')
    .description('show the age and the source of the list')
    .addOption(listOption())
    .action(async ({ list }: { list?: string }, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      const file = list ?? (await stack.sanctionsListFile());
      const { addresses: _, version: __, ...about } = await requireList(file);
      const goodUntil = new Date(Date.parse(about.fetchedAt) + LIST_LIFE_HOURS * 3_600_000);
      const isGood = goodUntil.getTime() > Date.now();
      output.answer({ file, ...about, goodUntil, isGood }, () =>
        [
          `${about.count} addresses, read from ${about.source} at ${moment(new Date(about.fetchedAt))}` +
            `${about.publishedOn === null ? '' : `, published on ${about.publishedOn}`}.`,
          isGood
            ? `It is valid until ${moment(goodUntil)}.`
            : `It expired at ${moment(goodUntil)}: every screening fails. Run: pf sanctions update`,
        ].join('\n'),
      );
    });

  sanctions
    .command('check')
    .description('check whether an address is on the list')
    .argument('<address>', 'in the format of any chain')
    .addOption(listOption())
    .action(async (address: string, { list }: { list?: string }, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      const file = list ?? (await stack.sanctionsListFile());
      const wanted = comparable(address.trim());
      const entries = (await requireList(file)).addresses.filter((listed) => comparable(listed.address) === wanted);
      output.answer({ address, listed: entries.length > 0, entries }, () =>
        entries.length === 0
          ? `${address} is not on the list.`
          : entries
              .map(({ label, uid, name }) => `${address} is on the list: ${name} (uid ${uid}, as ${label}).`)
              .join('\n'),
      );
    });

  sanctions
    .command('flagged')
    .description('list payments from sanctioned wallets that were sent without submit')
    .action((_options: unknown, command: Command) =>
      withSession(command, context, async ({ database, output }) => {
        const payments = await new UnscreenedPayments(database).flagged();
        output.answer({ payments }, () =>
          payments.length === 0
            ? 'No payments from sanctioned wallets.'
            : table([
                ['SEEN', 'CHAIN', 'FROM', 'TRANSACTION', 'INTENT', 'KNOWN AS'],
                ...payments.map(({ seenAt, chain, sender, hash, intentId, finding }) => [
                  moment(seenAt),
                  chain,
                  sender,
                  hash,
                  intentId,
                  nameOf(finding),
                ]),
              ]),
        );
      }),
    );

  sanctions
    .command('provider')
    .description('stop or start the sanctions provider of the local stack, or show whether it runs')
    .addArgument(new Argument('<what>').choices(['down', 'up', 'status']))
    .addHelpText(
      'after',
      '\nWhile it is down, creates and submits return 503 screening.unavailable.\n\nExample:\n' +
        '  pf sanctions provider down',
    )
    .action(async (what: 'down' | 'up' | 'status', _options: unknown, command: Command) => {
      const { output, stack } = withoutDatabase(command, context);
      const provider = await stack.sanctionsProvider();
      const mode = await switchProvider(provider, what === 'status' ? null : what);
      output.answer({ url: provider.url, status: mode }, () =>
        mode === 'down'
          ? `The provider at ${provider.url} is down: requests that need screening return 503. Start it with: pf ` +
            'sanctions provider up'
          : `The provider at ${provider.url} is ${mode}.`,
      );
    });

  return sanctions;
}

const nameOf = (finding: unknown): string => z.object({ name: z.string() }).safeParse(finding).data?.name ?? '?';

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

async function readExport(from: string): ReturnType<typeof fetchExport> {
  try {
    return await fetchExport(from);
  } catch (error) {
    const remedy = 'The list is unchanged. Name the export with --from FILE or URL.';
    if (error instanceof OfacExportError)
      throw new CliError(`${from} is not a complete export of the SDN list: ${error.message}. ${remedy}`, {
        cause: error,
      });
    throw new CliError(`${from} cannot be read: ${reasonOf(error)}. ${remedy}`, { cause: error });
  }
}

/** fetch says only that it failed; why is what its cause says. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error);

/** What the new list is compared with. One that cannot be read is overwritten where that is wanted. */
async function presentList(file: string, force: boolean): Promise<SanctionsList | null> {
  try {
    return await readListFileIfThere(file);
  } catch (error) {
    if (!(error instanceof ListFileError)) throw error;
    if (force) return null;
    throw new CliError(`${file} exists and is not a sanctions list. Replace it with --force.`, {
      cause: error,
    });
  }
}

async function requireList(file: string): Promise<SanctionsList> {
  try {
    const list = await readListFileIfThere(file);
    if (list) return list;
  } catch (error) {
    if (!(error instanceof ListFileError)) throw error;
    throw new CliError(error.message, { cause: error });
  }
  throw new CliError(`${file} does not exist. Create the list with \`pf sanctions update\`.`);
}

function updateText(file: string, { count, publishedOn }: SanctionsList, { added, removed, odd }: ListChanges): string {
  const rows = (title: string, entries: SanctionsList['addresses']): string[] =>
    entries.length === 0
      ? []
      : [
          '',
          `${entries.length} ${title}:`,
          table(entries.slice(0, SHOWN).map(({ label, address, name }) => [label, address, name])),
          ...(entries.length > SHOWN ? [`… and ${entries.length - SHOWN} more (--json shows all)`] : []),
        ];
  return [
    `${file} now has ${count} addresses${publishedOn === null ? '' : `, as published on ${publishedOn}`}: ` +
      `${added.length} added, ${removed.length} removed.`,
    ...rows('new', added),
    ...rows('removed', removed),
    ...rows('look like EVM addresses but are malformed, so they match nothing (a mistake in the export)', odd),
  ].join('\n');
}

async function switchProvider(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  mode: 'down' | 'up' | null,
): Promise<string> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  try {
    const response = await fetch(`${url}/switch`, {
      headers,
      signal: AbortSignal.timeout(PROVIDER_MS),
      ...(mode !== null && { method: 'PUT', body: JSON.stringify({ mode }) }),
    });
    return z.object({ mode: z.string() }).parse(await response.json()).mode;
  } catch (cause) {
    throw new CliError(
      `The sanctions provider at ${url} does not respond. ` + 'Is the stack running? Start it with `npm start`.',
      {
        cause,
      },
    );
  }
}
