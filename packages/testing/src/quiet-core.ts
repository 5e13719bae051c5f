import { setImmediate } from 'node:timers/promises';

const ATTEMPTS = 3;
/** Of what takes milliseconds: the more there are, the less another process has to do with the least. */
const SHORT_ATTEMPTS = 6;
const TURN_ATTEMPTS = 12;
/** Of what takes less than the clock of CPU time tells apart: the first are compiled meanwhile. */
const BATCHES = 30;

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
/** What that takes on a quiet core, measured. */
const YARDSTICK_MS = 23;
const slowness = (): number => Math.max(1, leastOf(yardstick) / YARDSTICK_MS);

/** Of this thread, which is what others wait for, and without those that collect garbage beside it. */
const cpuSince = (before: NodeJS.CpuUsage): number => process.threadCpuUsage(before).user / 1_000;

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  return cpuSince(before);
}

/**
 * How many ms of a quiet core's CPU one piece of work takes more than another, in the best of a few attempts: not by a
 * clock, as other processes take their time too. That no further step is waited for, the work itself has to see to: it
 * fails where the same steps do not suffice. The time until an upstream that never responds is given up is not in it.
 * @param usual the work as it is without what may delay it
 * @param beside the same with it; each attempt makes new transactions
 * @param enoughMs no further attempt is made below it
 */
export async function leastDelay(
  usual: () => Promise<void>,
  beside: () => Promise<void>,
  enoughMs: number,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least >= enoughMs; attempt += 1) {
    const usualMs = await cpuOf(usual);
    least = Math.min(least, ((await cpuOf(beside)) - usualMs) / slowness());
  }
  return least;
}

/**
 * The CPU of a synchronous piece of work in ms of a quiet core, the least of a few attempts after a first one, by the
 * time that known work takes at the same time.
 */
export const leastCpu = (work: () => void): number => leastOf(work) / slowness();

/**
 * The CPU of one of several runs in ms of a quiet core, on average of the first batch that is quick enough, or of the
 * quickest. The clock of CPU time may move in steps of 4 ms: a batch is longer than what is enough for one.
 * @param enoughMs no further batch is run below it
 */
export function cpuOfARun(run: () => unknown, runs: number, enoughMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let batch = 0; batch < BATCHES && least >= enoughMs; batch += 1) {
    const before = process.threadCpuUsage();
    for (let count = 0; count < runs; count += 1) run();
    const ms = cpuSince(before) / runs;
    least = Math.min(least, ms < enoughMs ? ms : ms / slowness());
  }
  return least;
}

function leastOf(work: () => void): number {
  work();
  const times = Array.from({ length: SHORT_ATTEMPTS }, () => {
    const before = process.threadCpuUsage();
    work();
    return cpuSince(before);
  });
  return Math.min(...times);
}

/**
 * How long nothing else is done at most while this goes on, in ms of a quiet core: the CPU of the longest turn of the
 * event loop, in the best of some attempts after a first one, each by how slow the core is right then.
 * @param enoughMs no further attempt is made below it
 */
export async function longestTurn(work: () => Promise<unknown>, enoughMs: number): Promise<number> {
  await turnsOf(work);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < TURN_ATTEMPTS && least >= enoughMs; attempt += 1)
    least = Math.min(least, (await turnsOf(work)) / slowness());
  return least;
}

async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  const done = work().finally(() => (isDone = true));
  let longest = 0;
  while (!isDone) {
    const before = process.threadCpuUsage();
    await setImmediate();
    longest = Math.max(longest, cpuSince(before));
  }
  await done;
  return longest;
}
