import { KEY_SCOPES, keyScope } from '@pf/contracts';
import { createKey, listKeys, revokeKey } from '@pf/database';
import { Command, Option } from 'commander';
import { CliError } from '../cli-error.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

export function keysCommand(surroundings: CommandContext): Command {
  const keys = new Command('keys').description(
    'API keys: several can be active at a time, so that one can replace another without a gap',
  );

  keys
    .command('create')
    .description('make a key; it is shown this once')
    .addOption(
      new Option('--scope <scope>', "what it may do: everything, or only what an app in payers' hands needs")
        .choices(KEY_SCOPES)
        .default('full'),
    )
    .addHelpText('after', '\nExamples:\n  pf keys create\n  pf keys create --scope payer --mode live')
    .action(({ scope }: { scope: string }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const { id, key, createdAt, ...made } = await createKey(database, {
          accountId,
          livemode,
          scope: keyScope.parse(scope),
        });
        output.answer({ id, key, accountId, mode, scope: made.scope, createdAt }, () =>
          [
            key,
            '',
            `A ${mode} key of ${made.scope} scope, id ${id}. Keep it now: it is not shown again.`,
            `To end it: pf keys revoke ${id}`,
          ].join('\n'),
        );
      }),
    );

  keys
    .command('list')
    .description('show the keys of a mode, revoked ones too')
    .action((_options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const all = await listKeys(database, { accountId, livemode });
        output.answer({ keys: all.map(({ livemode: _, ...key }) => ({ ...key, mode })) }, () =>
          all.length === 0
            ? `No ${mode} keys. Next: pf keys create --mode ${mode}`
            : table([
                ['ID', 'KEY', 'SCOPE', 'CREATED', 'REVOKED'],
                ...all.map(({ id, hint, scope, createdAt, revokedAt }) => [
                  id,
                  hint,
                  scope,
                  moment(createdAt),
                  revokedAt ? moment(revokedAt) : '',
                ]),
              ]),
        );
      }),
    );

  keys
    .command('revoke')
    .description('end a key; everywhere within 30 seconds')
    .argument('<id>', 'as `pf keys list` shows it')
    .addHelpText('after', '\nExample:\n  pf keys revoke key_8FvLz2h4')
    .action((keyId: string, _options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, account }) => {
        const { id: accountId } = await account();
        const key = await revokeKey(database, { accountId, keyId });
        if (!key)
          throw new CliError(
            `The account ${accountId} has no key ${keyId}. \`pf keys list\` shows those it has, with --mode live the live ones`,
          );
        const { livemode, ...rest } = key;
        output.answer(
          { ...rest, mode: livemode ? 'live' : 'test' },
          () => `Key ${key.id} (${key.hint}) is revoked; everywhere within 30 seconds.`,
        );
      }),
    );

  return keys;
}
