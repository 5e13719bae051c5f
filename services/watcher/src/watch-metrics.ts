import { registerGauge, recordDuration } from '@pf/runtime';

/** The state of a watch. Blocks are decimal; null before the first step and on standby. */
export interface WatchFacts {
  readonly role: 'active' | 'standby' | 'stopped';
  /** Which shard of the recipients it watches, of how many: `1/1`. */
  readonly shard: string;
  /** Into how many shards the network is split; null before the lease was asked for. */
  readonly shards: number | null;
  readonly head: string | null;
  readonly behind: string | null;
  readonly watched: number | null;
  /** How many transactions wait to be looked at again because they could not be judged. */
  readonly setAside: number | null;
  /** How many payments and deposits wait for a second upstream to show them, for over a minute. */
  readonly unshown: number | null;
  /** Ms since when there are further blocks, and none is read a second time. Null: the network has no such reading. */
  readonly readOnceMs: number | null;
  /** How many intents are known, on standby too; while they are loaded, how many are so far. */
  readonly loaded: number;
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

  /** Registers the gauges. @returns unregisters them */
  start(): () => void {
    const labels = { network: this.#network, shard: this.#facts().shard };
    const whileActive = (value: (facts: WatchFacts) => number | null) => (): [number, typeof labels][] => {
      const facts = this.#facts();
      const found = facts.role === 'active' ? value(facts) : null;
      return found === null ? [] : [[found, labels]];
    };
    const secondsSince = (at: number): number => (performance.now() - at) / 1_000;
    const ends = [
      registerGauge('payments.watcher.active', () => [[this.#facts().role === 'active' ? 1 : 0, labels]]),
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
        'payments.watcher.set_aside',
        whileActive(({ setAside }) => setAside),
      ),
      registerGauge(
        'payments.watcher.unshown',
        whileActive(({ unshown }) => unshown),
      ),
      registerGauge(
        'payments.watcher.read_once.age',
        whileActive(({ readOnceMs }) => (readOnceMs === null ? null : readOnceMs / 1_000)),
      ),
      registerGauge('payments.watcher.shards', () => {
        const { shards } = this.#facts();
        return shards === null ? [] : [[shards, { network: this.#network }]];
      }),
      registerGauge('payments.watcher.loaded', () => [[this.#facts().loaded, labels]]),
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

  /** This process begins to watch: resets the ages. */
  activated(): void {
    this.#roseAt = this.#steppedAt = performance.now();
  }

  /** A step on the chain that began then has ended. */
  advanced(began: number, head: bigint): void {
    recordDuration('payments.watcher.step.duration', began, { network: this.#network, outcome: 'done' });
    if (head <= this.#highest) return;
    this.#highest = head;
    this.#roseAt = performance.now();
  }

  failed(began: number): void {
    recordDuration('payments.watcher.step.duration', began, { network: this.#network, outcome: 'failed' });
  }

  /** A whole step is done, its observations published. */
  stepped(): void {
    this.#steppedAt = performance.now();
  }
}
