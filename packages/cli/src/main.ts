import { runPf } from './program.ts';

/** Taken only by commands that end in order; the others end as any program does. A second time ends them too. */
function untilEnded(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  return ending.signal;
}

process.exitCode = await runPf(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  untilEnded,
});
