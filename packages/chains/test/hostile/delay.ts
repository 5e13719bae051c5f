/**
 * A hostile transaction costs the step that confirms the payment beside it less than this, in ms of one core: a second,
 * and as much again as the work beside a test makes a core slower.
 */
export const DELAY_MAX_MS = 3_000;
const ATTEMPTS = 3;

const cpuSince = (before: NodeJS.CpuUsage): number => process.cpuUsage(before).user / 1_000;

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return cpuSince(before);
}

/**
 * How many ms of CPU one piece of work takes more than another, in the best of a few attempts. Of CPU, and not by a
 * clock, as other processes take their time too; nothing may be waited for, as the same steps have to suffice.
 * @param usual the work as it is without what may delay it
 * @param beside the same with it; each attempt makes new transactions
 */
export async function leastDelay(usual: () => Promise<unknown>, beside: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least >= DELAY_MAX_MS; attempt += 1) {
    const usualMs = await cpuOf(usual);
    least = Math.min(least, (await cpuOf(beside)) - usualMs);
  }
  return least;
}

/** The CPU of a synchronous piece of work in ms, the least of a few attempts after a first one. */
export function leastCpu(work: () => void): number {
  work();
  const times = Array.from({ length: ATTEMPTS }, () => {
    const before = process.cpuUsage();
    work();
    return cpuSince(before);
  });
  return Math.min(...times);
}
