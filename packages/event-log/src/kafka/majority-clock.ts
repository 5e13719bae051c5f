import { count } from '@pf/runtime';
import type { LogSink } from '../port.ts';

/** Two clocks agree that are not further apart: as far as a process may be from them. */
const APART_MS = 2_000;

interface Shown {
  /** In ms since 1970. */
  readonly time: number;
  /** How long after the question the response was there, in ms. */
  readonly waited: number;
}

/** The clock of several brokers: a single one that is wrong is outvoted, and reported. */
export class MajorityClock {
  readonly #log: LogSink;
  /** The brokers whose clocks were wrong when they were read last. */
  readonly #wrong = new Set<string>();

  constructor(log: LogSink) {
    this.#log = log;
  }

  /**
   * The time on which more than half of the brokers agree. Resolves as soon as they do: one that hangs delays none.
   *
   * @param brokers how to read the clock of each, by its id, in ms since 1970
   * @throws Error where no majority agrees
   */
  read(brokers: ReadonlyMap<string, () => Promise<number>>): Promise<number> {
    const began = performance.now();
    const shown = new Map<string, Shown>();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const agreed = (): number | null =>
      agreedTime(
        [...shown.values()].map(({ time }) => time),
        brokers.size,
      );
    const asked = [...brokers].map(async ([broker, read]) => {
      shown.set(broker, { time: await read(), waited: performance.now() - began });
      const time = agreed();
      if (time !== null) resolve(time);
    });
    void Promise.allSettled(asked).then((outcomes) => {
      const time = agreed();
      if (time !== null) return this.#compare(shown, time);
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      reject(
        new Error(`No majority of ${brokers.size} brokers agrees on the time: ${describe(shown)}.`, {
          cause: failed?.reason,
        }),
      );
    });
    return promise;
  }

  /** Raises the alarm once for each broker that becomes wrong. */
  #compare(shown: ReadonlyMap<string, Shown>, agreed: number): void {
    for (const [broker, { time, waited }] of shown) {
      const aheadMs = time - agreed;
      if (Math.abs(aheadMs) <= APART_MS + waited) this.#wrong.delete(broker);
      else if (!this.#wrong.has(broker)) {
        this.#wrong.add(broker);
        count('payments.alarms', { alarm: 'wrong_clock' });
        this.#log.error(
          { broker, aheadMs, alarm: 'wrong_clock', runbook: 'docs/operations/runbooks/wrong-clock.md' },
          'the clock of a broker is wrong: most of the others agree on another time',
        );
      }
    }
  }
}

/** @param clocks how many there are, with those that have shown no time yet */
function agreedTime(times: readonly number[], clocks: number): number | null {
  const needed = Math.floor(clocks / 2) + 1;
  const sorted = times.toSorted((one, other) => one - other);
  for (let first = 0; first + needed <= sorted.length; first++) {
    const agreeing = sorted.slice(first, first + needed);
    const [least = 0, most = 0] = [agreeing[0], agreeing.at(-1)];
    if (most - least <= APART_MS) return agreeing[Math.floor(needed / 2)] ?? null;
  }
  return null;
}

const describe = (shown: ReadonlyMap<string, Shown>): string =>
  [...shown].map(([broker, { time }]) => `broker ${broker} shows ${new Date(time).toISOString()}`).join(', ') ||
  'none responds';
