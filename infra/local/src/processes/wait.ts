import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Polls until the check is true. An exception counts as false: the program is still starting.
 * @returns false when the time ran out or `stop` returned true
 */
export async function eventually(
  check: () => Promise<boolean>,
  withinMs: number,
  stop: () => boolean = () => false,
): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!stop() && performance.now() < deadline) {
    try {
      if (await check()) return true;
    } catch {
      // A program that is starting refuses connections.
    }
    await sleep(50);
  }
  return false;
}
