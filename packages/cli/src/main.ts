import { runPf } from './program.ts';

process.exitCode = await runPf(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
