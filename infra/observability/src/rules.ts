import { stringify } from 'yaml';
import { type Alert, type Example, runbookOf } from './alert.ts';
import { chainAlerts } from './alerts/chains.ts';
import { gatewayAlerts, readiness } from './alerts/gateway.ts';
import { archiveAlerts } from './alerts/archive.ts';
import { ledgerAlerts } from './alerts/ledger.ts';
import { processAlerts } from './alerts/processes.ts';
import { webhookAlerts } from './alerts/webhooks.ts';
import { budgets, burnAlerts, ratios, type Recording } from './burn-rates.ts';
import { SLOS } from './slo.ts';

/** Every alert: those of the SLOs first, then those of causes. */
export const ALERTS: readonly Alert[] = [
  ...burnAlerts,
  ...gatewayAlerts,
  ...ledgerAlerts,
  ...archiveAlerts,
  ...chainAlerts,
  ...webhookAlerts,
  ...processAlerts,
];

const recording = ({ record, expr, labels }: Recording): object => ({
  record,
  expr,
  ...(Object.keys(labels).length > 0 && { labels }),
});
const alerting = ({ name, severity, expr, for: duration, summary }: Alert): object => ({
  alert: name,
  expr,
  ...(duration !== undefined && { for: duration }),
  labels: { severity },
  annotations: { summary, runbook: runbookOf(name) },
});

interface Group {
  readonly name: string;
  readonly interval?: string;
  readonly rules: readonly object[];
}
const slos: Group = { name: 'payments-slos', rules: burnAlerts.map(alerting) };
const recorded: Group = { name: 'payments-slo-ratios', rules: ratios.map(recording) };
const readied: Group = { name: 'payments-readiness', rules: [recording(readiness)] };
const CAUSES: Readonly<Record<string, readonly Alert[]>> = {
  gateway: gatewayAlerts,
  ledger: ledgerAlerts,
  archive: archiveAlerts,
  chains: chainAlerts,
  webhooks: webhookAlerts,
  processes: processAlerts,
};
const causes: readonly Group[] = Object.entries(CAUSES).map(([name, alerts]) => ({
  name: `payments-${name}`,
  rules: alerts.map(alerting),
}));
const GROUPS: readonly Group[] = [
  recorded,
  { name: 'payments-slo-budgets', interval: '5m', rules: budgets.map(recording) },
  slos,
  readied,
  ...causes,
];

/** Tells a reader of a generated file where its source is. */
const HEADER = '# Generated from infra/observability/src by `npm run generate`: do not edit.\n';
const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** The rule file for Prometheus. */
export const ruleFile = (): string => HEADER + yaml({ groups: GROUPS });

/** The same rules for the Prometheus operator. */
export const prometheusRule = (): string =>
  HEADER +
  yaml({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'payments', labels: { 'app.kubernetes.io/part-of': 'payments' } },
    spec: { groups: GROUPS },
  });

/**
 * The tests for promtool: a rule file and a test file for each group. Groups are separate because every test evaluates
 * all rules that it loads.
 */
export function promtoolTests(): readonly { readonly name: string; readonly rules: string; readonly tests: string }[] {
  const testOf = (name: string, groups: readonly Group[], alerts: readonly Alert[]) => ({
    name,
    rules: yaml({ groups }),
    tests: testFile(`${name}.rules.yml`, alerts),
  });
  return [
    ...SLOS.map(({ name: slo }) => {
      const of = ({ labels }: Recording): boolean => labels['slo'] === slo;
      const alerts = burnAlerts.filter(({ fires }) => fires.labels['slo'] === slo);
      return testOf(
        slo,
        [
          { name: 'ratios', rules: ratios.filter(of).map(recording) },
          { name: 'alerts', rules: alerts.map(alerting) },
        ],
        alerts,
      );
    }),
    ...Object.entries(CAUSES).map(([name, alerts]) =>
      testOf(name, [readied, ...causes.filter((group) => group.name === `payments-${name}`)], alerts),
    ),
  ];
}

/** promtool's test file: each alert fires on its series, and not without the fault, on a near miss or for a tenant. */
function testFile(rules: string, alerts: readonly Alert[]): string {
  const tests = alerts.flatMap((alert) => {
    const { name, severity, fires, firesToo = [], quiet, nearMiss, oneTenant } = alert;
    const firing = `ALERTS{alertname="${name}",severity="${severity}",alertstate="firing"}`;
    const testCase = (title: string, { series, at }: Example, expr: string, samples: readonly object[]): object => ({
      name: `${name} (${severity}) ${title}`,
      interval: '1m',
      input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
      promql_expr_test: [{ expr, eval_time: at, exp_samples: samples }],
    });
    return [
      ...[fires, ...firesToo].map((firesOn, index) => {
        const labels = Object.entries({ alertname: name, severity, ...firesOn.labels });
        // Labels that the scrape adds, such as `instance`, are not part of the rule.
        const fired = `max by (${labels.map(([label]) => label).join(', ')}) (${firing})`;
        return testCase(index === 0 ? 'fires' : `fires, example ${index + 1}`, firesOn, fired, [
          { labels: `{${labels.map(([label, value]) => `${label}="${value}"`).join(',')}}`, value: 1 },
        ]);
      }),
      testCase('stays quiet without the fault', quiet, firing, []),
      ...(nearMiss ? [testCase('stays quiet on a near miss', nearMiss, firing, [])] : []),
      ...(oneTenant ? [testCase('stays quiet whatever one tenant does', oneTenant, firing, [])] : []),
    ];
  });
  return yaml({ rule_files: [rules], evaluation_interval: '1m', tests });
}
