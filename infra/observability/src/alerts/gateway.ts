import type { Alert } from '../alert.ts';
import type { Recording } from '../burn-rates.ts';

const SERVICES = ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout'] as const;
const commands = (outcome: string): string =>
  `payments_command_duration_seconds_count{service_name="gateway",type="create",outcome="${outcome}"}`;
const screened = (verdict: string): string =>
  `payments_screening_duration_seconds_count{service_name="gateway",verdict="${verdict}"}`;
const refused = (policy: string): string => `payments_rate_limited_total{service_name="gateway",policy="${policy}"}`;
const DASHBOARD_REQUESTS = 'http_server_request_duration_seconds_count{service_name="dashboard"';
/** An account's sponsor hangs. */
const sponsorHangs = {
  'payments_sponsor_requests_total{service_name="gateway",network="base",outcome="unavailable"}': '0+80x30',
};
const asked = (status: number): string => `${DASHBOARD_REQUESTS},http_response_status_code="${status}"}`;
const ready = (service: string, instance: string): string =>
  `payments_service_ready{service_name="${service}",instance="${instance}"}`;
const READY_SHARE = 'payments:service_ready:ratio';
const streams = 'payments_streams_open{service_name="gateway"}';

/**
 * The share of a service's processes that are ready. Requests that no gateway gets are in no other metric: the ingress
 * refuses them with 503.
 */
export const readiness: Recording = {
  record: READY_SHARE,
  expr: 'avg by (service_name) (payments_service_ready)',
  labels: {},
};

/** Causes for which requests fail. */
export const gatewayAlerts: readonly Alert[] = [
  {
    name: 'ServiceAbsent',
    severity: 'page',
    expr: SERVICES.map((service) => `absent(payments_build_info{service_name="${service}"})`).join('\nor '),
    for: '3m',
    summary: 'No process of the {{ $labels.service_name }} service reports metrics.',
    fires: {
      series: Object.fromEntries(
        SERVICES.map((service) => [
          `payments_build_info{service_name="${service}",service_version="1.0.0"}`,
          service === 'watcher' ? '1 1 stale' : '1+0x20',
        ]),
      ),
      at: '15m',
      labels: { service_name: 'watcher' },
    },
    quiet: {
      series: Object.fromEntries(
        SERVICES.map((service) => [`payments_build_info{service_name="${service}",service_version="1.0.0"}`, '1+0x20']),
      ),
      at: '15m',
    },
    // It fills the memory of one process with streams: the others go on.
    oneTenant: {
      series: Object.fromEntries(
        SERVICES.flatMap((service) => [
          [`payments_build_info{service_name="${service}",service_version="1.0.0",instance="a"}`, '1 1 stale'],
          [`payments_build_info{service_name="${service}",service_version="1.0.0",instance="b"}`, '1+0x20'],
        ]),
      ),
      at: '15m',
    },
  },
  {
    name: 'ServiceUnready',
    severity: 'page',
    // Nothing waits for the archive: ArchiveBehind is its ticket.
    expr: `${READY_SHARE}{service_name!="archive"} == 0`,
    for: '2m',
    summary: 'No process of the {{ $labels.service_name }} service is ready: it gets no requests.',
    fires: {
      series: { [ready('gateway', 'a')]: '1 1 0+0x20', [ready('gateway', 'b')]: '1 0+0x20' },
      at: '10m',
      labels: { service_name: 'gateway' },
    },
    quiet: {
      series: {
        [ready('gateway', 'a')]: '0+0x20',
        [ready('gateway', 'b')]: '1+0x20',
        [ready('archive', 'a')]: '0+0x20',
      },
      at: '10m',
    },
    // A rollout of a single replica.
    nearMiss: { series: { [ready('gateway', 'a')]: '1 1 1 1 1 1 1 1 0 1+0x20' }, at: '10m' },
    // It kills one process after the other.
    oneTenant: {
      series: {
        [ready('gateway', 'a')]: '0 1 0 1 0 1 0 1 0 1 0 1',
        [ready('gateway', 'b')]: '1 0 1 0 1 0 1 0 1 0 1 0',
      },
      at: '10m',
    },
  },
  {
    name: 'ServiceUnready',
    severity: 'ticket',
    expr: `${READY_SHARE}{service_name!="archive"} < 0.7`,
    for: '30m',
    summary: 'For half an hour, {{ $value | humanizePercentage }} of the {{ $labels.service_name }} service are ready.',
    fires: {
      series: {
        [ready('gateway', 'a')]: '1+0x60',
        [ready('gateway', 'b')]: '1 0+0x60',
        [ready('gateway', 'c')]: '1+0x60',
      },
      at: '40m',
      labels: { service_name: 'gateway' },
    },
    quiet: {
      series: {
        [ready('gateway', 'a')]: '1+0x60',
        [ready('gateway', 'b')]: '1+0x60',
        [ready('gateway', 'c')]: '1+0x60',
      },
      at: '40m',
    },
    nearMiss: {
      series: { [ready('gateway', 'a')]: '1+0x60', [ready('gateway', 'b')]: '0+0x20 1+0x40' },
      at: '40m',
    },
  },
  {
    name: 'DependencyAway',
    severity: 'page',
    // Nothing waits for the archive: ArchiveBehind is its ticket.
    expr: 'max by (service_name, dependency) (payments_dependency_up{service_name!="archive"}) == 0',
    for: '2m',
    summary: 'No process of the {{ $labels.service_name }} service can reach {{ $labels.dependency }}.',
    fires: {
      series: {
        'payments_dependency_up{service_name="intent",dependency="kafka",instance="a"}': '1 1 0+0x10',
        'payments_dependency_up{service_name="intent",dependency="kafka",instance="b"}': '1 1 0+0x10',
      },
      at: '10m',
      labels: { service_name: 'intent', dependency: 'kafka' },
    },
    quiet: {
      series: {
        'payments_dependency_up{service_name="intent",dependency="kafka",instance="a"}': '0+0x10',
        'payments_dependency_up{service_name="intent",dependency="kafka",instance="b"}': '1+0x10',
      },
      at: '10m',
    },
    oneTenant: {
      series: {
        ...sponsorHangs,
        'payments_dependency_up{service_name="gateway",dependency="redis",instance="a"}': '1+0x20',
      },
      at: '10m',
    },
  },
  {
    name: 'ScreeningUnavailable',
    severity: 'page',
    expr: [
      'sum(rate(payments_screening_duration_seconds_count{service_name="gateway",verdict="unavailable"}[5m]))',
      '/ sum(rate(payments_screening_duration_seconds_count{service_name="gateway",verdict!="limited"}[5m])) > 0.05',
    ].join('\n'),
    for: '2m',
    summary: `{{ $value | humanizePercentage }} of wallets cannot be screened: \
their creates and submits are refused with 503.`,
    fires: { series: { [screened('clean')]: '0+10x20', [screened('unavailable')]: '0+5x20' }, at: '15m', labels: {} },
    quiet: { series: { [screened('clean')]: '0+100x20', [screened('unavailable')]: '0+1x20' }, at: '15m' },
    // A live account, or a test key, has more new wallets than its share of the look-ups.
    oneTenant: {
      series: {
        [screened('clean')]: '0+1200x20',
        [screened('limited')]: '0+4800x20',
        [screened('unavailable')]: '0+0x20',
      },
      at: '15m',
    },
  },
  {
    name: 'CommandsUnanswered',
    severity: 'ticket',
    expr: [
      'sum(rate(payments_command_duration_seconds_count{outcome="unknown"}[10m]))',
      '/ sum(rate(payments_command_duration_seconds_count[10m])) > 0.005',
    ].join('\n'),
    for: '5m',
    summary: '{{ $value | humanizePercentage }} of commands had no known outcome within 8 s: their clients got 503.',
    fires: { series: { [commands('accepted')]: '0+100x30', [commands('unknown')]: '0+2x30' }, at: '25m', labels: {} },
    quiet: { series: { [commands('accepted')]: '0+1000x30', [commands('unknown')]: '0+1x30' }, at: '25m' },
  },
  {
    name: 'GatewayFull',
    severity: 'ticket',
    // Four fifths of the 5,000 streams of a gateway, or connections beyond its 10,000.
    expr: [
      'max(payments_streams_open) > 4000',
      'or sum(increase(payments_rate_limited_total{service_name="gateway",policy="connections"}[10m])) > 0',
    ].join('\n'),
    for: '2m',
    summary: 'A gateway has nearly as many streams open as it may, or closes connections: clients are turned away.',
    fires: { series: { [refused('connections')]: '0+0x5 1+40x10' }, at: '12m', labels: {} },
    quiet: {
      series: { [refused('connections')]: '0+0x20', [refused('streams')]: '0+50x20', [streams]: '3500+0x20' },
      at: '12m',
    },
  },
  {
    name: 'DashboardFailing',
    severity: 'ticket',
    // Few people use it at a time: one of ten requests says nothing.
    expr: [
      `sum(rate(${DASHBOARD_REQUESTS},http_response_status_code=~"5.."}[10m]))`,
      `/ sum(rate(${DASHBOARD_REQUESTS}}[10m])) > 0.05`,
      `and sum(increase(${DASHBOARD_REQUESTS},http_response_status_code=~"5.."}[10m])) > 20`,
    ].join('\n'),
    for: '5m',
    summary: '{{ $value | humanizePercentage }} of what people ask of the dashboard fails.',
    fires: { series: { [asked(200)]: '0+10x30', [asked(503)]: '0+5x30' }, at: '25m', labels: {} },
    quiet: { series: { [asked(200)]: '0+100x30', [asked(503)]: '0+3x30' }, at: '25m' },
    nearMiss: { series: { [asked(200)]: '0+3x30', [asked(503)]: '0+1x30' }, at: '25m' },
  },
];
