import type { CounterName, HistogramName, LevelName, GaugeName, MetricLabels, MetricName } from './catalogue.ts';

type AnyLabels = Readonly<Record<string, string>>;
/** What takes the values while metrics are exported. */
export interface Recorder {
  add(name: CounterName | LevelName, by: number, labels: AnyLabels): void;
  record(name: HistogramName, value: number, labels: AnyLabels): void;
}
/** A value and its labels, as they are now. */
export type GaugeReading<Name extends MetricName> = readonly [value: number, labels: MetricLabels<Name>];

let recorder: Recorder | null = null;
const looks = new Map<GaugeName, Set<() => Iterable<readonly [number, AnyLabels]>>>();

/** From now on values are kept; null: no longer. */
export function recordTo(to: Recorder | null): void {
  recorder = to;
}

/** Whether anybody keeps values: what costs something to find out can be spared where not. */
export const isRecording = (): boolean => recorder !== null;

/** Counts something that has happened. */
export function count<Name extends CounterName>(name: Name, labels: MetricLabels<Name>, by = 1): void {
  recorder?.add(name, by, labels);
}

/** Raises or lowers how much there is of something. */
export function add<Name extends LevelName>(name: Name, by: number, labels: MetricLabels<Name>): void {
  recorder?.add(name, by, labels);
}

/** Takes a value down in a histogram. */
export function record<Name extends HistogramName>(name: Name, value: number, labels: MetricLabels<Name>): void {
  recorder?.record(name, value, labels);
}

/** Seconds from `began` (performance.now()) to now, in a histogram. */
export function recordDuration<Name extends HistogramName>(
  name: Name,
  began: number,
  labels: MetricLabels<Name>,
): void {
  recorder?.record(name, (performance.now() - began) / 1_000, labels);
}

/**
 * Has something looked up whenever somebody reads the metrics. It must be quick: others wait.
 * @returns ends it
 */
export function registerGauge<Name extends GaugeName>(
  name: Name,
  look: () => Iterable<GaugeReading<Name>>,
): () => void {
  let those = looks.get(name);
  if (!those) looks.set(name, (those = new Set()));
  those.add(look);
  return () => those.delete(look);
}

/** All that is to be looked up of a metric, now. */
export function* readGauges(name: GaugeName): Iterable<readonly [number, AnyLabels]> {
  for (const look of looks.get(name) ?? []) yield* look();
}
