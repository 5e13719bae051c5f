/** page: an engineer responds now. ticket: an engineer responds within a working day. */
export type Severity = 'page' | 'ticket';

/** Synthetic series to test a rule on: values in promtool's notation, one per minute. */
export interface Example {
  readonly series: Readonly<Record<string, string>>;
  /** When the rule is evaluated, counted from the first value. */
  readonly at: string;
}

interface Firing extends Example {
  readonly labels: Readonly<Record<string, string>>;
}

export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** PromQL; each series in its result is one alert. */
  readonly expr: string;
  /** How long the expression has to hold before the alert fires; absent: fires at once. */
  readonly for?: string;
  /** One sentence; Prometheus fills in `{{ $labels.x }}` and `{{ $value }}`. */
  readonly summary: string;
  /** The alert must fire on these series, with these labels. */
  readonly fires: Firing;
  /** And on each of these. */
  readonly firesToo?: readonly Firing[];
  /** It must not fire on these: the same situation without the fault. */
  readonly quiet: Example;
  /** Nor on these, which resemble the fault: it is over, or too small. */
  readonly nearMiss?: Example;
  /** Nor on the worst that one tenant can do to what it watches. Every page has this: a tenant must page no one. */
  readonly oneTenant?: Example;
}

/** The path of an alert's runbook, from the root of the repository. */
export const runbookOf = (name: string): string =>
  `docs/operations/runbooks/${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

/**
 * PromQL: a counter increased within a range, or appeared in it. A counter whose label values are not known beforehand
 * starts with its first 1, which Prometheus does not count as an increase.
 */
export const occurred = (counter: string, range: string, by: string): string =>
  [
    `(sum by (${by}) (increase(${counter}[${range}])) > 0)`,
    `(sum by (${by}) (${counter} unless ${counter} offset ${range}) > 0)`,
  ].join(' or ');
