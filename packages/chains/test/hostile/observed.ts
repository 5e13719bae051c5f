import type { IntentId } from '@pf/domain';
import { named, type Watcher } from '../conformance/watching.ts';
import type { VirtualTime } from './virtual-upstream.ts';

interface Observed {
  readonly intentId: IntentId;
  /** As `named` says it. */
  readonly what: string;
  readonly hash: string;
  /** When its step ended, since the first one began. */
  readonly ms: number;
}

/** What so many steps observe, 400 ms apart. */
export async function observedIn(time: VirtualTime, watcher: Watcher, steps: number): Promise<readonly Observed[]> {
  const found: Observed[] = [];
  const began = time.passed;
  for (let step = 0; step < steps; step += 1) {
    const { observations } = await time.until(watcher.stepOnce());
    const ms = time.passed - began;
    for (const one of observations)
      found.push({ intentId: one.intentId, what: named([one])[0] ?? '', hash: one.data.hash, ms });
    await time.pass(400);
  }
  return found;
}

/** What was observed of an intent, and when, in ms. */
export type Timed = readonly [what: string, ms: number];

/** The same in short. */
export const timedIn = async (time: VirtualTime, watcher: Watcher, steps: number): Promise<readonly Timed[]> =>
  (await observedIn(time, watcher, steps)).map(({ intentId, what, ms }) => [`${intentId} ${what}`, ms]);
