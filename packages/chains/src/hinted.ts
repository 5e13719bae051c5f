import type { Hints, Subscription } from '@pf/rpc';
import type { ChainObserver, WatchSet } from './port.ts';

/**
 * An observer whose next step may come sooner, by what a provider says over a WebSocket. Its steps are the same: what
 * they pass, they have read themselves.
 * @param subscriptionsOf what to listen to for these intents; none where nothing is expected soon
 */
export const withHints = (
  observer: ChainObserver,
  hints: Pick<Hints, 'follow' | 'next'>,
  subscriptionsOf: (watch: WatchSet) => readonly Subscription[],
): ChainObserver => ({
  network: observer.network,
  get intervalMs() {
    return observer.intervalMs;
  },
  step: (cursor, synchronize, bookmarks) =>
    observer.step(
      cursor,
      async () => {
        const watch = await synchronize();
        hints.follow(subscriptionsOf(watch));
        return watch;
      },
      bookmarks,
    ),
  hinted: (signal) => hints.next(signal),
  judge: (hash, watch) => observer.judge(hash, watch),
});
