import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks until the answer is yes. An exception counts as no: what is asked is still starting.
 * @returns false when the time ran out or `stop` said so
 */
export async function eventually(
  ask: () => Promise<boolean>,
  withinMs: number,
  stop: () => boolean = () => false,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!stop() && performance.now() < deadline) {
    try {
      if (await ask()) return true;
    } catch {
      // Not yet: a refused connection is what "starting" looks like.
    }
    await sleep(50);
  }
  return false;
}
