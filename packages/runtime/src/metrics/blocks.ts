import { AsyncLocalStorage } from 'node:async_hooks';
import { count } from './recording.ts';

/** A block: the event loop did one piece of work, and nothing else, for longer than this. */
export const BLOCK_MS = 50;
/** How often a free event loop shows that it is free. */
const BEAT_MS = 20;
const OTHER = 'other';

/** Its name may become known later, as a route does. */
type NameOf = () => string;

const works = new AsyncLocalStorage<NameOf>();
/** The event loop was free last, or this work was resumed last. */
let last: { readonly at: number; readonly work: NameOf | null } = { at: 0, work: null };
let isWatching = false;

/** Runs a piece of work that blocks of the event loop are counted for. @param name one of few, not an id */
export function inWork<Result>(name: string | NameOf, work: () => Result): Result {
  return works.run(typeof name === 'string' ? () => name : name, () => {
    resumed();
    return work();
  });
}

/**
 * Notes that the current work goes on after it has waited. What it does until the event loop is free, or other work is
 * noted, counts as its own. Called wherever something outside was waited for: statements, requests to nodes and Redis,
 * messages, bodies.
 */
export function resumed(): void {
  if (isWatching) note(performance.now(), works.getStore() ?? null);
}

/**
 * Counts a block where too much time has passed since the last note: the work that was noted then is what ran. Nothing
 * else is measured, so a note costs a look at the clock.
 */
function note(at: number, work: NameOf | null): void {
  // Before work that is not known, the loop may have been free until its next beat.
  const least = last.work === null ? BLOCK_MS + BEAT_MS : BLOCK_MS;
  if (at - last.at > least) count('payments.event_loop.blocks', { work: last.work?.() ?? OTHER });
  last = { at, work };
}

/** Begins to count the blocks of this process. @returns ends it */
export function countBlocks(): () => void {
  // An increase can be told only of a count that was there before.
  count('payments.event_loop.blocks', { work: OTHER }, 0);
  const timer = setInterval(() => note(performance.now(), null), BEAT_MS).unref();
  last = { at: performance.now(), work: null };
  isWatching = true;
  return () => {
    clearInterval(timer);
    isWatching = false;
  };
}
