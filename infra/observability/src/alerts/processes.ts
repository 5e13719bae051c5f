import { type Alert, occurred } from '../alert.ts';

const clock = (service: string, reference: string): string =>
  `payments_clock_offset_seconds{service_name="${service}",instance="a",reference="${reference}"}`;
const mails = (outcome: string): string => `payments_mails_total{service_name="dashboard",outcome="${outcome}"}`;
const volume = (metric: string, claim = 'data-0-pf-kafka-0'): string =>
  `kubelet_volume_stats_${metric}{namespace="kafka",persistentvolumeclaim="${claim}"}`;
/** The names of our claims (docs/operations/deploy.md): CloudNativePG calls those of a cluster `pg` `pg-1`, `pg-2`. */
const CLAIMS = '.*(kafka|postgres|archive).*|(.*-)?pg-.*';
const AVAILABLE = `kubelet_volume_stats_available_bytes{persistentvolumeclaim=~"${CLAIMS}"}`;
const blocks = (work: string): string =>
  `payments_event_loop_blocks_total{service_name="gateway",instance="a",work="${work}"}`;
const process = (metric: string): string => `${metric}{service_name="intent",instance="a"}`;

/** Causes that slow everything in a process. */
export const processAlerts: readonly Alert[] = [
  {
    name: 'WrongClock',
    severity: 'page',
    expr: [
      '(max by (service_name, instance, reference) (abs(payments_clock_offset_seconds)) > 2)',
      'or on (service_name, instance) (min by (service_name, instance) (payments_clock_right) == 0)',
    ].join('\n'),
    for: '1m',
    summary: `The clock of a {{ $labels.service_name }} process ({{ $labels.instance }}) is wrong or unproven. \
An intent service then owns no partition, and a watcher broadcasts nothing again; the others use the time of Postgres.`,
    fires: {
      series: {
        [clock('intent', 'kafka')]: '0.01 0.01 3600+0x20',
        [process('payments_clock_right')]: '1 1 0+0x20',
      },
      at: '10m',
      labels: { service_name: 'intent', instance: 'a', reference: 'kafka' },
    },
    quiet: {
      series: {
        [clock('intent', 'kafka')]: '0.01 -1.9+0x20',
        [process('payments_clock_right')]: '1+0x20',
      },
      at: '10m',
    },
    // Kafka or Postgres was restarted.
    nearMiss: { series: { [process('payments_clock_right')]: '1 0 1+0x20' }, at: '10m' },
    // So much that the process measures its clock late.
    oneTenant: {
      series: {
        [process('nodejs_eventloop_utilization_ratio')]: '0.99+0x20',
        [process('payments_clock_right')]: '1+0x20',
        [clock('intent', 'kafka')]: '0.01 0.4 1.2 0.3 0.9+0x20',
      },
      at: '10m',
    },
  },
  {
    name: 'DatabaseConnectionsShort',
    severity: 'ticket',
    expr: 'sum by (service_name) (min_over_time(db_client_connection_pending_requests[5m])) > 0',
    for: '5m',
    summary: `Statements of the {{ $labels.service_name }} service have constantly waited \
for a Postgres connection for 5 minutes.`,
    fires: {
      series: { [process('db_client_connection_pending_requests')]: '0 4+1x20' },
      at: '15m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: { [process('db_client_connection_pending_requests')]: '0 4 0 9 0 4 0 9 0 4 0 9 0 4 0 9 0' },
      at: '15m',
    },
  },
  {
    name: 'CertificateExpiring',
    severity: 'ticket',
    expr: 'min by (service_name) (payments_certificate_valid_seconds) < 21 * 86400',
    for: '10m',
    summary: `The {{ $labels.service_name }} service trusts an authority whose certificate expires \
in {{ $value | humanizeDuration }}: then it cannot connect.`,
    fires: {
      series: { [process('payments_certificate_valid_seconds')]: '1800000-60x30' },
      at: '20m',
      labels: { service_name: 'intent' },
    },
    quiet: { series: { [process('payments_certificate_valid_seconds')]: '2500000-60x30' }, at: '20m' },
  },
  {
    name: 'EventLoopBusy',
    severity: 'ticket',
    expr: 'max by (service_name) (avg_over_time(nodejs_eventloop_utilization_ratio[10m])) > 0.85',
    for: '10m',
    summary:
      'A {{ $labels.service_name }} process computes {{ $value | humanizePercentage }} of the time: add processes.',
    fires: {
      series: { [process('nodejs_eventloop_utilization_ratio')]: '0.97+0x40' },
      at: '25m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: {
        [process('nodejs_eventloop_utilization_ratio')]: '0.99 0.4 '.repeat(13).trim(),
      },
      at: '25m',
    },
  },
  {
    name: 'EventLoopBlocked',
    severity: 'ticket',
    expr: 'sum by (service_name, work) (rate(payments_event_loop_blocks_total[10m])) > 0.5',
    for: '10m',
    summary: `{{ $labels.work }} has blocked processes of the {{ $labels.service_name }} service for more than 50 ms, \
every other second for 20 minutes: everything else there waits.`,
    fires: {
      series: { [blocks('POST /v1/intents/{id}/submit')]: '0+60x40' },
      at: '25m',
      labels: { service_name: 'gateway', work: 'POST /v1/intents/{id}/submit' },
    },
    quiet: { series: { [blocks('other')]: '0+10x40' }, at: '25m' },
  },
  {
    name: 'MailsFailing',
    severity: 'ticket',
    expr: occurred('payments_mails_total{outcome="failed"}', '1h', 'service_name'),
    summary: 'Mails to people are given up: no one can sign up, accept an invitation or set a new password.',
    fires: { series: { [mails('failed')]: '0+0x5 1+0x30' }, at: '20m', labels: { service_name: 'dashboard' } },
    quiet: { series: { [mails('failed')]: '2+0x100', [mails('sent')]: '0+1x100' }, at: '90m' },
  },
  {
    name: 'MemoryHigh',
    severity: 'ticket',
    // Of each its own: those of the archive and of large watchers are higher.
    expr: 'max by (service_name) (process_memory_usage_bytes / process_memory_limit_bytes) > 0.85',
    for: '10m',
    summary: `A {{ $labels.service_name }} process uses {{ $value | humanizePercentage }} of its memory: \
at the limit Kubernetes kills it.`,
    fires: {
      series: {
        [process('process_memory_usage_bytes')]: '470000000+0x30',
        [process('process_memory_limit_bytes')]: '536870912+0x30',
      },
      at: '20m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: {
        [process('process_memory_usage_bytes')]: '200000000+0x30',
        [process('process_memory_limit_bytes')]: '536870912+0x30',
      },
      at: '20m',
    },
    // As much, but of a larger limit.
    nearMiss: {
      series: {
        'process_memory_usage_bytes{service_name="archive",instance="a"}': '470000000+0x30',
        'process_memory_limit_bytes{service_name="archive",instance="a"}': '805306368+0x30',
        [process('process_memory_limit_bytes')]: '536870912+0x30',
      },
      at: '20m',
    },
  },
  {
    name: 'VolumeFilling',
    severity: 'ticket',
    // Of the kubelets. What runs elsewhere, such as a managed Postgres, has alerts of its own.
    expr: [
      `(${AVAILABLE} / kubelet_volume_stats_capacity_bytes < 0.2)`,
      'or on (namespace, persistentvolumeclaim)',
      `(predict_linear(${AVAILABLE}[6h], 4 * 86400) < 0)`,
    ].join('\n'),
    for: '30m',
    summary: `The volume {{ $labels.persistentvolumeclaim }} in {{ $labels.namespace }} has less than a fifth of its \
space left, or will be full within four days.`,
    fires: {
      series: {
        // 100 GB, and 30 of them left: at 0.2 GB a minute they last for two and a half hours.
        [volume('capacity_bytes')]: '100000000000+0x120',
        [volume('available_bytes')]: '30000000000-200000000x120',
      },
      at: '100m',
      labels: { namespace: 'kafka', persistentvolumeclaim: 'data-0-pf-kafka-0' },
    },
    firesToo: ['data-postgres-0', 'pg-1', 'payments-pg-2-wal', 'archive'].map((claim) => ({
      series: {
        [volume('capacity_bytes', claim)]: '100000000000+0x120',
        [volume('available_bytes', claim)]: '30000000000-200000000x120',
      },
      at: '100m',
      labels: { namespace: 'kafka', persistentvolumeclaim: claim },
    })),
    quiet: {
      series: {
        [volume('capacity_bytes')]: '100000000000+0x120',
        [volume('available_bytes')]: '30000000000-1000000x120',
      },
      at: '100m',
    },
    // A small volume of something else.
    nearMiss: {
      series: {
        'kubelet_volume_stats_capacity_bytes{namespace="web",persistentvolumeclaim="cache"}': '1000000000+0x120',
        'kubelet_volume_stats_available_bytes{namespace="web",persistentvolumeclaim="cache"}': '1000000+0x120',
      },
      at: '100m',
    },
  },
];
