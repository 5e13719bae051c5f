import { type Alert, happened } from '../alert.ts';

const up = (network: string, upstream: string, service = 'watcher'): string =>
  `payments_rpc_upstream_up{service_name="${service}",network="${network}",upstream="${upstream}"}`;
const active = (network: string, instance: string): string =>
  `payments_watcher_active{service_name="watcher",network="${network}",instance="${instance}"}`;
const watcher = (metric: string): string => `payments_watcher_${metric}{service_name="watcher",network="base"}`;
const requests = (error: string): string =>
  `payments_rpc_request_duration_seconds_count{service_name="watcher",network="base",upstream="node-a.example"${error}}`;
const broadcasts = (outcome: string): string =>
  `payments_broadcasts_total{service_name="gateway",network="base",outcome="${outcome}"}`;
const events = (type: string): string =>
  `payments_intent_events_total{service_name="intent",network="base",livemode="true",type="${type}"}`;

/** What keeps payments from being seen, and what was seen that should not be. */
export const chainAlerts: readonly Alert[] = [
  {
    name: 'NetworkUnwatched',
    severity: 'page',
    // Gateways serve every network that has upstreams, so they know which there are.
    expr: 'count by (network) (payments_rpc_upstream_up{service_name="gateway"})\nunless on (network) (payments_watcher_active == 1)',
    for: '2m',
    summary: 'Nobody watches {{ $labels.network }}: payments on it are not seen.',
    fires: {
      series: {
        [up('base', 'node-a.example', 'gateway')]: '1+0x20',
        [up('solana', 'node-b.example', 'gateway')]: '1+0x20',
        [active('base', 'a')]: '0+0x20',
        [active('solana', 'a')]: '1+0x20',
      },
      at: '10m',
      labels: { network: 'base' },
    },
    quiet: {
      series: {
        [up('base', 'node-a.example', 'gateway')]: '1+0x20',
        [active('base', 'a')]: '0+0x20',
        [active('base', 'b')]: '1+0x20',
      },
      at: '10m',
    },
  },
  {
    name: 'WatcherStuck',
    severity: 'page',
    expr: 'min by (network) (payments_watcher_step_age_seconds) > 60',
    for: '1m',
    summary: 'For {{ $value | humanizeDuration }} nothing has been looked at on {{ $labels.network }}.',
    fires: { series: { [watcher('step_age_seconds')]: '1 1 1+60x10' }, at: '10m', labels: { network: 'base' } },
    quiet: { series: { [watcher('step_age_seconds')]: '1 40 1 40 1 40 1 40 1 40 1' }, at: '10m' },
  },
  {
    name: 'HeadStale',
    severity: 'page',
    expr: 'min by (network) (payments_watcher_head_age_seconds) > 60',
    for: '1m',
    summary:
      'The head of {{ $labels.network }} has not risen for {{ $value | humanizeDuration }}: the chain, or all its upstreams, stand still.',
    fires: { series: { [watcher('head_age_seconds')]: '1 1 1+60x10' }, at: '10m', labels: { network: 'base' } },
    quiet: { series: { [watcher('head_age_seconds')]: '1 20 2 30 1 20 2 30 1 20 2' }, at: '10m' },
  },
  {
    name: 'WatcherBehind',
    severity: 'ticket',
    expr: 'min by (network) (min_over_time(payments_watcher_lag[10m])) > 50',
    for: '5m',
    summary:
      'The watcher of {{ $labels.network }} stays {{ $value }} blocks behind the head: payments are confirmed late.',
    fires: { series: { [watcher('lag')]: '80+1x30' }, at: '20m', labels: { network: 'base' } },
    quiet: { series: { [watcher('lag')]: '5000 900 100 0+0x30' }, at: '20m' },
    alike: { series: { [watcher('lag')]: '12+0x30' }, at: '20m' },
  },
  {
    name: 'UpstreamsAllDown',
    severity: 'page',
    expr: 'max by (service_name, network) (payments_rpc_upstream_up) == 0',
    for: '1m',
    summary: 'The {{ $labels.service_name }} service has no upstream of {{ $labels.network }} that answers.',
    fires: {
      series: { [up('base', 'node-a.example')]: '1 0+0x10', [up('base', 'node-b.example')]: '1 0+0x10' },
      at: '8m',
      labels: { service_name: 'watcher', network: 'base' },
    },
    quiet: { series: { [up('base', 'node-a.example')]: '0+0x10', [up('base', 'node-b.example')]: '1+0x10' }, at: '8m' },
  },
  {
    name: 'UpstreamDown',
    severity: 'ticket',
    expr: 'avg by (network, upstream) (avg_over_time(payments_rpc_upstream_up[15m])) < 0.5',
    for: '5m',
    summary:
      'The upstream {{ $labels.upstream }} of {{ $labels.network }} is out of use most of the time: one less to fall back on.',
    fires: {
      series: { [up('base', 'node-a.example')]: '0+0x30', [up('base', 'node-b.example')]: '1+0x30' },
      at: '25m',
      labels: { network: 'base', upstream: 'node-a.example' },
    },
    quiet: {
      series: { [up('base', 'node-a.example')]: '1 1 0 1 1 1 0 1 1 1 1 1 1 0 1 1 1 1 1 1 1 1 1 1 1 1' },
      at: '25m',
    },
  },
  {
    name: 'UpstreamErrors',
    severity: 'ticket',
    // `rpc` is an answer: a refused transaction, a block that is not there yet.
    expr: 'sum by (network, upstream) (rate(payments_rpc_request_duration_seconds_count{error_type=~"timeout|unreachable|throttled|http|malformed"}[15m]))\n/ sum by (network, upstream) (rate(payments_rpc_request_duration_seconds_count[15m])) > 0.1',
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of requests to {{ $labels.upstream }} ({{ $labels.network }}) fail.',
    fires: {
      series: { [requests('')]: '0+60x40', [requests(',error_type="throttled"')]: '0+20x40' },
      at: '35m',
      labels: { network: 'base', upstream: 'node-a.example' },
    },
    quiet: {
      series: {
        [requests('')]: '0+60x40',
        [requests(',error_type="rpc"')]: '0+20x40',
        [requests(',error_type="timeout"')]: '0+1x40',
      },
      at: '35m',
    },
  },
  {
    name: 'BroadcastsUnclear',
    severity: 'ticket',
    expr: 'sum by (network) (increase(payments_broadcasts_total{outcome="unknown"}[15m])) > 3\nand sum by (network) (increase(payments_broadcasts_total{outcome="unknown"}[15m])) / sum by (network) (increase(payments_broadcasts_total[15m])) > 0.1',
    for: '5m',
    summary:
      '{{ $value | humanize }} broadcasts on {{ $labels.network }} got no clear answer in 15 minutes: payers were told to try again.',
    fires: {
      series: { [broadcasts('taken')]: '0+5x30', [broadcasts('unknown')]: '0+2x30' },
      at: '25m',
      labels: { network: 'base' },
    },
    quiet: { series: { [broadcasts('taken')]: '0+50x30', [broadcasts('unknown')]: '0+1x30' }, at: '25m' },
    alike: { series: { [broadcasts('taken')]: '1+0x30', [broadcasts('unknown')]: '0+0x15 1 2+0x15' }, at: '25m' },
  },
  {
    name: 'PaymentsFailing',
    severity: 'ticket',
    expr: 'sum by (network) (increase(payments_intent_events_total{type="intent.failed",livemode="true"}[1h])) > 5\nand sum by (network) (increase(payments_intent_events_total{type="intent.failed",livemode="true"}[1h])) / sum by (network) (increase(payments_intent_events_total{type="intent.pending",livemode="true"}[1h])) > 0.1',
    for: '5m',
    summary: '{{ $value | humanize }} payments on {{ $labels.network }} failed on chain within an hour.',
    fires: {
      series: { [events('intent.pending')]: '0+10x90', [events('intent.failed')]: '0+3x90' },
      at: '80m',
      labels: { network: 'base' },
    },
    quiet: { series: { [events('intent.pending')]: '0+100x90', [events('intent.failed')]: '0+1x90' }, at: '80m' },
    alike: {
      series: { [events('intent.pending')]: '0+0x40 1 2 3 4+0x60', [events('intent.failed')]: '0+0x40 1 2 3+0x60' },
      at: '80m',
    },
  },
  {
    name: 'PaymentsDropped',
    severity: 'ticket',
    expr: 'sum by (network) (increase(payments_intent_events_total{type="intent.retry_required",livemode="true"}[1h])) > 5\nand sum by (network) (increase(payments_intent_events_total{type="intent.retry_required",livemode="true"}[1h])) / sum by (network) (increase(payments_intent_events_total{type="intent.pending",livemode="true"}[1h])) > 0.1',
    for: '5m',
    summary:
      '{{ $value | humanize }} submitted payments on {{ $labels.network }} never landed within an hour: their payers have to sign again.',
    fires: {
      series: { [events('intent.pending')]: '0+10x90', [events('intent.retry_required')]: '0+3x90' },
      at: '80m',
      labels: { network: 'base' },
    },
    quiet: {
      series: { [events('intent.pending')]: '0+100x90', [events('intent.retry_required')]: '0+1x90' },
      at: '80m',
    },
    alike: {
      series: {
        [events('intent.pending')]: '0+0x40 1 2 3 4+0x60',
        [events('intent.retry_required')]: '0+0x40 1 2 3+0x60',
      },
      at: '80m',
    },
  },
  {
    name: 'ConfirmationsLost',
    severity: 'page',
    expr: happened('payments_intent_events_total{type="confirmation_lost",livemode="true"}', '1h', 'network'),
    summary: 'A reorganisation of {{ $labels.network }} took payments back that had been confirmed.',
    fires: { series: { [events('confirmation_lost')]: '_ _ _ _ _ 1+0x30' }, at: '20m', labels: { network: 'base' } },
    quiet: { series: { [events('confirmation_lost')]: '2+0x100', [events('intent.confirmed')]: '0+5x100' }, at: '90m' },
  },
  {
    name: 'UnexpectedPayments',
    severity: 'ticket',
    expr: happened(
      'payments_intent_events_total{type=~"extra_payment_observed|mismatched_payment_observed",livemode="true"}',
      '1h',
      'network, type',
    ),
    summary:
      'Money came on {{ $labels.network }} that no intent asked for so ({{ $labels.type }}): somebody may want it back.',
    fires: {
      series: { [events('extra_payment_observed')]: '_ _ _ _ _ 1+0x30' },
      at: '20m',
      labels: { network: 'base', type: 'extra_payment_observed' },
    },
    quiet: {
      series: { [events('extra_payment_observed')]: '2+0x100', [events('intent.confirmed')]: '0+5x100' },
      at: '90m',
    },
  },
  {
    name: 'SanctionedPayment',
    severity: 'ticket',
    expr: happened('payments_alarms_total{alarm="sanctioned_payment"}', '1h', 'service_name'),
    summary: 'Money came, unasked, from a wallet that is sanctioned.',
    fires: {
      series: { 'payments_alarms_total{service_name="watcher",alarm="sanctioned_payment"}': '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'watcher' },
    },
    quiet: {
      series: { 'payments_alarms_total{service_name="watcher",alarm="sanctioned_payment"}': '0+0x30' },
      at: '20m',
    },
  },
];
