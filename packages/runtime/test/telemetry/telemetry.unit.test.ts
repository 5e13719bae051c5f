import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { loadConfig } from '../../src/config.ts';
import { errorTypeOf } from '../../src/error-type.ts';
import type { Logger } from '../../src/logger.ts';
import { exportMetrics } from '../../src/metrics/exporting.ts';
import { count, registerGauge, isRecordingMetrics } from '../../src/metrics/recording.ts';
import { DiagnosticLog } from '../../src/telemetry/diagnostic-log.ts';
import { isRecordingSpan, isSampled } from '../../src/telemetry/spans.ts';
import { telemetryVariables } from '../../src/telemetry/variables.ts';

const read = (environment: Record<string, string>) => loadConfig(telemetryVariables, environment);

describe('The telemetry variables', () => {
  it('send and serve nothing if none is set', () => {
    expect(read({})).toMatchObject({
      METRICS_PORT: undefined,
      OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_SDK_DISABLED: false,
    });
  });

  it('accept headers and attributes as OpenTelemetry writes them', () => {
    expect(
      read({
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a=b, x-team=payments',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production',
      }),
    ).toMatchObject({
      OTEL_EXPORTER_OTLP_HEADERS: { authorization: 'Bearer a=b', 'x-team': 'payments' },
      OTEL_RESOURCE_ATTRIBUTES: { 'deployment.environment.name': 'production' },
    });
  });

  it.each([
    ['METRICS_PORT', '70000'],
    ['SERVICE_VERSION', 'of last Friday'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-without-a-name'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=%E0%A4%A'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '10'],
    ['OTEL_METRICS_EXPORTER', 'prometheus'],
  ])('refuse %s=%s with the name of the variable, without its value', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(`  ${name}: `);
    expect(() => read({ [name]: value })).not.toThrow(value);
  });
});

describe('OpenTelemetry’s diagnostic log', () => {
  it('has one line per minute, without the data that was to be sent', () => {
    const lines: unknown[] = [];
    const diagnostics = new DiagnosticLog({
      warn: (fields: unknown, message: string) => lines.push([fields, message]),
    } as unknown as Logger);
    diagnostics.error('{"stack":"…"}', new Error('ECONNREFUSED'), { headers: { authorization: 'secret' } });
    diagnostics.warn('another');
    expect(lines).toEqual([[{ reason: 'ECONNREFUSED' }, 'telemetry cannot be sent']]);
  });
});

describe('The metrics endpoint', () => {
  const on = (port: number) => ({ scrape: { host: '127.0.0.1', port }, push: null });
  const resource = resourceFromAttributes({ 'service.name': 'webhook', 'service.version': '1.2.3' });
  async function takenPort(): Promise<{ readonly port: number; readonly free: () => Promise<unknown> }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, free: () => once(server.close(), 'close') };
  }

  it('fails to start with the name of its variable if its port is taken', async () => {
    const { port, free } = await takenPort();
    await expect(exportMetrics('webhook', resource, on(port))).rejects.toThrow(
      `METRICS_PORT: ${port} cannot be listened on: EADDRINUSE`,
    );
    await free();
  });

  it('serves the metrics of its service: names with units, counters from zero, gauges as they are now', async () => {
    const { port, free } = await takenPort();
    await free();
    const metrics = await exportMetrics('webhook', resource, on(port));
    let age = 2;
    const unregister = registerGauge('payments.deliveries.due.age', () => [[age, {}]]);
    const page = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    try {
      // Exported metrics do not make the current work part of a span: spans have a switch of their own.
      expect([isRecordingMetrics(), isRecordingSpan()]).toEqual([true, false]);
      count('payments.delivery.attempts', { outcome: 'retried' }, 2);
      // A metric of another service: it is dropped.
      count('payments.rate_limited', { policy: 'key' });
      const first = await page();
      expect(first).toContain('payments_delivery_attempts_total{outcome="retried",service_name="webhook"} 2\n');
      expect(first).toContain('payments_delivery_attempts_total{outcome="gone",service_name="webhook"} 0\n');
      expect(first).toContain('payments_deliveries_due_age_seconds{service_name="webhook"} 2\n');
      expect(first).toContain('payments_build_info{service_version="1.2.3",service_name="webhook"} 1\n');
      expect(first).not.toContain('payments_rate_limited');
      age = 3;
      expect(await page()).toContain('payments_deliveries_due_age_seconds{service_name="webhook"} 3\n');
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    } finally {
      unregister();
      await metrics.shutdown();
    }
    expect(isRecordingMetrics()).toBe(false);
  });
});

describe('errorTypeOf', () => {
  it('returns the code or the class of an error, never its message', () => {
    expect(
      [
        Object.assign(new Error('to 10.0.0.1'), { code: 'ECONNREFUSED' }),
        new TypeError('no'),
        'text',
        Object.assign(new Error(), { code: 'a b' }),
      ].map(errorTypeOf),
    ).toEqual(['ECONNREFUSED', 'TypeError', 'unknown', 'Error']);
  });
});

describe('isSampled', () => {
  it('reads the sampled flag of a traceparent', () => {
    const traceOf = (flags: string) => ({
      traceparent: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`,
      requestId: null,
    });
    expect(['00', '01', '02', '03'].map((flags) => isSampled(traceOf(flags)))).toEqual([false, true, false, true]);
    expect(isSampled({ traceparent: null, requestId: null })).toBe(false);
  });
});
