import { Command, CommanderError, Option } from 'commander';
import { CliError } from './cli-error.ts';
import { accountsCommand } from './commands/accounts.ts';
import { chainCommand } from './commands/chain.ts';
import { deadLettersCommand } from './commands/dead-letters.ts';
import { intentsCommand } from './commands/intents.ts';
import { keysCommand } from './commands/keys.ts';
import { listenCommand } from './commands/listen.ts';
import { logCommand } from './commands/log.ts';
import { loginCommand, logoutCommand, whoamiCommand } from './commands/login.ts';
import { positionsCommand } from './commands/positions.ts';
import { sanctionsCommand } from './commands/sanctions.ts';
import { secretsCommand } from './commands/secrets.ts';
import { watchCommand } from './commands/watch.ts';
import { webhooksCommand } from './commands/webhooks.ts';
import type { CommandContext } from './session.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

export interface Terminal extends CommandContext {
  readonly writeError: (text: string) => void;
}

/**
 * Runs `pf` with the arguments after its name. Answers go to `write`, errors to `writeError` (as
 * `{"error":{"message":…}}` with --json); never throws.
 * @returns the exit code: 0, 1 where it failed, 2 where the arguments were wrong
 */
export async function runPf(args: readonly string[], terminal: Terminal): Promise<number> {
  const json = args.includes('--json');
  let complaint = '';
  const complain = (message: string, facts: object = {}): void =>
    terminal.writeError(json ? `${JSON.stringify({ error: { message, ...facts } })}\n` : `${message}\n`);
  try {
    await buildProgram(terminal, (text) => (complaint += text)).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      complain((complaint === '' ? error.message : complaint).trim().replace(/^error: /, ''));
      return EXIT_USAGE;
    }
    if (error instanceof CliError) complain(error.message, error.facts);
    else complain(`pf failed: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT_FAILED;
  }
}

function buildProgram(terminal: Terminal, complain: (text: string) => void): Command {
  const program = new Command('pf')
    .description(
      'The command line of the Payment Intent Service: payment intents, accounts, API keys, webhooks, screening, ' +
        'local chains.\n\nAfter `pf login`, intents, keys and webhooks work against that deployment, as your role ' +
        'allows. All else is for operators, who have the database. Without a login, everything works on the local ' +
        'stack.',
    )
    .option('--account <id>', 'the account to use (default: your only one; of the local stack the seeded one)')
    .addOption(new Option('--mode <mode>', 'test or live').choices(['test', 'live']).default('test'))
    .option('--json', 'print one JSON document and nothing else')
    .addHelpText(
      'after',
      '\nExamples:\n  pf login https://payments.example.com\n' +
        '  pf intents create --amount 12.50 --requestor 0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n' +
        '  pf accounts list\n  pf keys create --scope payer\n' +
        '  pf webhooks add https://shop.example/webhooks --mode live',
    );
  for (const noun of [
    loginCommand(terminal),
    logoutCommand(terminal),
    whoamiCommand(terminal),
    intentsCommand(terminal),
    accountsCommand(terminal),
    keysCommand(terminal),
    webhooksCommand(terminal),
    listenCommand(terminal),
    logCommand(terminal),
    positionsCommand(terminal),
    deadLettersCommand(terminal),
    watchCommand(terminal),
    sanctionsCommand(terminal),
    secretsCommand(terminal),
    chainCommand(terminal),
  ])
    program.addCommand(noun);
  // Settings are not inherited by commands that were made apart.
  for (const command of withChildren(program)) {
    command
      .exitOverride()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({ writeOut: terminal.write, writeErr: complain })
      .showSuggestionAfterError()
      .showHelpAfterError(`See \`${pathOf(command)} --help\`.`);
  }
  return program;
}

const withChildren = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(withChildren)];
/** `pf keys create` */
const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
