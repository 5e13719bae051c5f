import type { WakeQueue } from '@pf/redis/wakes';

export type Wakes = Pick<WakeQueue, 'wake'>;

/** Makes the webhook service look at a URL or a replay now. Without Redis, it finds what is due within 10 s. */
export function wake(wakes: Wakes, id: string): void {
  void wakes.wake([id]).catch(() => undefined);
}
