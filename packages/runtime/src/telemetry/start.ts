import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { z } from 'zod';
import type { Logger } from '../logger.ts';
import type { MetricsTargets } from '../metrics/exporting.ts';
import type { ServiceName } from '../metrics/metric.ts';
import { within } from '../pause.ts';
import { DiagnosticLog } from './diagnostic-log.ts';
import { EdgeSampler } from './edge-sampler.ts';
import type { TelemetryConfig } from './variables.ts';

/** The last spans and values are not worth a slow exit. */
const FLUSH_TIMEOUT_MS = 1_000;
/** Spans that wait to be sent; more are dropped. An unavailable collector costs this much memory and nothing else. */
const MAX_QUEUED_SPANS = 4_096;

/** What exports the traces and metrics of a process in the background. */
export interface Telemetry {
  /** Sends what is left, within a second. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts traces and metrics in this process as configured: to be called once, before the first span. Trace ids are
 * created and passed on in any case. Exporters are loaded only if they are configured.
 * @throws ConfigurationError if METRICS_PORT cannot be listened on
 */
export async function startTelemetry(service: ServiceName, config: TelemetryConfig, log: Logger): Promise<Telemetry> {
  diag.setLogger(new DiagnosticLog(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const resource = resourceFromAttributes({
    'service.version': config.SERVICE_VERSION ?? packageVersion(),
    ...config.OTEL_RESOURCE_ATTRIBUTES,
    'service.name': service,
    'service.instance.id': randomUUID(),
  });
  const on = !config.OTEL_SDK_DISABLED;
  const endpoint = on ? config.OTEL_EXPORTER_OTLP_ENDPOINT : undefined;

  const sending = endpoint !== undefined && config.OTEL_TRACES_EXPORTER === 'otlp';
  const provider = new TracerProvider({
    resource,
    // Without a collector: ids are created, and what our other services sample is passed on as sampled.
    sampler: new EdgeSampler(sending ? samplerOf(config) : new ParentBasedSampler({ root: new AlwaysOffSampler() })),
    spanProcessors: sending ? [await spansTo(endpoint, config)] : [],
  });
  trace.setGlobalTracerProvider(provider);

  const targets = metricsTargets(config);
  const exporting = targets === null ? null : await import('../metrics/exporting.ts');
  const metrics = targets && (await exporting?.exportMetrics(service, resource, targets));
  return {
    async stop() {
      const flushed = Promise.allSettled([provider.shutdown(), metrics?.shutdown()]);
      await within(FLUSH_TIMEOUT_MS, flushed);
    },
  };
}

async function spansTo(endpoint: string, config: TelemetryConfig): Promise<BatchSpanProcessor> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter = new OTLPTraceExporter({
    url: otlpUrl(endpoint, 'traces'),
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMillis: config.OTEL_EXPORTER_OTLP_TIMEOUT,
  });
  return new BatchSpanProcessor({ exporter, maxQueueSize: MAX_QUEUED_SPANS });
}

function metricsTargets(config: TelemetryConfig): MetricsTargets | null {
  if (config.OTEL_SDK_DISABLED) return null;
  const { METRICS_PORT: port, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config;
  const scrape = port === undefined ? null : { host: config.HOST, port };
  const push =
    endpoint === undefined || config.OTEL_METRICS_EXPORTER !== 'otlp'
      ? null
      : {
          url: otlpUrl(endpoint, 'metrics'),
          headers: config.OTEL_EXPORTER_OTLP_HEADERS,
          timeoutMs: config.OTEL_EXPORTER_OTLP_TIMEOUT,
          intervalMs: config.OTEL_METRIC_EXPORT_INTERVAL,
        };
  return scrape === null && push === null ? null : { scrape, push };
}

/** An endpoint may have a path of its own, with or without a slash at its end. */
const otlpUrl = (endpoint: string, signal: 'traces' | 'metrics'): string =>
  `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TelemetryConfig): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
    default:
      return name satisfies never;
  }
}

/** The version of this package, the release that the code is or follows: all packages have the same. */
function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
