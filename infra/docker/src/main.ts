// The entry of the image: its first argument says what this container is.
import { COMMANDS, isCommand } from './commands.ts';

const name = process.argv[2];
if (name !== undefined && isCommand(name)) {
  // What runs then finds its own arguments where it would without us.
  process.argv.splice(2, 1);
  await COMMANDS[name].run();
} else {
  const lines = Object.entries(COMMANDS).map(([command, { does }]) => `  ${command.padEnd(8)} ${does}`);
  process.stderr.write(
    `${name === undefined ? 'What to run?' : `There is no command ${name}.`} The image runs one of\n${lines.join('\n')}\n`,
  );
  process.exitCode = 64;
}
