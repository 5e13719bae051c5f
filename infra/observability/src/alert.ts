/** page: somebody gets up now. ticket: somebody looks within a working day. */
export type Severity = 'page' | 'ticket';

/** Made series on which a rule is tried: promtool's notation of values, one a minute. */
export interface Example {
  readonly series: Readonly<Record<string, string>>;
  /** When it is looked at, from the first value on. */
  readonly at: string;
}

export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** PromQL; each series it has is an alert. */
  readonly expr: string;
  /** How long it has to hold; absent: at once. */
  readonly for?: string;
  /** One sentence; `{{ $labels.x }}` and `{{ $value }}` are filled in. */
  readonly summary: string;
  /** It must be firing on these series, with these labels. */
  readonly fires: Example & { readonly labels: Readonly<Record<string, string>> };
  /** And must not on these: the same without the fault. */
  readonly quiet: Example;
  /** Nor on these, which look like it: it is over, or there is too little of it. */
  readonly alike?: Example;
}

/** The runbook of an alert, from the root of the repository. */
export const runbookOf = (name: string): string =>
  `docs/operations/runbooks/${name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

/**
 * A counter rose within a range, or appeared in it: one whose labels are not known beforehand begins with its first 1,
 * which to Prometheus is no rise.
 */
export const happened = (counter: string, range: string, by: string): string =>
  `(sum by (${by}) (increase(${counter}[${range}])) > 0) or (sum by (${by}) (${counter} unless ${counter} offset ${range}) > 0)`;
