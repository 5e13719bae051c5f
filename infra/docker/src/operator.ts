import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '@pf/runtime';
import { operatorVariables } from './config.ts';
import { runJob } from './job.ts';

/** Longer than this no timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

await runJob('operator', async () => {
  // `pf` reads the same variables: what is wrong with them shows at the start, not at the first command.
  loadConfig(operatorVariables);
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ending.abort());
  // Aborted: the process ends with 0.
  await delay(LONGEST_MS, undefined, { signal: ending.signal }).catch(() => undefined);
});
