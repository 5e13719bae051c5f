/** A hostile transaction costs the step that confirms the payment beside it less than this, in ms of a quiet core. */
export const DELAY_MAX_MS = 1_000;
const ATTEMPTS = 3;

/** A document like those that observers read, of some 12 MB. */
const DOCUMENT = JSON.stringify(
  Array.from({ length: 30_000 }, (_, logIndex) => ({
    address: `0x${'ab'.repeat(20)}`,
    topics: Array.from({ length: 4 }, () => `0x${'cd'.repeat(32)}`),
    data: '0x',
    logIndex,
  })),
);
/** Known work, whose time tells how slow a core is now, as other processes share its caches and its clock. */
const yardstick = (): unknown => JSON.parse(DOCUMENT);
/** What that takes on a quiet core; the slowest of these transactions then takes 500 ms. */
const YARDSTICK_MS = 30;

const cpuSince = (before: NodeJS.CpuUsage): number => process.cpuUsage(before).user / 1_000;

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return cpuSince(before);
}

/**
 * How many ms of a quiet core one piece of work takes more than another, in the best of a few attempts: of CPU, and not
 * by a clock, as other processes take their time too, and by the time that known work takes in the same attempt.
 * Nothing may be waited for, as the same steps have to suffice.
 * @param usual the work as it is without what may delay it
 * @param beside the same with it; each attempt makes new transactions
 */
export async function leastDelay(usual: () => Promise<unknown>, beside: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least >= DELAY_MAX_MS; attempt += 1) {
    const usualMs = await cpuOf(usual);
    const besideMs = await cpuOf(beside);
    const slowness = Math.max(1, leastCpu(yardstick) / YARDSTICK_MS);
    least = Math.min(least, (besideMs - usualMs) / slowness);
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
