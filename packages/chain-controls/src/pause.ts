import { setTimeout as sleep } from 'node:timers/promises';

/** So many milliseconds, or until the signal is aborted. */
export const pause = (ms: number, ending: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: ending }).catch((error: unknown) => {
    if (!ending.aborted) throw error;
  });
