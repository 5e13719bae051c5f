import { registerGauge, isRecordingMetrics, type MetricLabels, PeriodicTask } from '@pf/runtime';
import type { LogSink, Topic } from '../port.ts';
import type { FetchingReader } from './reader.ts';

/** Often enough for a graph, with one request per topic and round. */
const LOOK_EVERY_MS = 10_000;

/** The lag of a partition, in records. */
export type Lag = {
  [Name in 'payments.consumer.lag' | 'payments.projection.lag']: readonly [
    name: Name,
    records: number,
    labels: MetricLabels<Name>,
  ];
}['payments.consumer.lag' | 'payments.projection.lag'];

/**
 * Measures the lag behind the ends of topics every ten seconds, where metrics are exported. Reports nothing while the
 * ends cannot be read: an old value would look current.
 */
export class LagWatch {
  readonly #reader: FetchingReader;
  readonly #rounds: PeriodicTask;
  readonly #unlook: (() => void)[] = [];
  #lags: readonly Lag[] = [];

  /**
   * @param reader used only here, and closed with it
   * @param lags compares positions with the ends of topics
   */
  constructor(
    reader: FetchingReader,
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
      onFailure: (error) => log.warn({ err: error }, 'the lag could not be measured'),
    });
  }

  start(): void {
    if (!isRecordingMetrics()) return;
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
