import { METRICS } from '../../src/metrics/catalogue.ts';
import { type LabelValues, type Metric, prometheusName } from '../../src/metrics/metric.ts';

const WIDTH = 120;

const INTRODUCTION = [
  `# Metrics`,
  wrapped(
    `After this page you know every metric that the services export, with its labels and their values, for queries,
     alerts and dashboards. [telemetry.md](../operations/telemetry.md) explains how to collect them.`,
  ),
  [
    `Each service serves its metrics at \`/metrics\` on \`METRICS_PORT\`, never on its public port, and sends the same
     by OTLP if \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set.`,
    `**Names** follow OpenTelemetry's semantic conventions, or begin with \`payments.\`. In Prometheus dots become
     underscores, and the unit and \`_total\` are appended. A histogram has the suffixes \`_bucket\`, \`_sum\` and
     \`_count\`.`,
    `**Labels** have underscores in Prometheus too (\`http_route\`). No label holds an id, an address or a URL. A label
     marked ? can be absent. A test compares names, labels and values with what a running system exports.`,
    `Every metric has the label \`service_name\` (\`gateway\`, \`intent\`, \`watcher\`, \`webhook\`); \`target_info\`
     has the version and the instance.`,
    `A **counter** begins at 0 if all values of its labels are listed here, so that its first increase is visible. A
     **total** is a counter that is read on collection. A **level** and a **gauge** are gauges in Prometheus.`,
  ]
    .map((item) => `- ${wrapped(item, '  ')}`)
    .join('\n'),
  'Generated from `packages/runtime/src/metrics/catalogue.ts` by `npm run generate`.',
].join('\n\n');

/** docs/reference/metrics.md: the catalogue for readers. */
export function metricsDocument(): string {
  const metrics: readonly (readonly [string, Metric])[] = Object.entries(METRICS);
  const rows = metrics.map(
    ([name, metric]) => `| \`${prometheusName(name, metric)}\` | ${metric.kind} | ${metric.services.join(', ')} |`,
  );
  return [
    INTRODUCTION,
    '',
    '| In Prometheus | Kind | Services |',
    '| --- | --- | --- |',
    ...rows,
    '',
    ...metrics.map(([name, metric]) => section(name, metric)),
  ].join('\n');
}

function section(name: string, metric: Metric): string {
  const { kind, unit, description, labels, buckets } = metric;
  const items = [
    `**In Prometheus:** \`${prometheusName(name, metric)}\``,
    `**Kind:** ${kind}${unit === '' ? '' : `, in \`${unit}\``}. **Services:** ${metric.services.join(', ')}.`,
    ...Object.entries(labels).map(
      ([label, values]) => `**Label** \`${label}\`${values.isOptional ? '?' : ''}: ${valuesOf(values)}`,
    ),
    ...(buckets ? [`**Buckets:** ${buckets.join(', ')}`] : []),
  ];
  return [`## \`${name}\``, '', wrapped(description), '', ...items.map((item) => `- ${wrapped(item, '  ')}`), ''].join(
    '\n',
  );
}

const valuesOf = ({ values, what, most }: LabelValues<string, boolean>): string =>
  values ? values.map((value) => `\`${value}\``).join(', ') : `${what ?? ''} (at most ${most})`;

/** @param indent of the lines after the first; the first one follows a mark of the same length */
function wrapped(text: string, indent = ''): string {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join(`\n${indent}`);
}
