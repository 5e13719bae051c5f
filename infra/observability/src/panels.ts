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

/** The units of Grafana that the dashboards use. */
export type Unit = 's' | 'reqps' | 'ops' | 'percentunit' | 'short' | 'bytes';
/** A query, and the legend of its series: Grafana fills in `{{label}}`. */
export type Query = readonly [expr: string, legend: string];

interface PanelBase {
  readonly title: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** How to read it. */
  readonly description: string;
}
/** A time series. */
export interface Chart extends PanelBase {
  readonly kind: 'chart';
  readonly stacked?: boolean;
}
/** The latest value. Its color changes at `warn` and at `bad`, downward if `bad` is less than `warn`. */
export interface Stat extends PanelBase {
  readonly kind: 'stat';
  readonly warn?: number;
  readonly bad?: number;
}
type AnyPanel = Chart | Stat;

interface Row {
  readonly title: string;
  readonly panels: readonly AnyPanel[];
}
export interface DashboardSpec {
  /** Its id in Grafana's URLs, and its file's name. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Whether the dashboard has a network variable: its queries then contain `network=~"$network"`. */
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
export const stat = (
  title: string,
  unit: Unit,
  description: string,
  query: Query,
  limits: { readonly warn?: number; readonly bad?: number } = {},
): Stat => ({ kind: 'stat', title, unit, description, queries: [query], ...limits });

/** The p50, p95 and p99 of a histogram. */
export const percentiles = (histogram: string, labels: string, by = ''): readonly Query[] =>
  ['0.5', '0.95', '0.99'].map((quantile) => {
    const buckets = `rate(${histogram}_bucket{${labels}}[$__rate_interval])`;
    return [
      `histogram_quantile(${quantile}, sum by (${['le', by].filter(Boolean).join(', ')}) (${buckets}))`,
      `p${Number(quantile) * 100}${by ? ` {{${by}}}` : ''}`,
    ];
  });

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

/** Green, orange, red: upward if `bad` is at least `warn`, else downward. */
function steps({ warn, bad }: Stat): Threshold[] {
  if (warn === undefined || bad === undefined) return [{ value: null, color: 'text' }];
  const [low, middle, high] = bad >= warn ? ['green', 'orange', 'red'] : ['red', 'orange', 'green'];
  return [
    { value: null, color: String(low) },
    { value: Math.min(warn, bad), color: String(middle) },
    { value: Math.max(warn, bad), color: String(high) },
  ];
}

function statPanel(stat: Stat, width: number): Builder<Panel> {
  const panel = new StatBuilder()
    .title(stat.title)
    .description(stat.description)
    .datasource(source)
    .unit(stat.unit)
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.Area)
    // A counter of faults does not exist before the first fault.
    .noValue('none')
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps(stat)))
    .targets(stat.queries.map(query));
  return panel.height(4).span(width);
}

/** The width of a panel in its row, of 24 columns: all stats in one line, two or three charts in one. */
function widthIn({ panels }: Row, { kind }: AnyPanel): number {
  const count = panels.filter((other) => other.kind === kind).length;
  if (kind === 'stat') return Math.max(3, Math.floor(24 / count));
  return count % 3 === 0 ? 8 : count === 1 ? 24 : 12;
}

export function dashboardOf(spec: DashboardSpec): Dashboard {
  const builder = new DashboardBuilder(spec.title)
    .uid(spec.uid)
    .description(spec.description)
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
  if (spec.byNetwork) {
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
  for (const row of spec.rows) {
    builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels)
      builder.withPanel(
        panel.kind === 'chart' ? chartPanel(panel, widthIn(row, panel)) : statPanel(panel, widthIn(row, panel)),
      );
  }
  return numbered(builder.build());
}

/** Gives each panel an id, which a dashboard from a file needs. */
function numbered(dashboard: Dashboard): Dashboard {
  const panels = dashboard.panels?.map((panel, index) => ({ ...panel, id: index + 1 }));
  return { ...dashboard, ...(panels && { panels }) };
}

const targets = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
});

/** The queries of a dashboard as Prometheus receives them: with Grafana's variables replaced. */
export function queriesOf(dashboard: unknown): readonly string[] {
  const queries = targets.parse(dashboard).panels.flatMap((panel) => panel.targets.map(({ expr }) => expr));
  return queries.map((expr) =>
    expr.replaceAll('$__rate_interval', '1m').replaceAll('$__range', '3h').replaceAll('$network', '.*'),
  );
}
