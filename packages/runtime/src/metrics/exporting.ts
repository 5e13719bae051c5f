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
import { boundTo, ConfigurationError } from '../config.ts';
import { errorTypeOf } from '../error-type.ts';
import { type GaugeName, METRICS } from './catalogue.ts';
import { type Metric, nameWithUnit, type ServiceName } from './metric.ts';
import { registerProcessGauges } from './process.ts';
import { readGauges, registerGauge, recordTo } from './recording.ts';

/** The address on which Prometheus scrapes the metrics. */
export interface ScrapeTarget {
  readonly host: string;
  readonly port: number;
}

/** A collector that receives the metrics by OTLP. */
export interface PushTarget {
  /** A collector's /v1/metrics. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly intervalMs: number;
}

export interface MetricsTargets {
  readonly scrape: ScrapeTarget | null;
  readonly push: PushTarget | null;
}

/**
 * Begins to record and export the catalogue's metrics of this service.
 * @returns ends it, and sends what is left first
 * @throws ConfigurationError if the port cannot be listened on
 */
export async function exportMetrics(
  service: ServiceName,
  resource: Resource,
  { scrape, push }: MetricsTargets,
): Promise<{ shutdown(): Promise<void> }> {
  const host = scrape === null ? undefined : boundTo(scrape.host);
  const endpoint =
    scrape === null
      ? null
      : new NamedByUnit({
          ...(host !== undefined && { host }),
          port: scrape.port,
          preventServerStart: true,
          withResourceConstantLabels: /^service\.name$/,
          withoutScopeInfo: true,
        });
  await endpoint?.startServer().catch((cause: unknown) => {
    throw new ConfigurationError(
      `The configuration is invalid:\n  METRICS_PORT: ${scrape?.port} cannot be listened on: ${errorTypeOf(cause)}`,
    );
  });
  const provider = new MeterProvider({
    resource,
    readers: [...(endpoint ? [endpoint] : []), ...(push === null ? [] : [pushReader(push)])],
  });
  recordAll(provider.getMeter('payments'), service);
  const unregister = [
    ...registerProcessGauges(),
    registerGauge('payments.build.info', () => [
      [1, { 'service.version': String(resource.attributes['service.version']) }],
    ]),
  ];
  return {
    async shutdown() {
      await provider.shutdown();
      recordTo(null);
      for (const end of unregister) end();
    },
  };
}

function pushReader({ url, headers, timeoutMs, intervalMs }: PushTarget): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url, headers, timeoutMillis: timeoutMs }),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(timeoutMs, intervalMs),
  });
}

/** Ends the names in their units, as Prometheus does with metrics that it receives by OTLP: the exporter does not. */
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

/** Creates an instrument for each metric of this service, and records the code's calls with them. */
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

/** For metrics whose labels are all known: to Prometheus, a series that begins with its first 1 has not increased. */
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
