import type { Counter, Histogram, Meter, ObservableResult, UpDownCounter } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import type { Resource } from '@opentelemetry/resources';
import {
  type CollectionResult,
  DataPointType,
  MeterProvider,
  type MetricCollectOptions,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { ConfigurationError } from '../config.ts';
import { errorTypeOf } from '../telemetry/spans.ts';
import type { TelemetryConfig } from '../telemetry/variables.ts';
import { type GaugeName, METRICS } from './catalogue.ts';
import { type Metric, nameWithUnit, type ServiceName } from './metric.ts';
import { registerProcessGauges } from './process.ts';
import { readGauges, registerGauge, recordTo } from './recording.ts';

export interface MetricsTarget {
  /** A collector's /v1/metrics; null: nobody is sent them. */
  readonly pushTo: string | null;
  /** The port on which they can be read; null: none. */
  readonly scraped: number | null;
  readonly config: Pick<
    TelemetryConfig,
    'HOST' | 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_EXPORTER_OTLP_TIMEOUT' | 'OTEL_METRIC_EXPORT_INTERVAL'
  >;
}

/**
 * Makes the catalogue's metrics of this service real.
 * @returns ends it; what is left is sent before
 * @throws where the port cannot be listened on
 */
export async function exportMetrics(
  service: ServiceName,
  resource: Resource,
  { pushTo, scraped, config }: MetricsTarget,
): Promise<{ shutdown(): Promise<void> }> {
  const port =
    scraped === null
      ? null
      : new NamedByUnit({
          host: config.HOST,
          port: scraped,
          preventServerStart: true,
          withResourceConstantLabels: /^service\.name$/,
          withoutScopeInfo: true,
        });
  await port?.startServer().catch((cause: unknown) => {
    throw new ConfigurationError(
      `The configuration cannot be used:\n  METRICS_PORT: ${scraped} cannot be listened on: ${errorTypeOf(cause)}`,
    );
  });
  const provider = new MeterProvider({
    resource,
    readers: [...(port ? [port] : []), ...(pushTo === null ? [] : [pushing(pushTo, config)])],
  });
  recordAll(provider.getMeter('payments'), service);
  const unlook = [
    ...registerProcessGauges(),
    registerGauge('payments.build.info', () => [
      [1, { 'service.version': String(resource.attributes['service.version']) }],
    ]),
  ];
  return {
    async shutdown() {
      await provider.shutdown();
      recordTo(null);
      for (const end of unlook) end();
    },
  };
}

function pushing(
  url: string,
  {
    OTEL_EXPORTER_OTLP_HEADERS: headers,
    OTEL_EXPORTER_OTLP_TIMEOUT: timeoutMillis,
    OTEL_METRIC_EXPORT_INTERVAL: exportIntervalMillis,
  }: MetricsTarget['config'],
): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url, headers, timeoutMillis }),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(timeoutMillis, exportIntervalMillis),
  });
}

/** Prometheus' names end in the unit, as those that come to it by OTLP do; the exporter leaves it out. */
class NamedByUnit extends PrometheusExporter {
  override async collect(options?: MetricCollectOptions): Promise<CollectionResult> {
    const { resourceMetrics, errors } = await super.collect(options);
    const scopeMetrics = resourceMetrics.scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map((metric) => ({
        ...metric,
        descriptor: {
          ...metric.descriptor,
          name: nameWithUnit(
            metric.descriptor.name,
            metric.descriptor.unit,
            metric.dataPointType === DataPointType.GAUGE,
          ),
        },
      })),
    }));
    return { resourceMetrics: { ...resourceMetrics, scopeMetrics }, errors };
  }
}

/** An instrument for each metric of this service, and the way from the code's calls to them. */
function recordAll(meter: Meter, service: ServiceName): void {
  const added = new Map<string, Counter | UpDownCounter>();
  const recorded = new Map<string, Histogram>();
  for (const [name, metric] of Object.entries(METRICS) as [string, Metric][]) {
    const { kind, unit, description, services, buckets } = metric;
    if (!services.includes(service)) continue;
    const observe = (result: ObservableResult): void => {
      for (const [value, labels] of readGauges(name as GaugeName)) result.observe(value, labels);
    };
    switch (kind) {
      case 'counter':
        added.set(name, beginAtZero(meter.createCounter(name, { unit, description }), metric));
        break;
      case 'level':
        added.set(name, beginAtZero(meter.createUpDownCounter(name, { unit, description }), metric));
        break;
      case 'histogram':
        recorded.set(
          name,
          meter.createHistogram(name, {
            unit,
            description,
            ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
          }),
        );
        break;
      case 'gauge':
        meter.createObservableGauge(name, { unit, description }).addCallback(observe);
        break;
      case 'total':
        meter.createObservableCounter(name, { unit, description }).addCallback(observe);
        break;
      default:
        kind satisfies never;
    }
  }
  recordTo({
    add: (name, by, labels) => added.get(name)?.add(by, labels),
    record: (name, value, labels) => recorded.get(name)?.record(value, labels),
  });
}

/** Where all labels are known: a series that begins with its first 1 has not risen, as Prometheus sees it. */
function beginAtZero<Instrument extends Counter | UpDownCounter>(
  instrument: Instrument,
  { labels }: Metric,
): Instrument {
  let series: Record<string, string>[] = [{}];
  for (const [name, { values }] of Object.entries(labels))
    series = values === null ? [] : series.flatMap((one) => values.map((value) => ({ ...one, [name]: value })));
  for (const one of series) instrument.add(0, one);
  return instrument;
}
