import { METRICS } from '../../src/metrics/catalogue.ts';
import { type LabelValues, type Metric, prometheusName } from '../../src/metrics/metric.ts';

const INTRODUCTION = `# Metrics

Every metric of our processes. Each service serves its own at \`/metrics\` on a port of its own (\`METRICS_PORT\`), never the public one, and
sends the same by OTLP where \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set: [telemetry.md](../operations/telemetry.md).

- **Names** are OpenTelemetry's semantic conventions where they have one, else \`payments.*\`. The name in Prometheus is beside it: dots become
  underscores, the unit and \`_total\` are added, as Prometheus does it by itself with what comes by OTLP. A histogram has \`_bucket\`, \`_sum\` and \`_count\`.
- **Labels** lose their dots in Prometheus too (\`http_route\`). No label holds an id, an address or a URL: what each can be is said here, and a test
  compares it with what a running system exports. A label marked ? is absent where it says nothing.
- Every metric has the label \`service_name\` (\`gateway\`, \`intent\`, \`watcher\`, \`webhook\`); \`target_info\` has the version and the instance.
- A **counter** whose labels are all listed here is 0 from the start, so that its first rise is one. A **level** and a **gauge** are gauges in Prometheus.

Generated from the table in \`packages/runtime/src/metrics/catalogue.ts\` by \`npm run generate\`.
`;

/** docs/reference/metrics.md: the catalogue, for people. */
export function metricsDocument(): string {
  const metrics: readonly (readonly [string, Metric])[] = Object.entries(METRICS);
  const rows = metrics.map(
    ([name, metric]) => `| \`${prometheusName(name, metric)}\` | ${metric.kind} | ${metric.services.join(', ')} |`,
  );
  return [
    INTRODUCTION,
    '| In Prometheus | Kind | Services |',
    '| --- | --- | --- |',
    ...rows,
    '',
    ...metrics.map(([name, metric]) => section(name, metric)),
  ].join('\n');
}

function section(name: string, metric: Metric): string {
  const { kind, unit, description, labels, buckets } = metric;
  const lines = [
    `- **In Prometheus:** \`${prometheusName(name, metric)}\``,
    `- **Kind:** ${kind}${unit === '' ? '' : `, in \`${unit}\``}. **From:** ${metric.services.join(', ')}.`,
    ...Object.entries(labels).map(
      ([label, values]) => `- \`${label}\`${values.isOptional ? '?' : ''}: ${valuesOf(values)}`,
    ),
    ...(buckets ? [`- **Buckets:** ${buckets.join(', ')}`] : []),
  ];
  return [`## \`${name}\``, '', description, '', ...lines, ''].join('\n');
}

const valuesOf = ({ values, what, most }: LabelValues<string, boolean>): string =>
  values ? values.map((value) => `\`${value}\``).join(', ') : `${what ?? ''} (at most ${most})`;
