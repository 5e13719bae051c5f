import { useSyncExternalStore } from 'react';
import { ago, exactTime, fullTime } from '../format/time.ts';

const EVERY_MS = 15_000;
let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all times of the page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    listeners.forEach((one) => one());
  }, EVERY_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** A moment to the second, where several follow each other. */
export const Moment = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={fullTime(at)} className="number nowrap">
    {exactTime(at)}
  </time>
);

/** A moment, as the distance from now; pointing at it shows the exact time. */
export function Time({ at }: { readonly at: string }) {
  const current = useSyncExternalStore(subscribe, () => now);
  const ahead = Date.parse(at) - current;
  // What has just happened is ahead of a clock that stands still in between.
  const isNew = ahead > 0 && ahead <= EVERY_MS;
  return (
    <time dateTime={at} title={fullTime(at)} className="number nowrap">
      {ago(at, isNew ? Date.parse(at) : current)}
    </time>
  );
}
