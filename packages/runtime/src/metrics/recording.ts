import type { CounterName, HistogramName, LevelName, GaugeName, MetricLabels, MetricName } from './catalogue.ts';

type AnyLabels = Readonly<Record<string, string>>;
/** Receives the values while metrics are exported. */
export interface Recorder {
  add(name: CounterName | LevelName, by: number, labels: AnyLabels): void;
  record(name: HistogramName, value: number, labels: AnyLabels): void;
}
/** A current value and its labels. */
export type GaugeReading<Name extends MetricName> = readonly [value: number, labels: MetricLabels<Name>];

let recorder: Recorder | null = null;
const gauges = new Map<GaugeName, Set<() => Iterable<readonly [number, AnyLabels]>>>();

/** Records values with this from now on; null: drops them. */
export function recordTo(to: Recorder | null): void {
  recorder = to;
}

/** True if values are recorded: otherwise expensive measurements can be left out. */
export const isRecordingMetrics = (): boolean => recorder !== null;

/** Increases a counter. */
export function count<Name extends CounterName>(name: Name, labels: MetricLabels<Name>, by = 1): void {
  recorder?.add(name, by, labels);
}

/** Increases or, with a negative number, decreases a level. */
export function add<Name extends LevelName>(name: Name, by: number, labels: MetricLabels<Name>): void {
  recorder?.add(name, by, labels);
}

/** Records a value in a histogram. */
export function record<Name extends HistogramName>(name: Name, value: number, labels: MetricLabels<Name>): void {
  recorder?.record(name, value, labels);
}

/** Records the time since `began` (performance.now()) in a histogram, in seconds. */
export function recordDuration<Name extends HistogramName>(
  name: Name,
  began: number,
  labels: MetricLabels<Name>,
): void {
  recorder?.record(name, (performance.now() - began) / 1_000, labels);
}

/**
 * Reads a gauge or total with `read` whenever metrics are collected. It is synchronous and must be quick.
 * @returns removes it
 */
export function registerGauge<Name extends GaugeName>(
  name: Name,
  read: () => Iterable<GaugeReading<Name>>,
): () => void {
  let readers = gauges.get(name);
  if (!readers) gauges.set(name, (readers = new Set()));
  readers.add(read);
  return () => readers.delete(read);
}

/** All current values of a gauge or total. */
export function* readGauges(name: GaugeName): Iterable<readonly [number, AnyLabels]> {
  for (const read of gauges.get(name) ?? []) yield* read();
}
