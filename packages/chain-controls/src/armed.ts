import type { Armed } from './controls.ts';

/**
 * Waits beside its caller. @param wait resolves with what came, or null once the signal is aborted, and puts the chain
 * back itself
 */
export function arm<T>(wait: (ending: AbortSignal) => Promise<T | null>): Armed<T> {
  const ending = new AbortController();
  const done = wait(ending.signal);
  // Whoever armed it awaits `done`, perhaps only after a submit.
  done.catch(() => undefined);
  return {
    done,
    async end() {
      ending.abort();
      // A failure is told to those who await `done`.
      await done.catch(() => undefined);
    },
  };
}
