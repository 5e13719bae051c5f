import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { z } from 'zod';

/** Grafana's units that are used. */
export type Unit = 's' | 'reqps' | 'ops' | 'percentunit' | 'short' | 'bytes';
/** A query, and what its series are called: `{{label}}` is filled in. */
export type Query = readonly [expr: string, legend: string];

interface Shown {
  readonly title: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** What to make of it. */
  readonly description: string;
}
/** Lines over time. */
export interface Chart extends Shown {
  readonly kind: 'chart';
  readonly stacked?: boolean;
}
/** One number, now; from `warn` and from `bad` on (or down, where less is worse) in another colour. */
export interface Figure extends Shown {
  readonly kind: 'figure';
  readonly warn?: number;
  readonly bad?: number;
}
export type AnyPanel = Chart | Figure;

export interface Row {
  readonly title: string;
  readonly panels: readonly AnyPanel[];
}
export interface Page {
  /** Its address in Grafana, and its file's name. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Whether networks can be chosen: queries then hold `network=~"$network"`. */
  readonly byNetwork: boolean;
  readonly rows: readonly Row[];
}

export const chart = (title: string, unit: Unit, description: string, ...queries: readonly Query[]): Chart => ({
  kind: 'chart',
  title,
  unit,
  description,
  queries,
});
export const stacked = (title: string, unit: Unit, description: string, ...queries: readonly Query[]): Chart => ({
  kind: 'chart',
  title,
  unit,
  description,
  queries,
  stacked: true,
});
export const figure = (
  title: string,
  unit: Unit,
  description: string,
  query: Query,
  limits: { readonly warn?: number; readonly bad?: number } = {},
): Figure => ({ kind: 'figure', title, unit, description, queries: [query], ...limits });

/** The three lines of a latency: half, nineteen of twenty, ninety-nine of a hundred. */
export const percentiles = (histogram: string, labels: string, by = ''): readonly Query[] =>
  ['0.5', '0.95', '0.99'].map((share) => [
    `histogram_quantile(${share}, sum by (${['le', by].filter(Boolean).join(', ')}) (rate(${histogram}_bucket{${labels}}[$__rate_interval])))`,
    `p${Number(share) * 100}${by ? ` {{${by}}}` : ''}`,
  ]);

const source = { type: 'prometheus', uid: '${datasource}' };
const query = ([expr, legend]: Query, index: number): DataqueryBuilder =>
  new DataqueryBuilder()
    .refId(String.fromCharCode(65 + index))
    .datasource(source)
    .expr(expr)
    .legendFormat(legend);

function chartPanel(
  { title, unit, description, queries, stacked: isStacked = false }: Chart,
  width: number,
): Builder<Panel> {
  const panel = new TimeSeriesBuilder()
    .title(title)
    .description(description)
    .datasource(source)
    .unit(unit)
    .min(0)
    .lineWidth(1)
    .fillOpacity(isStacked ? 40 : 8)
    .stacking(new StackingConfigBuilder().mode(isStacked ? StackingMode.Normal : StackingMode.None))
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .targets(queries.map(query));
  return panel.height(8).span(width);
}

/** Green, orange, red: rising where `bad` lies above `warn`, else falling. */
function steps({ warn, bad }: Figure): Threshold[] {
  if (warn === undefined || bad === undefined) return [{ value: null, color: 'text' }];
  const [low, middle, high] = bad >= warn ? ['green', 'orange', 'red'] : ['red', 'orange', 'green'];
  return [
    { value: null, color: String(low) },
    { value: Math.min(warn, bad), color: String(middle) },
    { value: Math.max(warn, bad), color: String(high) },
  ];
}

function figurePanel(of: Figure, width: number): Builder<Panel> {
  const panel = new StatBuilder()
    .title(of.title)
    .description(of.description)
    .datasource(source)
    .unit(of.unit)
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.Area)
    // A counter of faults is not there before the first.
    .noValue('none')
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps(of)))
    .targets(of.queries.map(query));
  return panel.height(4).span(width);
}

/** How wide each panel of a row is, of 24: all figures in one line, charts two or three in one. */
function widthIn({ panels }: Row, { kind }: AnyPanel): number {
  const alike = panels.filter((other) => other.kind === kind).length;
  if (kind === 'figure') return Math.max(3, Math.floor(24 / alike));
  return alike % 3 === 0 ? 8 : alike === 1 ? 24 : 12;
}

export function dashboardOf(page: Page): Dashboard {
  const builder = new DashboardBuilder(page.title)
    .uid(page.uid)
    .description(page.description)
    .tags(['payments'])
    .time({ from: 'now-3h', to: 'now' })
    .refresh('30s')
    .timezone('utc')
    .tooltip(DashboardCursorSync.Crosshair)
    .link(
      new DashboardLinkBuilder('Payments')
        .type(DashboardLinkType.Dashboards)
        .tags(['payments'])
        .includeVars(true)
        .keepTime(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  if (page.byNetwork) {
    const values = 'label_values(payments_rpc_upstream_up, network)';
    builder.withVariable(
      new QueryVariableBuilder('network')
        .label('Network')
        .datasource(source)
        .query(values)
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        .allValue('.*'),
    );
  }
  for (const row of page.rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels)
      builder.withPanel(
        panel.kind === 'chart' ? chartPanel(panel, widthIn(row, panel)) : figurePanel(panel, widthIn(row, panel)),
      );
  }
  return numbered(builder.build());
}

/** Panels need ids of their own where a dashboard is a file. */
function numbered(dashboard: Dashboard): Dashboard {
  const panels = dashboard.panels?.map((panel, index) => ({ ...panel, id: index + 1 }));
  return { ...dashboard, ...(panels && { panels }) };
}

const targets = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
});

/** The queries of a dashboard as Prometheus gets them: Grafana's variables filled in. */
export function queriesOf(dashboard: unknown): readonly string[] {
  const queries = targets.parse(dashboard).panels.flatMap((panel) => panel.targets.map(({ expr }) => expr));
  return queries.map((expr) =>
    expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '3h').replaceAll('$network', '.*'),
  );
}
