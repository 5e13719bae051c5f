import type { Kernel, SimulatedProcess } from '@pf/simulation/kernel';

const REDIS = 'redis';

interface Subscriber {
  readonly process: SimulatedProcess;
  readonly receive: (text: string) => void;
}

/** Pub/sub: a message reaches those that listen when it is published, or is lost. */
export class SimulatedRedis {
  readonly #kernel: Kernel;
  readonly #subscribers = new Map<string, Subscriber>();

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  get isUp(): boolean {
    return this.#kernel.isUp(REDIS);
  }

  /** A channel has one subscriber: the gateway that it belongs to. */
  subscribe(channel: string, subscriber: Subscriber): void {
    this.#subscribers.set(channel, subscriber);
  }

  /** Publishes from the current process, which does not wait for it. */
  publish(channel: string, text: string): void {
    const deliver = (): void => {
      const subscriber = this.#subscribers.get(channel);
      if (subscriber?.process.alive)
        this.#kernel.send(REDIS, subscriber.process, () => {
          subscriber.receive(text);
        });
    };
    this.#kernel
      .call(REDIS, deliver, () => new Error('Redis does not respond'), { what: `publish ${channel}` })
      .catch(() => undefined);
  }
}
