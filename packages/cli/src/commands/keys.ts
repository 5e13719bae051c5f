import { KEY_SCOPES, keyScope } from '@pf/contracts';
import { createKey, listKeys, revokeKey } from '@pf/database';
import { Command, Option } from 'commander';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import { moment, type Output, table } from '../output.ts';
import { withLoginOrDatabase } from '../remote/login-session.ts';
import type { CommandContext } from '../session.ts';

/** A key as it is shown, whoever was asked. */
const shownKey = z.object({
  id: z.string(),
  hint: z.string(),
  name: z.string().nullable(),
  mode: z.enum(['test', 'live']),
  scope: z.string(),
  createdAt: z.coerce.date(),
  expiresAt: z.coerce.date().nullable(),
  lastUsedAt: z.coerce.date().nullable(),
  revokedAt: z.coerce.date().nullable(),
});
type ShownKey = z.output<typeof shownKey>;

const modeOf = (livemode: boolean): 'test' | 'live' => (livemode ? 'live' : 'test');
/** What a key is called that `pf` creates in the dashboard, where keys have names. */
const USUAL_NAME = 'Created with pf';
const path = (accountId: string): string => `/accounts/${encodeURIComponent(accountId)}/keys`;

export function keysCommand(context: CommandContext): Command {
  const keys = new Command('keys').description(
    'API keys; several can be active at once, so that you can replace a key without downtime',
  );

  keys
    .command('create')
    .description('create a key, which is shown only once')
    .addOption(
      new Option('--scope <scope>', "what it allows: everything, or only what a payer's app needs")
        .choices(KEY_SCOPES)
        .default('full'),
    )
    .option('--name <name>', 'your name for it, such as where it is used')
    .addHelpText('after', '\nExamples:\n  pf keys create\n  pf keys create --scope payer --mode live --name "Till app"')
    .action(({ scope, name }: { scope: string; name?: string }, command: Command) =>
      withLoginOrDatabase(command, context, {
        async login({ dashboard, accountId, mode, output }) {
          const created = z.object({ key: shownKey, secret: z.string() });
          const body = { name: name ?? USUAL_NAME, mode, scope };
          const { key, secret } = await dashboard.ask('POST', path(accountId), created, body);
          answerCreated(output, accountId, key, secret);
        },
        async database({ database, output, livemode, account, by }) {
          const { id: accountId } = await account();
          const wanted = { accountId, livemode, scope: keyScope.parse(scope), name: name ?? null };
          const { key: secret, ...key } = await createKey(database, wanted, by);
          answerCreated(output, accountId, { ...key, mode: modeOf(livemode) }, secret);
        },
      }),
    );

  keys
    .command('list')
    .description('list the keys of a mode, including revoked ones')
    .action((_options: unknown, command: Command) =>
      withLoginOrDatabase(command, context, {
        async login({ dashboard, accountId, mode, output }) {
          const { keys: all } = await dashboard.ask('GET', path(accountId), z.object({ keys: z.array(shownKey) }));
          const ofMode = all.filter((key) => key.mode === mode);
          output.answer({ keys: ofMode }, () => listText(ofMode, mode));
        },
        async database({ database, output, mode, livemode, account }) {
          const { id: accountId } = await account();
          const all = await listKeys(database, { accountId, livemode });
          const ofMode = all.map(({ livemode: _, ...key }) => ({ ...key, mode }));
          output.answer({ keys: ofMode }, () => listText(ofMode, mode));
        },
      }),
    );

  keys
    .command('revoke')
    .description('revoke a key; it stops working within 30 seconds')
    .argument('<id>', 'the id, from `pf keys list`')
    .addHelpText('after', '\nExample:\n  pf keys revoke key_8FvLz2h4')
    .action((keyId: string, _options: unknown, command: Command) =>
      withLoginOrDatabase(command, context, {
        async login({ dashboard, accountId, output }) {
          const revoked = z.object({ key: shownKey });
          const { key } = await dashboard.ask('DELETE', `${path(accountId)}/${encodeURIComponent(keyId)}`, revoked);
          answerRevoked(output, key);
        },
        async database({ database, output, account, by }) {
          const { id: accountId } = await account();
          const key = await revokeKey(database, { accountId, keyId }, by);
          if (!key)
            throw new CliError(
              `Account ${accountId} has no key ${keyId}. List its keys with \`pf keys list\`, live keys with ` +
                '--mode live.',
            );
          const { livemode, ...rest } = key;
          answerRevoked(output, { ...rest, mode: modeOf(livemode) });
        },
      }),
    );

  return keys;
}

const answerCreated = (output: Output, accountId: string, { id, mode, scope, createdAt }: ShownKey, secret: string) =>
  output.answer({ id, key: secret, accountId, mode, scope, createdAt }, () =>
    [
      secret,
      '',
      `A ${mode} key of ${scope} scope, id ${id}. Store it now: it is not shown again.`,
      `Revoke it with: pf keys revoke ${id}`,
    ].join('\n'),
  );

const answerRevoked = (output: Output, key: ShownKey) =>
  output.answer(key, () => `Key ${key.id} (${key.hint}) is revoked; it stops working within 30 seconds.`);

const listText = (keys: readonly ShownKey[], mode: string): string =>
  keys.length === 0
    ? `No ${mode} keys. Next: pf keys create --mode ${mode}`
    : table([
        ['ID', 'KEY', 'SCOPE', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'],
        ...keys.map(({ id, hint, scope, name, createdAt, lastUsedAt, expiresAt, revokedAt }) => [
          id,
          hint,
          scope,
          name ?? '',
          moment(createdAt),
          lastUsedAt ? moment(lastUsedAt) : '',
          expiresAt ? moment(expiresAt) : '',
          revokedAt ? moment(revokedAt) : '',
        ]),
      ]);
