/** The services that export metrics. */
export type ServiceName = 'gateway' | 'intent' | 'watcher' | 'webhook' | 'dashboard' | 'checkout' | 'archive';

/**
 * The values that a label can have: exactly `values`, or if that is null those described by `what`, which match
 * `pattern` and are at most `most`.
 */
export interface LabelValues<Value extends string, Optional extends boolean = false> {
  readonly values: readonly Value[] | null;
  readonly what: string | null;
  readonly pattern: RegExp;
  readonly most: number;
  readonly isOptional: Optional;
  /** The same for a label that can be absent. */
  optional(): LabelValues<Value, true>;
}

function labelValues<Value extends string>(
  of: Pick<LabelValues<Value>, 'values' | 'what' | 'pattern' | 'most'>,
): LabelValues<Value> {
  return {
    ...of,
    isOptional: false,
    optional: () => ({ ...of, isOptional: true, optional: () => labelValues(of).optional() }),
  };
}

/** A label with one of these values. */
export const of = <const Value extends string>(...values: readonly Value[]): LabelValues<Value> =>
  labelValues({
    values,
    what: null,
    pattern: new RegExp(`^(${values.map((value) => value.replaceAll('.', '\\.')).join('|')})$`),
    most: values.length,
  });

/** A label whose values this package does not know one by one; they are few, and `what` describes them. */
export const some = (values: {
  readonly what: string;
  readonly pattern: RegExp;
  readonly most: number;
}): LabelValues<string> => labelValues<string>({ values: null, ...values });

export type Labels = Readonly<Record<string, LabelValues<string, boolean>>>;
type ValueOf<Values> = Values extends LabelValues<infer Value, boolean> ? Value : never;
/** The labels that come with each value of a metric. */
export type LabelsOf<L extends Labels> = {
  readonly [Name in keyof L as L[Name]['isOptional'] extends true ? never : Name]: ValueOf<L[Name]>;
} & {
  readonly [Name in keyof L as L[Name]['isOptional'] extends true ? Name : never]?: ValueOf<L[Name]>;
};

interface Described<L extends Labels> {
  /** The services that export it. */
  readonly services: readonly ServiceName[];
  /** UCUM: `s`, `By`, `{request}`; `1` for a ratio, empty for a metric that is 0 or 1. */
  readonly unit: string;
  readonly description: string;
  readonly labels: L;
}

/**
 * - `counter` only increases. `total` does too, and is read by a callback when metrics are collected.
 * - `level` increases and decreases. `gauge` is read by a callback when metrics are collected.
 * - `histogram` counts values by the bounds of its buckets.
 */
export type MetricKind = 'counter' | 'total' | 'level' | 'gauge' | 'histogram';
export interface Metric<Kind extends MetricKind = MetricKind, L extends Labels = Labels> extends Described<L> {
  readonly kind: Kind;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

export const counter = <L extends Labels>(metric: Described<L>): Metric<'counter', L> => ({
  kind: 'counter',
  ...metric,
});
export const total = <L extends Labels>(metric: Described<L>): Metric<'total', L> => ({ kind: 'total', ...metric });
export const level = <L extends Labels>(metric: Described<L>): Metric<'level', L> => ({ kind: 'level', ...metric });
export const gauge = <L extends Labels>(metric: Described<L>): Metric<'gauge', L> => ({ kind: 'gauge', ...metric });
export const histogram = <L extends Labels>(
  metric: Described<L> & { readonly buckets: readonly number[] },
): Metric<'histogram', L> => ({ kind: 'histogram', ...metric });

/** The unit in a name in Prometheus, by UCUM unit (OpenTelemetry's specification "Prometheus and OpenMetrics"). */
const PROMETHEUS_UNITS: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes' };

/** The name with the unit at its end, as Prometheus has it: `http.server.request.duration.seconds`. */
export function nameWithUnit(name: string, unit: string, isGauge: boolean): string {
  const suffix = PROMETHEUS_UNITS[unit] ?? (unit === '1' && isGauge ? 'ratio' : undefined);
  return suffix === undefined || name.endsWith(`.${suffix}`) ? name : `${name}.${suffix}`;
}

/** The name in Prometheus; for a histogram without `_bucket`, `_sum` and `_count`. */
export function prometheusName(name: string, { kind, unit }: Pick<Metric, 'kind' | 'unit'>): string {
  const base = nameWithUnit(name, unit, kind === 'gauge').replaceAll('.', '_');
  return kind === 'counter' || kind === 'total' ? `${base}_total` : base;
}
