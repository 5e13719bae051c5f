import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * A hostile transaction costs the steps that confirm the payment beside it less than this, in ms of a quiet core. The
 * dearest takes a quarter of it. What reads one piece too often takes minutes.
 */
export const DELAY_MAX_MS = 1_000;
const ATTEMPTS = 3;
/** Of what takes milliseconds: the more there are, the less another process has to do with the least. */
const SHORT_ATTEMPTS = 6;
const TURN_ATTEMPTS = 12;

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
 */
export async function leastDelay(usual: () => Promise<void>, beside: () => Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least >= DELAY_MAX_MS; attempt += 1) {
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

/** How often what is in use is looked at, in turns of the event loop: that takes a while. */
const LOOK_EVERY = 25;

/** The most that is held while this goes on, in bytes beside what was in use before, as some looks find it. */
export async function mostHeld(work: () => Promise<unknown>): Promise<number> {
  const before = bytesInUse();
  let isDone = false;
  const done = work().finally(() => (isDone = true));
  let most = 0;
  for (let turn = 0; !isDone; turn += 1) {
    await setImmediate();
    if (turn % LOOK_EVERY === 0) most = Math.max(most, bytesInUse() - before);
  }
  const result = await done;
  most = Math.max(most, bytesInUse() - before);
  // It is still in use here.
  return result === undefined ? 0 : most;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * The most that is held while a response is read, in bytes: itself and its text while that is parsed, then the JSON and
 * what is read of it.
 */
export function heldWhile(body: Buffer, read: (json: unknown) => unknown): number {
  const before = bytesInUse();
  const json: unknown = JSON.parse(body.toString());
  const ofJson = bytesInUse() - before;
  const found = read(json);
  const ofBoth = bytesInUse() - before;
  // Both are still in use here.
  return json === found ? ofJson : Math.max(ofJson + 2 * body.length, ofBoth);
}
