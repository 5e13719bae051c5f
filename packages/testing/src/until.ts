import { setTimeout as delay } from 'node:timers/promises';
import { isBehindProviders } from './stack/behind-providers.ts';

/** How much longer it takes over plans of few calls a second, and over providers that fail now and then. */
const BEHIND_PROVIDERS = 2;

/**
 * Polls `probe` until it returns something other than null, undefined or false, and returns that. Polls every 10 ms at
 * first, every 200 ms at most.
 *
 * @throws Error after `timeoutMs` (default 60 s; doubled behind simulated providers) with `what` and the last error of
 * the probe
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T> | T,
  timeoutMs = 60_000,
): Promise<NonNullable<Exclude<T, false>>> {
  const end = performance.now() + timeoutMs * (isBehindProviders() ? BEHIND_PROVIDERS : 1);
  let pause = 10;
  let lastError: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== null && found !== undefined && found !== false) return found as NonNullable<Exclude<T, false>>;
      lastError = undefined;
    } catch (error) {
      // It may not be up yet: the timeout reports its last error.
      lastError = error;
    }
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause: lastError });
    await delay(pause);
    pause = Math.min(pause * 1.5, 200);
  }
}
