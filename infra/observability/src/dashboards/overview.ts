import { recordedRatio, SLOS } from '../slo.ts';
import { chart, figure, type Page, percentiles, stacked } from '../panels.ts';

/** Whether what is promised is kept, and where to look if not. */
export const overview: Page = {
  uid: 'payments-overview',
  title: 'Payments / Overview',
  description: 'Whether what docs/operations/slo.md promises is kept. The other dashboards say why not.',
  byNetwork: false,
  rows: [
    {
      title: 'Promises',
      panels: [
        ...SLOS.map(({ name, title }) =>
          figure(
            `${title}: budget left`,
            'percentunit',
            'Of 30 days: 1 is untouched, below 0 the objective is missed. The worst network, where each has its own.',
            [`min(payments:slo_budget:remaining_ratio{slo="${name}"})`, ''],
            { warn: 0.5, bad: 0 },
          ),
        ),
        chart('Errors of the last hour', 'percentunit', 'The share of bad events, by promise.', [
          `max by (slo, network) (${recordedRatio('1h')})`,
          '{{slo}} {{network}}',
        ]),
        chart('Alerts', 'short', 'What is firing; each has a runbook in docs/operations/runbooks.', [
          'count by (alertname, severity) (ALERTS{alertstate="firing"})',
          '{{severity}}: {{alertname}}',
        ]),
      ],
    },
    {
      title: 'Requests',
      panels: [
        chart('Requests', 'reqps', 'By route.', [
          'sum by (http_route) (rate(http_server_request_duration_seconds_count[$__rate_interval]))',
          '{{http_route}}',
        ]),
        stacked('Answers that are not 2xx', 'reqps', '4xx are clients’ mistakes, 5xx ours.', [
          'sum by (http_response_status_code) (rate(http_server_request_duration_seconds_count{http_response_status_code!~"2.."}[$__rate_interval]))',
          '{{http_response_status_code}}',
        ]),
        chart(
          'Creates: latency',
          's',
          'What a client waits for.',
          ...percentiles('http_server_request_duration_seconds', 'http_request_method="POST",http_route="/v1/intents"'),
        ),
        chart(
          'Commands: latency',
          's',
          'Of it, what lies behind the gateway: Kafka, the writer, the projection and back.',
          ...percentiles('payments_command_duration_seconds', ''),
        ),
        chart('Commands by outcome', 'ops', '`unknown`: nobody told within 8 s (503). `dead`: could not be decided.', [
          'sum by (outcome) (rate(payments_command_duration_seconds_count[$__rate_interval]))',
          '{{outcome}}',
        ]),
        chart('Refused by rate limit', 'reqps', 'By quota.', [
          'sum by (policy) (rate(payments_rate_limited_total[$__rate_interval]))',
          '{{policy}}',
        ]),
      ],
    },
    {
      title: 'Processes',
      panels: [
        chart('Running', 'short', 'Processes, by version.', [
          'count by (service_name, service_version) (payments_build_info)',
          '{{service_name}} {{service_version}}',
        ]),
        chart('Parts that are away', 'short', 'Processes that do not reach a part.', [
          'sum by (service_name, dependency) (1 - payments_dependency_up)',
          '{{service_name}}: {{dependency}}',
        ]),
        chart('CPU', 'short', 'Cores, by service.', [
          'sum by (service_name) (rate(process_cpu_time_seconds_total[$__rate_interval]))',
          '{{service_name}}',
        ]),
        chart('Memory', 'bytes', 'The largest process of each service; 512 MiB is the limit.', [
          'max by (service_name) (process_memory_usage_bytes)',
          '{{service_name}}',
        ]),
        chart('Event loop: busy', 'percentunit', 'Near 1 a process is at its limit.', [
          'max by (service_name) (nodejs_eventloop_utilization_ratio)',
          '{{service_name}}',
        ]),
        chart('Event loop: delay', 's', 'How late timers fire, p99.', [
          'max by (service_name) (nodejs_eventloop_delay_p99_seconds)',
          '{{service_name}}',
        ]),
      ],
    },
    {
      title: 'Postgres',
      panels: [
        chart('Statements: latency p99', 's', 'With the wait for a connection.', [
          'histogram_quantile(0.99, sum by (le, service_name) (rate(db_client_operation_duration_seconds_bucket[$__rate_interval])))',
          '{{service_name}}',
        ]),
        chart('Statements', 'ops', 'By service.', [
          'sum by (service_name) (rate(db_client_operation_duration_seconds_count[$__rate_interval]))',
          '{{service_name}}',
        ]),
        chart(
          'Connections',
          'short',
          'In use, and statements that wait for one.',
          [
            'sum by (service_name) (db_client_connection_count{db_client_connection_state="used"})',
            '{{service_name}} used',
          ],
          ['sum by (service_name) (db_client_connection_pending_requests)', '{{service_name}} waiting'],
        ),
      ],
    },
  ],
};
