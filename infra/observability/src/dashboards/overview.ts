import { PAYERS, recordedRatio, type Slo, SLOS } from '../slo.ts';
import { chart, stat, type DashboardSpec, percentiles, stacked, type Stat } from '../panels.ts';

const requests = (labels: string): string =>
  `rate(http_server_request_duration_seconds_count{${labels}}[$__rate_interval])`;
/** Each once: what dashboard and checkout forward to the payment API is counted there. */
const once = (labels = ''): string =>
  [
    requests(`service_name="gateway"${labels}`),
    requests(`service_name!="gateway",http_route!~".*/v1/.*"${labels}`),
  ].join(' or ');
const statements = 'rate(db_client_operation_duration_seconds_bucket[$__rate_interval])';

const NOT_2XX_OF_CHECKOUT = 'service_name="checkout",http_response_status_code!~"2.."';
const OF_PAYERS = ['page-availability', 'payer-availability', 'time-to-see', 'time-to-confirm'];
const isOfPayers = ({ name }: Slo): boolean => OF_PAYERS.includes(name);
/** A line of them. */
const budgetsOf = (slos: readonly Slo[]): readonly Stat[] =>
  slos.map(({ name, title }) =>
    stat(
      `${title}: budget left`,
      'percentunit',
      'Of 30 days: 1 is untouched, below 0 the objective is missed. For budgets by network: the worst one.',
      [`min(payments:slo_budget:remaining_ratio{slo="${name}"})`, ''],
      { warn: 0.5, bad: 0 },
    ),
  );

/** Whether the SLOs are met, and where to look if not. */
export const overview: DashboardSpec = {
  uid: 'payments-overview',
  title: 'Payments / Overview',
  description: 'Whether the objectives of docs/operations/slo.md are met. The other dashboards show why not.',
  byNetwork: false,
  rows: [
    { title: 'Objectives for payers', panels: budgetsOf(SLOS.filter(isOfPayers)) },
    {
      title: 'Objectives for shops',
      panels: [
        ...budgetsOf(SLOS.filter((slo) => !isOfPayers(slo))),
        chart('Errors in the last hour', 'percentunit', 'The share of bad events, by SLO.', [
          `max by (slo, network) (${recordedRatio('1h')})`,
          '{{slo}} {{network}}',
        ]),
        chart('Alerts', 'short', 'Firing alerts; each has a runbook in docs/operations/runbooks.', [
          'count by (alertname, severity) (ALERTS{alertstate="firing"})',
          '{{severity}}: {{alertname}}',
        ]),
      ],
    },
    {
      title: 'Requests',
      panels: [
        chart('Requests', 'reqps', 'HTTP requests, by route. What is forwarded to the gateway counts there.', [
          `sum by (http_route) (${once()})`,
          '{{http_route}}',
        ]),
        stacked(
          'Responses that are not 2xx',
          'reqps',
          '4xx: errors of clients. 5xx: ours, but for those of `caused_by` in slo.md.',
          [
            `sum by (http_response_status_code) (${once(',http_response_status_code!~"2.."')})`,
            '{{http_response_status_code}}',
          ],
        ),
        chart(
          'Creates: latency',
          's',
          'How long clients wait.',
          ...percentiles('http_server_request_duration_seconds', 'http_request_method="POST",http_route="/v1/intents"'),
        ),
        chart(
          'Commands: latency',
          's',
          'The part behind the gateway: Kafka, the writer, the projection and the reply.',
          ...percentiles('payments_command_duration_seconds', ''),
        ),
        chart('Commands by outcome', 'ops', '`unknown`: no reply within 8 s (503). `dead`: moved to intent.dead.', [
          'sum by (outcome) (rate(payments_command_duration_seconds_count[$__rate_interval]))',
          '{{outcome}}',
        ]),
        chart('Request records', 'ops', '`dropped`: missing in the request log of their account.', [
          'sum by (outcome) (rate(payments_request_records_total[$__rate_interval]))',
          '{{outcome}}',
        ]),
        chart('Refused by rate limit', 'reqps', 'Requests over a rate limit, by quota.', [
          'sum by (policy) (rate(payments_rate_limited_total[$__rate_interval]))',
          '{{policy}}',
        ]),
      ],
    },
    {
      title: 'Payers',
      panels: [
        chart('The payment page', 'reqps', 'What browsers and wallets ask of the checkout, by route.', [
          `sum by (http_route) (${requests('service_name="checkout"')})`,
          '{{http_route}}',
        ]),
        stacked('The payment page: not 2xx', 'reqps', '5xx: people see "try again".', [
          `sum by (http_response_status_code) (${requests(NOT_2XX_OF_CHECKOUT)})`,
          '{{http_response_status_code}}',
        ]),
        chart('Calls of payers', 'reqps', 'By the page and by apps of payers, at the gateways: by route and status.', [
          `sum by (http_route, http_response_status_code) (${requests(PAYERS)})`,
          '{{http_route}} {{http_response_status_code}}',
        ]),
        chart(
          'Submitted until seen as paid',
          's',
          'What a payer waits for who watches. "Time to confirm" is the part before the page.',
          ...percentiles('payments_payer_wait_duration_seconds', ''),
        ),
      ],
    },
    {
      title: 'People',
      panels: [
        chart('Sign-ins', 'ops', '`refused`: a wrong password or code. Many of them: passwords are being guessed.', [
          'sum by (outcome) (rate(payments_sign_ins_total[$__rate_interval]))',
          '{{outcome}}',
        ]),
        chart('Mails', 'ops', '`failed`: given up after three tries.', [
          'sum by (outcome) (rate(payments_mails_total[$__rate_interval]))',
          '{{outcome}}',
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
        chart('Ready', 'percentunit', 'The share of processes that are ready, by service.', [
          'avg by (service_name) (payments_service_ready)',
          '{{service_name}}',
        ]),
        chart('Unavailable dependencies', 'short', 'Processes that cannot reach a dependency.', [
          'sum by (service_name, dependency) (1 - payments_dependency_up)',
          '{{service_name}}: {{dependency}}',
        ]),
        chart('CPU', 'short', 'Cores, by service.', [
          'sum by (service_name) (rate(process_cpu_time_seconds_total[$__rate_interval]))',
          '{{service_name}}',
        ]),
        chart('Memory', 'percentunit', 'Of its limit; of each service the process that is nearest to it.', [
          'max by (service_name) (process_memory_usage_bytes / process_memory_limit_bytes)',
          '{{service_name}}',
        ]),
        chart('Certificates', 's', 'How long the first trusted private authority to expire is valid, by service.', [
          'min by (service_name) (payments_certificate_valid_seconds)',
          '{{service_name}}',
        ]),
        chart('Event loop: busy', 'percentunit', 'The busiest process of each service; near 1 it is at its limit.', [
          'max by (service_name) (nodejs_eventloop_utilization_ratio)',
          '{{service_name}}',
        ]),
        chart('Event loop: delay', 's', 'How late timers fire, p99.', [
          'max by (service_name) (nodejs_eventloop_delay_p99_seconds)',
          '{{service_name}}',
        ]),
        chart('Event loop: blocks', 'ops', 'Pieces of work of more than 50 ms, by what they were for.', [
          'sum by (service_name, work) (rate(payments_event_loop_blocks_total[$__rate_interval]))',
          '{{service_name}}: {{work}}',
        ]),
        chart('Event loop: longest block', 's', 'The longest time in which a process did one thing only.', [
          'max by (service_name) (nodejs_eventloop_delay_max_seconds)',
          '{{service_name}}',
        ]),
      ],
    },
    {
      title: 'Postgres',
      panels: [
        chart('Statements: latency p99', 's', 'Including the wait for a connection.', [
          `histogram_quantile(0.99, sum by (le, service_name) (${statements}))`,
          '{{service_name}}',
        ]),
        chart('Statements', 'ops', 'SQL statements, by service.', [
          'sum by (service_name) (rate(db_client_operation_duration_seconds_count[$__rate_interval]))',
          '{{service_name}}',
        ]),
        chart(
          'Connections',
          'short',
          'Connections in use, and statements that wait for one.',
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
