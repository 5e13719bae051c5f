import { KEY_SCOPES, keyScope } from '@pf/contracts';
import { createKey, listKeys, revokeKey } from '@pf/database';
import { Command, Option } from 'commander';
import { CliError } from '../cli-error.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

export function keysCommand(surroundings: CommandContext): Command {
  const keys = new Command('keys').description(
    'API keys; several can be active at once, so that keys are replaced without downtime',
  );

  keys
    .command('create')
    .description('create a key, which is shown only once')
    .addOption(
      new Option('--scope <scope>', "what it may do: everything, or only what an app in payers' hands needs")
        .choices(KEY_SCOPES)
        .default('full'),
    )
    .addHelpText('after', '\nExamples:\n  pf keys create\n  pf keys create --scope payer --mode live')
    .action(({ scope }: { scope: string }, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account, by }) => {
        const { id: accountId } = await account();
        const wanted = { accountId, livemode, scope: keyScope.parse(scope) };
        const { id, key, createdAt, ...made } = await createKey(database, wanted, by);
        output.answer({ id, key, accountId, mode, scope: made.scope, createdAt }, () =>
          [
            key,
            '',
            `A ${mode} key of ${made.scope} scope, id ${id}. Store it now: it is not shown again.`,
            `Revoke it with: pf keys revoke ${id}`,
          ].join('\n'),
        );
      }),
    );

  keys
    .command('list')
    .description('list the keys of a mode, revoked ones too')
    .action((_options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, mode, livemode, account }) => {
        const { id: accountId } = await account();
        const all = await listKeys(database, { accountId, livemode });
        output.answer({ keys: all.map(({ livemode: _, ...key }) => ({ ...key, mode })) }, () =>
          all.length === 0
            ? `No ${mode} keys. Next: pf keys create --mode ${mode}`
            : table([
                ['ID', 'KEY', 'SCOPE', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'],
                ...all.map(({ id, hint, scope, name, createdAt, lastUsedAt, expiresAt, revokedAt }) => [
                  id,
                  hint,
                  scope,
                  name ?? '',
                  moment(createdAt),
                  lastUsedAt ? moment(lastUsedAt) : '',
                  expiresAt ? moment(expiresAt) : '',
                  revokedAt ? moment(revokedAt) : '',
                ]),
              ]),
        );
      }),
    );

  keys
    .command('revoke')
    .description('revoke a key; running services follow within 30 seconds')
    .argument('<id>', 'the id, from `pf keys list`')
    .addHelpText('after', '\nExample:\n  pf keys revoke key_8FvLz2h4')
    .action((keyId: string, _options: unknown, command: Command) =>
      withSession(command, surroundings, async ({ database, output, account, by }) => {
        const { id: accountId } = await account();
        const key = await revokeKey(database, { accountId, keyId }, by);
        if (!key)
          throw new CliError(
            `Account ${accountId} has no key ${keyId}. List its keys with \`pf keys list\`, live keys with ` +
              '--mode live.',
          );
        const { livemode, ...rest } = key;
        output.answer(
          { ...rest, mode: livemode ? 'live' : 'test' },
          () => `Key ${key.id} (${key.hint}) is revoked; running services follow within 30 seconds.`,
        );
      }),
    );

  return keys;
}
