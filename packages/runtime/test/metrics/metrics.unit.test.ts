import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../src/metrics/catalogue.ts';
import { type Metric, prometheusName } from '../../src/metrics/metric.ts';

const metrics: readonly (readonly [string, Metric])[] = Object.entries(METRICS);

describe('the catalogue of metrics', () => {
  it('has names that OpenTelemetry and Prometheus take, each once', () => {
    for (const [name] of metrics) expect(name).toMatch(/^[a-z][a-z0-9_.]*$/);
    const inPrometheus = metrics.map(([name, metric]) => prometheusName(name, metric));
    expect(new Set(inPrometheus).size).toBe(inPrometheus.length);
    for (const name of inPrometheus) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
  });

  it('bounds the series of each metric', () => {
    for (const [name, { labels }] of metrics) {
      const bound = Object.entries(labels).reduce(
        (product, [label, { most }]) => product * (label === 'partition' ? 24 : most),
        1,
      );
      // Few of them exist: a route answers with a handful of codes, an upstream is of one network.
      expect([name, bound <= 20_000]).toEqual([name, true]);
    }
  });

  it('has buckets that grow', () => {
    for (const [name, { kind, buckets = [] }] of metrics) {
      expect([name, buckets.length > 0]).toEqual([name, kind === 'histogram']);
      expect([name, [...buckets].sort((a, b) => a - b)]).toEqual([name, buckets]);
    }
  });
});
