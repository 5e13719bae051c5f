import { setTimeout as delay } from 'node:timers/promises';

/** Longer than this no timer can wait. */
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves when the process is told to end. */
export async function untilEnded(): Promise<void> {
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ending.abort());
  await delay(LONGEST_MS, undefined, { signal: ending.signal }).catch(() => undefined);
}
