import { describe, expect, it } from '@jest/globals';
import { METRICS } from '../../src/metrics/catalogue.ts';
import { type Metric, prometheusName } from '../../src/metrics/metric.ts';

const metrics: readonly (readonly [string, Metric])[] = Object.entries(METRICS);

describe('The catalogue of metrics', () => {
  it('has unique names that OpenTelemetry and Prometheus accept', () => {
    for (const [name] of metrics) expect(name).toMatch(/^[a-z][a-z0-9_.]*$/);
    const inPrometheus = metrics.map(([name, metric]) => prometheusName(name, metric));
    expect(new Set(inPrometheus).size).toBe(inPrometheus.length);
    for (const name of inPrometheus) expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
  });

  it('bounds the number of series of each metric', () => {
    for (const [name, { labels }] of metrics) {
      // An upstream belongs to one network.
      const counted = Object.entries(labels).filter(([label]) => label !== 'network' || !('upstream' in labels));
      const bound = counted.reduce((product, [label, { most }]) => product * (label === 'partition' ? 24 : most), 1);
      // Far fewer exist: a route returns a handful of status codes.
      expect([name, bound <= 20_000]).toEqual([name, true]);
    }
  });

  it('has ascending buckets', () => {
    for (const [name, { kind, buckets = [] }] of metrics) {
      expect([name, buckets.length > 0]).toEqual([name, kind === 'histogram']);
      expect([name, [...buckets].sort((a, b) => a - b)]).toEqual([name, buckets]);
    }
  });
});
