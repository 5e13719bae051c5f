import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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
