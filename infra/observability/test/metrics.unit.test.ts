import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { COMMAND_TYPES, DEPOSIT_OBSERVATION_TYPES, OBSERVATION_TYPES } from '@pf/contracts';
import { DEPOSIT_COMMAND_TYPES, PRIVATE_EVENT_TYPES, PUBLIC_EVENT_TYPES } from '@pf/domain';
import { METRICS, type Metric, prometheusName } from '@pf/runtime';
import { z } from 'zod';
import { readiness } from '../src/alerts/gateway.ts';
import { budgets, ratios } from '../src/burn-rates.ts';
import { DASHBOARDS } from '../src/dashboards.ts';
import { queriesOf } from '../src/panels.ts';
import { selectorsOf } from '../src/promql.ts';
import { ALERTS } from '../src/rules.ts';

/** Labels that the scrape adds to every series, and those of the series ALERTS. */
const SCRAPE_LABELS = ['service_name', 'instance'];
const ALERTS_LABELS = ['alertname', 'alertstate', 'severity'];

interface KnownSeries {
  readonly labels: ReadonlyMap<string, RegExp | null>;
}
const labelName = (name: string): string => name.replaceAll('.', '_');
const oneOf = (values: readonly string[]): RegExp => new RegExp(`^(${values.join('|').replaceAll('.', '\\.')})$`);

/** The values of `type` are the domain's: the catalogue says only how they are spelled. */
const TYPES: Partial<Record<string, RegExp>> = {
  'payments.command.duration': oneOf([...COMMAND_TYPES, ...DEPOSIT_COMMAND_TYPES]),
  'payments.intent.events': oneOf([...PUBLIC_EVENT_TYPES, ...PRIVATE_EVENT_TYPES]),
  'payments.observations': oneOf([...OBSERVATION_TYPES, ...DEPOSIT_OBSERVATION_TYPES]),
};

/** The series of the metric catalogue, by their names in Prometheus. */
const known = new Map<string, KnownSeries>();
for (const [name, metric] of Object.entries(METRICS) as [string, Metric][]) {
  const labels = new Map<string, RegExp | null>([
    ...Object.entries(metric.labels).map(
      ([label, { pattern }]) => [labelName(label), (label === 'type' ? TYPES[name] : undefined) ?? pattern] as const,
    ),
    ...SCRAPE_LABELS.map((label) => [label, null] as const),
  ]);
  const series = prometheusName(name, metric);
  if (metric.kind !== 'histogram') known.set(series, { labels });
  else {
    for (const part of ['_count', '_sum']) known.set(`${series}${part}`, { labels });
    known.set(`${series}_bucket`, { labels: new Map([...labels, ['le', null]]) });
  }
}
for (const { record } of [...ratios, ...budgets])
  known.set(record, {
    labels: new Map([
      ['slo', null],
      ['network', null],
    ]),
  });
known.set(readiness.record, { labels: new Map(SCRAPE_LABELS.map((label) => [label, null])) });
/** Prometheus' own series, one for each target. */
known.set('up', { labels: new Map([['namespace', null]]) });
/** Those of Kubernetes, one for each volume. */
for (const series of ['available_bytes', 'capacity_bytes'])
  known.set(`kubelet_volume_stats_${series}`, {
    labels: new Map([
      ['namespace', null],
      ['persistentvolumeclaim', null],
    ]),
  });
known.set('ALERTS', { labels: new Map(ALERTS_LABELS.map((label) => [label, null])) });

/** The metrics and labels of an expression that no service exports. */
function unknownIn(expression: string): readonly string[] {
  return selectorsOf(expression).flatMap(({ metric, labels }) => {
    const series = known.get(metric);
    if (!series) return [`${metric} is not in the catalogue`];
    return labels.filter((label) => !series.labels.has(label)).map((label) => `${metric} has no label ${label}`);
  });
}

describe('queries of metrics', () => {
  it.each(DASHBOARDS.map((dashboard) => ({ title: dashboard.title ?? '', dashboard })))(
    'use only metrics and labels of the catalogue on the dashboard $title',
    ({ dashboard }) => {
      const queries = queriesOf(dashboard);
      expect(queries.length).toBeGreaterThan(10);
      expect(queries.flatMap((query) => unknownIn(query))).toEqual([]);
    },
  );

  it('use only metrics and labels of the catalogue in every alert', () => {
    expect(ALERTS.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  it('use only metrics and labels of the catalogue in every recording rule', () => {
    expect([readiness, ...ratios, ...budgets].flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  it('use only metrics and labels of the catalogue in every runbook', () => {
    const folder = path.resolve(import.meta.dirname, '../../../docs/operations/runbooks');
    const queries = readdirSync(folder).flatMap((name) =>
      [...readFileSync(path.join(folder, name), 'utf8').matchAll(/```promql\n([^`]+)```/g)].flatMap(([, block = '']) =>
        block
          .trim()
          // An indented line, and one that starts with `)`, continues the expression before it.
          .split(/\n(?![\s)])/)
          .map((expression) => ({ name, expression })),
      ),
    );
    expect(queries.length).toBeGreaterThan(50);
    expect(
      queries.flatMap(({ name, expression }) => unknownIn(expression).map((problem) => `${name}: ${problem}`)),
    ).toEqual([]);
  });

  it('reports metrics and labels that no service exports', () => {
    expect(unknownIn('sum(rate(payments_nothing_total[5m])) > 1')).toEqual([
      'payments_nothing_total is not in the catalogue',
    ]);
    expect(unknownIn('sum by (le) (rate(payments_slice_size_bucket{color="red"}[5m]))')).toEqual([
      'payments_slice_size_bucket has no label color',
    ]);
    expect(() => unknownIn('sum(rate(payments_slice_size_bucket[5m])')).toThrow(/invalid PromQL/);
  });
});

const matcher = /(\w+)="([^"]*)"/g;

describe('the example series of alerts', () => {
  it('have names, labels and values that services export', () => {
    for (const { name, fires, firesToo = [], quiet, nearMiss, oneTenant } of ALERTS) {
      for (const one of [fires, ...firesToo, quiet, nearMiss, oneTenant].flatMap((example) =>
        Object.keys(example?.series ?? {}),
      )) {
        expect({ name, unknown: unknownIn(one) }).toEqual({ name, unknown: [] });
        const [{ metric } = { metric: '' }] = selectorsOf(one);
        for (const [, label = '', value = ''] of one.matchAll(matcher)) {
          const pattern = known.get(metric)?.labels.get(label);
          if (pattern)
            expect({ name, label, value, is: pattern.test(value) }).toEqual({ name, label, value, is: true });
        }
      }
    }
  });

  it('include the thresholds of SLOs among their buckets', () => {
    const bounds = ratios.flatMap(({ expr }) =>
      [...expr.matchAll(/(\w+)_bucket\{[^}]*le=~?"([\d.]+)/g)].map(([, series = '', bound = '']) => ({
        series,
        bound: Number(bound),
      })),
    );
    expect(bounds.length).toBeGreaterThan(0);
    for (const { series, bound } of bounds) {
      const [, metric] =
        (Object.entries(METRICS) as [string, Metric][]).find(([name, of]) => prometheusName(name, of) === series) ?? [];
      expect(metric?.buckets).toContain(bound);
    }
  });
});

describe('dashboards', () => {
  const panels = z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      type: z.string(),
      description: z.string().optional(),
      gridPos: z.object({ x: z.number(), w: z.number() }),
    }),
  );

  it('describe each panel and place it within the page', () => {
    for (const dashboard of DASHBOARDS) {
      const all = panels.parse(dashboard.panels);
      expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
      for (const { type, description, gridPos } of all) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
        if (type !== 'row') expect(description).toMatch(/\.$/);
      }
    }
  });

  it('show every metric of the catalogue', () => {
    const shown = new Set(
      DASHBOARDS.flatMap((dashboard) => queriesOf(dashboard)).flatMap((query) =>
        selectorsOf(query).map(({ metric }) => metric),
      ),
    );
    const isShown = (name: string): boolean => ['', '_bucket', '_count'].some((part) => shown.has(`${name}${part}`));
    expect(
      (Object.entries(METRICS) as [string, Metric][])
        .map(([name, metric]) => prometheusName(name, metric))
        .filter((name) => !isShown(name)),
    ).toEqual([]);
  });
});
