import { Command, CommanderError, Option } from 'commander';
import { CliError } from './cli-error.ts';
import { printable } from './output.ts';
import type { CommandContext } from './session.ts';

/** The commands by their first word. Only the one that is asked for is loaded: `pf` starts in half the time. */
const NOUNS: ReadonlyMap<string, (terminal: Terminal) => Promise<Command>> = new Map([
  ['login', async (terminal) => (await import('./commands/login.ts')).loginCommand(terminal)],
  ['logout', async (terminal) => (await import('./commands/login.ts')).logoutCommand(terminal)],
  ['whoami', async (terminal) => (await import('./commands/login.ts')).whoamiCommand(terminal)],
  ['intents', async (terminal) => (await import('./commands/intents.ts')).intentsCommand(terminal)],
  ['deposits', async (terminal) => (await import('./commands/deposits.ts')).depositsCommand(terminal)],
  ['accounts', async (terminal) => (await import('./commands/accounts.ts')).accountsCommand(terminal)],
  ['keys', async (terminal) => (await import('./commands/keys.ts')).keysCommand(terminal)],
  ['webhooks', async (terminal) => (await import('./commands/webhooks.ts')).webhooksCommand(terminal)],
  ['listen', async (terminal) => (await import('./commands/listen.ts')).listenCommand(terminal)],
  ['log', async (terminal) => (await import('./commands/log.ts')).logCommand(terminal)],
  ['ledger', async (terminal) => (await import('./commands/ledger.ts')).ledgerCommand(terminal)],
  ['positions', async (terminal) => (await import('./commands/positions.ts')).positionsCommand(terminal)],
  ['dead-letters', async (terminal) => (await import('./commands/dead-letters.ts')).deadLettersCommand(terminal)],
  ['audit', async (terminal) => (await import('./commands/audit.ts')).auditCommand(terminal)],
  ['watch', async (terminal) => (await import('./commands/watch.ts')).watchCommand(terminal)],
  ['sanctions', async (terminal) => (await import('./commands/sanctions.ts')).sanctionsCommand(terminal)],
  ['privacy', async (terminal) => (await import('./commands/privacy.ts')).privacyCommand(terminal)],
  ['secrets', async (terminal) => (await import('./commands/secrets.ts')).secretsCommand(terminal)],
  ['doctor', async (terminal) => (await import('./commands/doctor.ts')).doctorCommand(terminal)],
  ['capacity', async (terminal) => (await import('./commands/capacity.ts')).capacityCommand(terminal)],
  ['chain', async (terminal) => (await import('./commands/chain.ts')).chainCommand(terminal)],
]);

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
export async function runPf(args: readonly string[], { write, writeError, ...context }: Terminal): Promise<number> {
  const terminal: Terminal = {
    ...context,
    write: (text) => write(printable(text)),
    writeError: (text) => writeError(printable(text)),
  };
  const json = args.includes('--json');
  let complaint = '';
  const complain = (message: string, facts: object = {}): void =>
    terminal.writeError(json ? `${JSON.stringify({ error: { message, ...facts } })}\n` : `${message}\n`);
  try {
    const program = await buildProgram(args, terminal, (text) => (complaint += text));
    await program.parseAsync(args, { from: 'user' });
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

async function buildProgram(
  args: readonly string[],
  terminal: Terminal,
  complain: (text: string) => void,
): Promise<Command> {
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
  const asked = NOUNS.get(args[0] ?? '');
  // For help, and where the command is mistyped or follows an option: all of them.
  for (const load of asked ? [asked] : NOUNS.values()) program.addCommand(await load(terminal));
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
