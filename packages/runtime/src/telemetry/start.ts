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
import type { ServiceName } from '../metrics/metric.ts';
import { pause } from '../pause.ts';
import { Complaints } from './complaints.ts';
import type { TelemetryConfig } from './variables.ts';

/** What may be lost at the end of a process is not worth a slow end. */
const FAREWELL_MS = 1_000;
/** Spans that wait to be sent; more are dropped. A collector that is away costs this much memory and nothing else. */
const QUEUE = 4_096;

/** What runs in the background of a process to tell how it is doing. */
export interface Telemetry {
  /** Sends what is left, within a second. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Makes traces and metrics real in this process, as the configuration wants them: called once, before the first span.
 * Trace ids are made and passed on in any case. What sends and counts is loaded only where it is wanted.
 * @throws where METRICS_PORT cannot be listened on
 */
export async function startTelemetry(service: ServiceName, config: TelemetryConfig, log: Logger): Promise<Telemetry> {
  diag.setLogger(new Complaints(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const resource = resourceFromAttributes({
    'service.version': versionOf(),
    ...config.OTEL_RESOURCE_ATTRIBUTES,
    'service.name': service,
    'service.instance.id': randomUUID(),
  });
  const on = !config.OTEL_SDK_DISABLED;
  const endpoint = on ? config.OTEL_EXPORTER_OTLP_ENDPOINT : undefined;

  const sending = endpoint !== undefined && config.OTEL_TRACES_EXPORTER === 'otlp';
  const provider = new TracerProvider({
    resource,
    // Nobody to send to: ids are made, and what others sample is passed on as sampled.
    sampler: sending ? samplerOf(config) : new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    spanProcessors: sending ? [await spansTo(endpoint, config)] : [],
  });
  trace.setGlobalTracerProvider(provider);

  const pushTo = config.OTEL_METRICS_EXPORTER === 'otlp' ? endpoint : undefined;
  const scraped = on ? config.METRICS_PORT : undefined;
  const exporting = pushTo === undefined && scraped === undefined ? null : await import('../metrics/exporting.ts');
  const metrics = await exporting?.exportMetrics(service, resource, {
    pushTo: pushTo === undefined ? null : otlpUrl(pushTo, 'metrics'),
    scraped: scraped ?? null,
    config,
  });
  return {
    async stop() {
      const flushed = Promise.allSettled([provider.shutdown(), metrics?.shutdown()]);
      const over = new AbortController();
      await Promise.race([flushed, pause(FAREWELL_MS, over.signal)]);
      over.abort();
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
  return new BatchSpanProcessor({ exporter, maxQueueSize: QUEUE });
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

/** One version for all packages. */
function versionOf(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
