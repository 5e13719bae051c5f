import { intentId as intentIdSchema } from '@pf/contracts';
import { erasePersonalData, type ErasureScope, intentsInScope, outstandingInScope } from '@pf/database';
import { pause } from '@pf/runtime';
import { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { type CommandContext, globalOptions, type Session, withSession } from '../session.ts';

/** An erasure takes the intent service some seconds; of a large account, many. */
const WAIT_MS = 30_000;
const LOOK_AGAIN_MS = 500;

interface EraseOptions {
  readonly intent?: readonly string[];
  readonly yes?: true;
}

/** `pf privacy …`: what the service knows of persons. */
export function privacyCommand(context: CommandContext): Command {
  const privacy = new Command('privacy').description('personal data in payment intents: metadata, idempotency keys');
  privacy
    .command('erase')
    .description(
      'erase metadata and idempotency keys of payment intents, and of their payment links, for good: in the ' +
        'database, the log and the archive',
    )
    .option('--intent <id...>', 'of these payment intents; without it, of all intents of the account in --account')
    .option('--yes', 'erase; without it, only show what would be erased')
    .addHelpText(
      'after',
      '\nExamples:\n  pf privacy erase --intent pi_5mUj8xNgYq3vWJ2hTfKd7 --yes\n' +
        '  pf privacy erase --account acct_3mJr7AoUXx2Wqd --yes\n\n' +
        'What it erases, when it is complete, and what it cannot erase: docs/operations/privacy.md',
    )
    .action((options: EraseOptions, command: Command) => {
      const { account } = globalOptions(command);
      const scope = scopeOf(options, account);
      return withSession(command, context, (session) => erase(session, scope, options.yes === true));
    });
  return privacy;
}

/** Never the account of a default: what is erased is named. */
function scopeOf({ intent }: EraseOptions, account: string | undefined): ErasureScope {
  if ((intent === undefined) === (account === undefined))
    throw new CliError('Choose what to erase: either --intent ID, or --account ID for all intents of an account.');
  if (intent === undefined) return { accountId: account ?? '' };
  return {
    intents: [...new Set(intent)].map((id) => {
      const parsed = intentIdSchema.safeParse(id);
      if (parsed.success) return parsed.data;
      throw new CliError(`${id} is not the id of a payment intent. List them with \`pf intents list\`.`);
    }),
  };
}

async function erase(session: Session, scope: ErasureScope, confirmed: boolean): Promise<void> {
  const { database, output, by } = session;
  if ('accountId' in scope) await session.account();
  const count = await intentsInScope(database, scope);
  if ('intents' in scope && count < scope.intents.length)
    throw new CliError(
      `${scope.intents.length - count} of ${scope.intents.length} payment intents do not exist. Nothing was erased.`,
    );
  if (!confirmed)
    throw new CliError(
      `This would erase the metadata and idempotency keys of ${count} payment intents for good. Add --yes to do so.`,
    );
  const report = await erasePersonalData(database, scope, by);
  const giveUp = performance.now() + WAIT_MS;
  let outstanding = await outstandingInScope(database, scope);
  while (outstanding > 0 && performance.now() < giveUp) {
    await pause(LOOK_AGAIN_MS);
    outstanding = await outstandingInScope(database, scope);
  }
  output.answer({ intents: count, ...report, outstanding }, () =>
    [
      outstanding === 0
        ? `The personal data of ${count} payment intents and ${report.links} payment links is erased.`
        : `${outstanding} of ${count} payment intents are still to be erased: the intent service continues with them.`,
      'For 8 days, anyone with the database and SECRETS_KEY can still read their events: docs/operations/privacy.md',
      ...(report.unsealed === 0
        ? []
        : [
            `The log and the archive have personal data of ${report.unsealed} of them in plain text, from before ` +
              'events were sealed: docs/operations/privacy.md#events-from-before',
          ]),
      ...(report.left === 0
        ? []
        : [
            `${report.left} of them had left the database for the archive, and come back to be erased; ` +
              `${report.leftWithoutKey} have no key: if they have personal data, it is in plain text, too.`,
          ]),
    ].join('\n'),
  );
}
