/** The processes that measure. */
export type ServiceName = 'gateway' | 'intent' | 'watcher' | 'webhook';

/** Which values a label can have. `values`: exactly these; `pattern`: as the configuration or the code has them, at most `most`. */
export interface LabelValues<Value extends string, Optional extends boolean = false> {
  readonly values: readonly Value[] | null;
  readonly what: string | null;
  readonly pattern: RegExp;
  readonly most: number;
  readonly isOptional: Optional;
  /** The same, for a label that can be absent. */
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

/** A label that is one of these. */
export const of = <const Value extends string>(...values: readonly Value[]): LabelValues<Value> =>
  labelValues({
    values,
    what: null,
    pattern: new RegExp(`^(${values.map((value) => value.replaceAll('.', '\\.')).join('|')})$`),
    most: values.length,
  });

/** A label whose values this package does not know one by one; there are few, and `what` says which. */
export const some = (values: {
  readonly what: string;
  readonly pattern: RegExp;
  readonly most: number;
}): LabelValues<string> => labelValues<string>({ values: null, ...values });

export type Labels = Readonly<Record<string, LabelValues<string, boolean>>>;
type ValueOf<Values> = Values extends LabelValues<infer Value, boolean> ? Value : never;
/** What is said with a value of a metric that has these labels. */
export type LabelsOf<L extends Labels> = {
  readonly [Name in keyof L as L[Name]['isOptional'] extends true ? never : Name]: ValueOf<L[Name]>;
} & {
  readonly [Name in keyof L as L[Name]['isOptional'] extends true ? Name : never]?: ValueOf<L[Name]>;
};

interface Described<L extends Labels> {
  /** Those that export it. */
  readonly services: readonly ServiceName[];
  /** UCUM: `s`, `By`, `{request}`; `1` for a share, nothing for what is 0 or 1. */
  readonly unit: string;
  readonly description: string;
  readonly labels: L;
}

/**
 * counter: only grows. total: the same, looked up when somebody reads the metrics. level: is raised and lowered. gauge: is looked up. histogram: how
 * often a value lay below each of the buckets' bounds.
 */
export type MetricKind = 'counter' | 'total' | 'level' | 'gauge' | 'histogram';
export interface Metric<Kind extends MetricKind = MetricKind, L extends Labels = Labels> extends Described<L> {
  readonly kind: Kind;
  /** Upper bounds, of a histogram. */
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

/** UCUM → how Prometheus writes the unit into a name (OpenTelemetry's specification of the compatibility with Prometheus). */
const PROMETHEUS_UNITS: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes' };

/** A metric's name in OTLP with its unit as Prometheus wants it: `http.server.request.duration.seconds`. */
export function nameWithUnit(name: string, unit: string, isGauge: boolean): string {
  const suffix = PROMETHEUS_UNITS[unit] ?? (unit === '1' && isGauge ? 'ratio' : undefined);
  return suffix === undefined || name.endsWith(`.${suffix}`) ? name : `${name}.${suffix}`;
}

/** The name in Prometheus; of a histogram without its `_bucket`, `_sum`, `_count`. */
export function prometheusName(name: string, { kind, unit }: Pick<Metric, 'kind' | 'unit'>): string {
  return `${nameWithUnit(name, unit, kind === 'gauge').replaceAll('.', '_')}${kind === 'counter' || kind === 'total' ? '_total' : ''}`;
}
