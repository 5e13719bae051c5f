import { PLANS, plan as planSchema } from '@pf/contracts';
import { listAccounts, openAccount, setPlan } from '@pf/database';
import { Argument, Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { moment, table } from '../output.ts';
import { type CommandContext, withSession } from '../session.ts';

export function accountsCommand(context: CommandContext): Command {
  const accounts = new Command('accounts').description(
    'the accounts that use the service: each has a plan, API keys, webhook secrets and URLs',
  );

  accounts
    .command('create')
    .description('create an account with an API key and a webhook secret for each mode')
    .argument('<name>', 'the name that people see')
    .addHelpText(
      'after',
      '\nExamples:\n  pf accounts create "Coffee bar"\n  pf accounts create "Coffee bar" --json > account.json',
    )
    .action((name: string, _options: unknown, command: Command) =>
      withSession(command, context, async ({ database, output, stack, by }) => {
        const account = await openAccount(database, await stack.secretsKey(), { name }, by);
        output.answer(account, () =>
          [
            `Account ${account.id}, ${name}, on the free plan.`,
            '',
            table([
              ['API key, test', account.apiKeys.test],
              ['API key, live', account.apiKeys.live],
              ['Webhook secret, test', account.webhookSecrets.test],
              ['Webhook secret, live', account.webhookSecrets.live],
            ]),
            '',
            'Store the API keys now: they are not shown again.',
            `Next: pf webhooks add https://… --account ${account.id}`,
          ].join('\n'),
        );
      }),
    );

  accounts
    .command('list')
    .description('list all accounts')
    .action((_options: unknown, command: Command) =>
      withSession(command, context, async ({ database, output }) => {
        const all = await listAccounts(database);
        output.answer({ accounts: all }, () =>
          all.length === 0
            ? 'No accounts yet. Next: pf accounts create NAME'
            : table([
                ['ID', 'PLAN', 'CREATED', 'NAME'],
                ...all.map(({ id, plan, createdAt, name }) => [id, plan, moment(createdAt), name]),
              ]),
        );
      }),
    );

  accounts
    .command('plan')
    .description('change the plan of an account; it takes effect within 30 seconds')
    .argument('<id>', 'the account')
    .addArgument(new Argument('<plan>', 'the new plan').choices(PLANS))
    .addHelpText('after', '\nExample:\n  pf accounts plan acct_3mJr7AoUXx2Wqd growth')
    .action((id: string, plan: string, _options: unknown, command: Command) =>
      withSession(command, context, async ({ database, output, by }) => {
        const account = await setPlan(database, id, planSchema.parse(plan), by);
        if (!account) throw new CliError(`Account ${id} does not exist. List the accounts with \`pf accounts list\`.`);
        output.answer(
          account,
          () => `Account ${account.id} is on the ${account.plan} plan; it takes effect within 30 seconds.`,
        );
      }),
    );

  return accounts;
}
