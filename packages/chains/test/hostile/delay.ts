/** A hostile transaction delays the payment beside it by less than this. */
export const DELAY_MAX_MS = 1_000;
const ATTEMPTS = 3;

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * By how many ms more one piece of work takes than another, in the best of a few attempts: a busy machine delays some
 * of them, a fault all.
 * @param usual the work as it is without what may delay it
 * @param beside the same with it; each attempt makes new transactions
 */
export async function leastDelay(usual: () => Promise<unknown>, beside: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least >= DELAY_MAX_MS; attempt += 1) {
    const usualMs = await msOf(usual);
    least = Math.min(least, (await msOf(beside)) - usualMs);
  }
  return least;
}

/** The user CPU of a synchronous piece of work in ms, the least of a few attempts after a first one. */
export function leastCpu(work: () => void): number {
  work();
  const times = Array.from({ length: ATTEMPTS }, () => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user / 1_000;
  });
  return Math.min(...times);
}
