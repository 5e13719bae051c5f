import type { PaymentIntent } from '@pf/domain';
import { type Feeds, isOver } from '../events/feeds.ts';

/** Whether the payment stands, or nothing more is to be waited for. */
const isDecided = (intent: PaymentIntent): boolean => intent.status === 'confirmed' || isOver(intent);

/**
 * Waits until the intent is paid, or has ended.
 * @param signal ends the wait, as does the end of this process
 * @returns the intent as last read; null if it was not read
 */
export function confirmation(
  feeds: Pick<Feeds, 'follow'>,
  { id }: Pick<PaymentIntent, 'id'>,
  signal: AbortSignal,
): Promise<PaymentIntent | null> {
  return new Promise((resolve) => {
    let newest: PaymentIntent | null = null;
    const end = (): void => {
      signal.removeEventListener('abort', end);
      // It may end before follow() has returned.
      queueMicrotask(() => leave());
      resolve(newest);
    };
    const leave = feeds.follow(id, {
      // Always the whole intent, never its events.
      position: null,
      ready: true,
      show: (intent) => {
        newest = intent;
        if (isDecided(intent)) end();
      },
      finish: end,
      leave: end,
    });
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
