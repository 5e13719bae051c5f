import { registerGauge, isRecording, type MetricLabels, PeriodicTask } from '@pf/runtime';
import type { LogSink } from '../kafka/options.ts';
import type { Topic } from '../port.ts';
import type { KafkaLogReader } from './reader.ts';

/** Often enough for a graph, and no load for a broker: one request a topic. */
const LOOK_EVERY_MS = 10_000;

/** How far behind: records of a partition. */
export type Lag = {
  [Name in 'payments.consumer.lag' | 'payments.projection.lag']: readonly [
    name: Name,
    records: number,
    labels: MetricLabels<Name>,
  ];
}['payments.consumer.lag' | 'payments.projection.lag'];

/**
 * Looks every ten seconds how far its owner is behind the ends of topics, where metrics are exported. Nothing is told
 * while the ends cannot be read: a number of old would look like one of now.
 */
export class LagWatch {
  readonly #reader: KafkaLogReader;
  readonly #rounds: PeriodicTask;
  readonly #unlook: (() => void)[] = [];
  #lags: readonly Lag[] = [];

  /**
   * @param reader its own, closed with it
   * @param lags compares positions with the ends of topics that the round has read
   */
  constructor(
    reader: KafkaLogReader,
    topics: readonly Topic[],
    lags: (ends: ReadonlyMap<Topic, readonly bigint[]>) => readonly Lag[],
    log: LogSink,
  ) {
    this.#reader = reader;
    this.#rounds = new PeriodicTask({
      pauseMs: LOOK_EVERY_MS,
      work: async () => {
        this.#lags = [];
        this.#lags = lags(
          new Map(await Promise.all(topics.map(async (topic) => [topic, await reader.endOffsets(topic)] as const))),
        );
      },
      onFailure: (error) => log.warn({ err: error }, 'how far behind we are is not known now'),
    });
  }

  start(): void {
    if (!isRecording()) return;
    this.#unlook.push(
      registerGauge('payments.consumer.lag', () =>
        this.#lags.flatMap(([name, records, labels]) => (name === 'payments.consumer.lag' ? [[records, labels]] : [])),
      ),
      registerGauge('payments.projection.lag', () =>
        this.#lags.flatMap(([name, records, labels]) =>
          name === 'payments.projection.lag' ? [[records, labels]] : [],
        ),
      ),
    );
    this.#rounds.start();
  }

  async stop(): Promise<void> {
    for (const end of this.#unlook.splice(0)) end();
    await this.#reader.close();
    await this.#rounds.stop();
  }
}

/** Records between a position and the end; 0 where the position is ahead of an end that was read before it moved. */
export const behind = (end: bigint | undefined, position: bigint): number =>
  Math.max(0, Number((end ?? 0n) - position));
