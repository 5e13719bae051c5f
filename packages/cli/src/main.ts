import { runPf } from './program.ts';

const ending = new AbortController();
/**
 * Whoever read the answers has gone, as `head` does: nothing is to be said any more, and what goes on ends in order.
 */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  ending.abort();
});

/** Taken only by commands that end in order; the others end as any program does. A second time ends them too. */
function untilEnded(): AbortSignal {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  return ending.signal;
}

process.exitCode = await runPf(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  untilEnded,
});
