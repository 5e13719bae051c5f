import { registerGauge, recordDuration } from '@pf/runtime';

/** How a network is being watched. Blocks are decimal; null before the first step, and while standing by. */
export interface WatchFacts {
  readonly role: 'active' | 'standby' | 'stopped';
  readonly head: string | null;
  readonly behind: string | null;
  readonly watched: number | null;
}

/** The metrics of the watch over one network. */
export class WatchMetrics {
  readonly #network: string;
  readonly #facts: () => WatchFacts;
  /** The highest head seen, and when it was new. */
  #highest = -1n;
  #roseAt = performance.now();
  #steppedAt = performance.now();

  /** @param network its name */
  constructor(network: string, facts: () => WatchFacts) {
    this.#network = network;
    this.#facts = facts;
  }

  /** Has the facts looked up whenever somebody reads the metrics. @returns ends it */
  start(): () => void {
    const about = { network: this.#network };
    const whileActive = (value: (facts: WatchFacts) => number | null) => (): [number, typeof about][] => {
      const facts = this.#facts();
      const found = facts.role === 'active' ? value(facts) : null;
      return found === null ? [] : [[found, about]];
    };
    const secondsSince = (at: number): number => (performance.now() - at) / 1_000;
    const ends = [
      registerGauge('payments.watcher.active', () => [[this.#facts().role === 'active' ? 1 : 0, about]]),
      registerGauge(
        'payments.watcher.head',
        whileActive(({ head }) => (head === null ? null : Number(head))),
      ),
      registerGauge(
        'payments.watcher.lag',
        whileActive(({ behind }) => (behind === null ? null : Number(behind))),
      ),
      registerGauge(
        'payments.watcher.intents',
        whileActive(({ watched }) => watched),
      ),
      registerGauge(
        'payments.watcher.head.age',
        whileActive(() => secondsSince(this.#roseAt)),
      ),
      registerGauge(
        'payments.watcher.step.age',
        whileActive(() => secondsSince(this.#steppedAt)),
      ),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  /** From now on this process watches: what was before counts for nothing. */
  activated(): void {
    this.#roseAt = this.#steppedAt = performance.now();
  }

  /** A look at the chain, which began then, has come to its end. */
  looked(began: number, head: bigint): void {
    recordDuration('payments.watcher.step.duration', began, { network: this.#network, outcome: 'done' });
    if (head <= this.#highest) return;
    this.#highest = head;
    this.#roseAt = performance.now();
  }

  failed(began: number): void {
    recordDuration('payments.watcher.step.duration', began, { network: this.#network, outcome: 'failed' });
  }

  /** All of a step is done: what was seen is sent too. */
  stepped(): void {
    this.#steppedAt = performance.now();
  }
}
