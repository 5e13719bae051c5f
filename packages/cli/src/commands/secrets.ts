import { recordChange, rotateSecretsKey } from '@pf/database';
import { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { type CommandContext, withSession } from '../session.ts';

/** `pf secrets`: what is stored encrypted. */
export function secretsCommand(context: CommandContext): Command {
  const secrets = new Command('secrets').description('the encryption of webhook secrets');
  secrets
    .command('rotate')
    .description('encrypt all webhook secrets with the first key of SECRETS_KEY, while services run')
    .addHelpText(
      'after',
      '\nFirst give all services SECRETS_KEY=<old>,<new>, then <new>,<old>. Then run this, and give them <new> alone.',
    )
    .action((_options: unknown, command: Command) =>
      withSession(command, context, async ({ database, output, stack, by }) => {
        const { rotated, unreadable } = await rotateSecretsKey(database, await stack.secretsKey());
        await recordChange(database.sql, by, { accountId: null, action: 'secrets.encrypted', after: { rotated } });
        if (unreadable.length > 0)
          throw new CliError(
            `${rotated} secrets were encrypted with the first key. No key of SECRETS_KEY can read ` +
              `${unreadable.length} others: ` +
              `${unreadable.slice(0, 10).join(', ')}. Add their key, and run this again.`,
            { facts: { rotated, unreadable } },
          );
        output.answer({ rotated }, () =>
          [
            `${rotated} secrets were encrypted with the first key.`,
            'Services need only the first key of SECRETS_KEY now.',
          ].join('\n'),
        );
      }),
    );
  return secrets;
}
