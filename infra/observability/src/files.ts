import { DASHBOARDS } from './dashboards.ts';
import { prometheusRule, ruleFile } from './rules.ts';

/** The generated files, by their paths from the root of the repository. */
export const FILES: Readonly<Record<string, string>> = {
  'infra/observability/prometheus/rules.yml': ruleFile(),
  'k8s/components/monitoring/prometheus-rule.yaml': prometheusRule(),
  ...Object.fromEntries(
    DASHBOARDS.map((dashboard) => [
      `infra/observability/grafana/dashboards/${dashboard.uid ?? ''}.json`,
      `${JSON.stringify(dashboard, null, 2)}\n`,
    ]),
  ),
};
