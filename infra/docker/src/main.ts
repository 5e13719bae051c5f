// The entry point of the image: its first argument selects the command.
import { COMMANDS, isCommand } from './commands.ts';

const name = process.argv[2];
if (name !== undefined && isCommand(name)) {
  // The command finds its own arguments where it expects them.
  process.argv.splice(2, 1);
  await COMMANDS[name].run();
} else {
  const problem = name === undefined ? 'No command given.' : `Unknown command: ${name}.`;
  const lines = Object.entries(COMMANDS).map(([command, { summary }]) => `  ${command.padEnd(8)} ${summary}`);
  process.stderr.write(`${problem} Commands of the image:\n${lines.join('\n')}\n`);
  process.exitCode = 64;
}
