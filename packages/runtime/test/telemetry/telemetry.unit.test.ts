import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { loadConfig } from '../../src/config.ts';
import type { Logger } from '../../src/logger.ts';
import { exportMetrics } from '../../src/metrics/exporting.ts';
import { count, registerGauge, isRecording } from '../../src/metrics/recording.ts';
import { Complaints } from '../../src/telemetry/complaints.ts';
import { errorTypeOf, isSampled } from '../../src/telemetry/spans.ts';
import { telemetryVariables } from '../../src/telemetry/variables.ts';

const read = (environment: Record<string, string>) => loadConfig(telemetryVariables, environment);

describe('the variables of telemetry', () => {
  it('send and serve nothing where none is set', () => {
    expect(read({})).toMatchObject({
      METRICS_PORT: undefined,
      OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
      OTEL_TRACES_SAMPLER: 'parentbased_always_on',
      OTEL_SDK_DISABLED: false,
    });
  });

  it('read headers and attributes as OpenTelemetry writes them', () => {
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
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret-without-a-name'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=%E0%A4%A'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '10'],
    ['OTEL_METRICS_EXPORTER', 'prometheus'],
  ])('name %s where it is %s, and do not repeat it', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(`  ${name}: `);
    expect(() => read({ [name]: value })).not.toThrow(value);
  });
});

describe('telemetry that cannot be sent', () => {
  it('is complained of once a minute, without what was to be sent', () => {
    const lines: unknown[] = [];
    const complaints = new Complaints({
      warn: (fields: unknown, message: string) => lines.push([fields, message]),
    } as unknown as Logger);
    complaints.error('{"stack":"…"}', new Error('ECONNREFUSED'), { headers: { authorization: 'secret' } });
    complaints.warn('another');
    expect(lines).toEqual([[{ reason: 'ECONNREFUSED' }, 'telemetry cannot be sent']]);
  });
});

describe('the port of the metrics', () => {
  const config = {
    HOST: '127.0.0.1',
    OTEL_EXPORTER_OTLP_HEADERS: {},
    OTEL_EXPORTER_OTLP_TIMEOUT: 1_000,
    OTEL_METRIC_EXPORT_INTERVAL: 60_000,
  };
  const resource = resourceFromAttributes({ 'service.name': 'webhook', 'service.version': '1.2.3' });
  async function takenPort(): Promise<{ readonly port: number; readonly free: () => Promise<unknown> }> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, free: () => once(server.close(), 'close') };
  }

  it('is named where another has it', async () => {
    const { port, free } = await takenPort();
    await expect(exportMetrics('webhook', resource, { pushTo: null, scraped: port, config })).rejects.toThrow(
      `METRICS_PORT: ${port} cannot be listened on: EADDRINUSE`,
    );
    await free();
  });

  it('serves what the service measures: by name with the unit, from zero on, and what is looked up as it is then', async () => {
    const { port, free } = await takenPort();
    await free();
    const metrics = await exportMetrics('webhook', resource, { pushTo: null, scraped: port, config });
    let age = 2;
    const unlook = registerGauge('payments.deliveries.due.age', () => [[age, {}]]);
    const page = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    try {
      count('payments.delivery.attempts', { outcome: 'retried' }, 2);
      // Not this service's: nothing comes of it.
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
      unlook();
      await metrics.shutdown();
    }
    expect(isRecording()).toBe(false);
  });
});

describe('what spans say', () => {
  it('of an error is its code or its class, never its message', () => {
    expect(
      [
        Object.assign(new Error('to 10.0.0.1'), { code: 'ECONNREFUSED' }),
        new TypeError('no'),
        'text',
        Object.assign(new Error(), { code: 'a b' }),
      ].map(errorTypeOf),
    ).toEqual(['ECONNREFUSED', 'TypeError', 'unknown', 'Error']);
  });

  it('of a trace whether it is kept', () => {
    const traceOf = (flags: string) => ({
      traceparent: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`,
      requestId: null,
    });
    expect(['00', '01', '02', '03'].map((flags) => isSampled(traceOf(flags)))).toEqual([false, true, false, true]);
    expect(isSampled({ traceparent: null, requestId: null })).toBe(false);
  });
});
