import { setTimeout as delay } from 'node:timers/promises';

/**
 * Asks until `probe` answers something other than null, undefined or false, and returns it. No fixed sleep: the next
 * look follows 10 ms after the last, up to 200 ms apart.
 *
 * @throws after `timeoutMs` (default 30 s), saying what was waited for and the last error of the probe
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T> | T,
  timeoutMs = 30_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = performance.now() + timeoutMs;
  let pause = 10;
  let lastError: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== null && found !== undefined && found !== false) return found as NonNullable<Exclude<T, false>>;
      lastError = undefined;
    } catch (error) {
      // The thing waited for may not be up yet: its last complaint is told when time runs out.
      lastError = error;
    }
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause: lastError });
    await delay(pause);
    pause = Math.min(pause * 1.5, 200);
  }
}
