import type { WakeQueue, WakesOptions } from '@pf/redis/wakes';
import { within } from '@pf/runtime';

export type Wakes = Pick<WakeQueue, 'wake'>;

/** How long the first wake waits for Redis. */
const OPEN_WITHIN_MS = 2_000;

/** Makes the webhook service look at a URL or a replay now. Without Redis, it finds what is due within 10 s. */
export function wake(wakes: Wakes, id: string): void {
  void wakes.wake([id]).catch(() => undefined);
}

/** Opens the queue with the first wake: BullMQ is a tenth of the CPU of a start, and few gateways wake a URL. */
export class LateWakeQueue implements Wakes {
  readonly #options: WakesOptions;
  #opening: Promise<WakeQueue> | null = null;

  constructor(options: WakesOptions) {
    this.#options = options;
  }

  async wake(endpointIds: readonly string[]): Promise<void> {
    const queue = await (this.#opening ??= this.#open());
    await queue.wakeForClient(endpointIds);
  }

  async close(): Promise<void> {
    const queue = await this.#opening?.catch(() => null);
    await queue?.close();
  }

  async #open(): Promise<WakeQueue> {
    const module = await import('@pf/redis/wakes');
    const { promise: isReady, resolve } = Promise.withResolvers<void>();
    const queue = new module.WakeQueue(this.#options, resolve);
    await within(OPEN_WITHIN_MS, isReady);
    return queue;
  }
}
