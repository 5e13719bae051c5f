import { type Alert, occurred } from '../alert.ts';

const up = (network: string, upstream: string, service = 'watcher'): string =>
  `payments_rpc_upstream_up{service_name="${service}",network="${network}",upstream="${upstream}"}`;
const active = (network: string, instance: string, shard = '1/1'): string =>
  `payments_watcher_active{service_name="watcher",network="${network}",shard="${shard}",instance="${instance}"}`;
const watcher = (metric: string, shard = '1/1'): string =>
  `payments_watcher_${metric}{service_name="watcher",network="base",shard="${shard}"}`;
const total = (metric: string, network: string): string =>
  `payments_watcher_${metric}_total{service_name="watcher",network="${network}"}`;
const extrasDisproved = (network: string): string =>
  `payments_extras_disproved_total{service_name="intent",network="${network}"}`;
const checks = (network: string, outcome: string): string =>
  `payments_watcher_checks_total{service_name="watcher",network="${network}",outcome="${outcome}"}`;
const shards = (instance: string): string =>
  `payments_watcher_shards{service_name="watcher",network="base",instance="${instance}"}`;
const requests = (error: string): string =>
  'payments_rpc_request_duration_seconds_count' +
  `{service_name="watcher",network="base",upstream="node-a.example"${error}}`;
const failedRequests =
  'payments_rpc_request_duration_seconds_count{error_type=~"timeout|unreachable|throttled|http|malformed"}';
const broadcasts = (outcome: string): string =>
  `payments_broadcasts_total{service_name="gateway",network="base",outcome="${outcome}"}`;
const events = (type: string, livemode = 'true'): string =>
  `payments_intent_events_total{service_name="intent",network="base",livemode="${livemode}",type="${type}"}`;

/** PromQL: more than 5 events of a type in an hour on a live network, and more than one for ten submitted payments. */
const shareOfPending = (type: string): string => {
  const inAnHour = (of: string): string =>
    `sum by (network) (increase(payments_intent_events_total{type="${of}",livemode="true"}[1h]))`;
  return `${inAnHour(type)} > 5\nand ${inAnHour(type)} / ${inAnHour('intent.pending')} > 0.1`;
};

/** Refused by the nodes: transactions of a tenant without money, and hashes of none. */
const refusedByNodes = { [requests(',error_type="rpc"')]: '0+3000x30' };
/** As many intents as a tenant may have watched. */
const manyIntents = { [watcher('intents')]: '0+5000x30' };

/** Causes for which payments are not detected, and payments that should not have occurred. */
export const chainAlerts: readonly Alert[] = [
  {
    name: 'NetworkUnwatched',
    severity: 'page',
    // Gateways serve every network that has upstreams, so their series list all networks.
    expr: [
      'count by (network) (payments_rpc_upstream_up{service_name="gateway"})',
      'unless on (network) (payments_watcher_active == 1)',
    ].join('\n'),
    for: '2m',
    summary: 'No watcher is active on {{ $labels.network }}: payments on it are not detected.',
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
    oneTenant: {
      series: { [up('base', 'node-a.example', 'gateway')]: '1+0x20', [active('base', 'a')]: '1+0x20', ...manyIntents },
      at: '10m',
    },
  },
  {
    name: 'ShardUnwatched',
    severity: 'page',
    expr: [
      'sum by (network) (max by (network, shard) (payments_watcher_active))',
      '< max by (network) (payments_watcher_shards)',
    ].join('\n'),
    for: '2m',
    summary: `Only {{ $value }} shards of {{ $labels.network }} have an active watcher: payments to the recipients of \
the others are not detected.`,
    fires: {
      series: {
        [active('base', 'a', '1/2')]: '1+0x20',
        [active('base', 'b', '2/2')]: '1+0x5 0+0x15',
        [shards('a')]: '2+0x20',
        [shards('b')]: '2+0x20',
      },
      at: '10m',
      labels: { network: 'base' },
    },
    quiet: {
      series: {
        [active('base', 'a', '1/2')]: '1+0x20',
        [active('base', 'b', '2/2')]: '0+0x20',
        [active('base', 'c', '2/2')]: '1+0x20',
        // Left over from before the split.
        [active('base', 'd')]: '0+0x20',
        [shards('a')]: '2+0x20',
        [shards('d')]: '2+0x20',
      },
      at: '10m',
    },
    oneTenant: {
      series: { [active('base', 'a')]: '1+0x20', [shards('a')]: '1+0x20', ...manyIntents },
      at: '10m',
    },
  },
  {
    name: 'WatcherStuck',
    severity: 'page',
    expr: 'min by (network, shard) (payments_watcher_step_age_seconds) > 60',
    for: '1m',
    summary: `The watcher of {{ $labels.network }}, shard {{ $labels.shard }}, has completed no step for \
{{ $value | humanizeDuration }}.`,
    fires: {
      series: { [watcher('step_age_seconds', '1/2')]: '1+0x15', [watcher('step_age_seconds', '2/2')]: '1 1 1+60x10' },
      at: '10m',
      labels: { network: 'base', shard: '2/2' },
    },
    quiet: { series: { [watcher('step_age_seconds')]: '1 40 1 40 1 40 1 40 1 40 1' }, at: '10m' },
    oneTenant: {
      series: { [watcher('step_age_seconds')]: '1 50 20 55 30 45 10 55 40 50 5', ...manyIntents },
      at: '10m',
    },
  },
  {
    name: 'HeadStale',
    severity: 'page',
    expr: 'min by (network) (payments_watcher_head_age_seconds) > 60',
    for: '1m',
    summary: `The head of {{ $labels.network }} has not advanced for {{ $value | humanizeDuration }}: \
the chain has stopped, or all its upstreams are stuck.`,
    fires: { series: { [watcher('head_age_seconds')]: '1 1 1+60x10' }, at: '10m', labels: { network: 'base' } },
    quiet: { series: { [watcher('head_age_seconds')]: '1 20 2 30 1 20 2 30 1 20 2' }, at: '10m' },
    oneTenant: {
      series: { [watcher('head_age_seconds')]: '1 20 2 40 1 30 2 40 1 20 2', ...refusedByNodes, ...manyIntents },
      at: '10m',
    },
  },
  {
    name: 'WatcherBehind',
    severity: 'ticket',
    expr: 'min by (network, shard) (min_over_time(payments_watcher_lag[10m])) > 50',
    for: '5m',
    summary: `The watcher of {{ $labels.network }}, shard {{ $labels.shard }}, stays {{ $value }} blocks behind the \
head: payments are confirmed late.`,
    fires: {
      series: { [watcher('lag', '1/2')]: '0+0x30', [watcher('lag', '2/2')]: '80+1x30' },
      at: '20m',
      labels: { network: 'base', shard: '2/2' },
    },
    quiet: { series: { [watcher('lag')]: '5000 900 100 0+0x30' }, at: '20m' },
    nearMiss: { series: { [watcher('lag')]: '12+0x30' }, at: '20m' },
  },
  {
    name: 'TransactionsSetAside',
    severity: 'ticket',
    expr: 'max by (network, shard) (payments_watcher_set_aside) > 0',
    for: '15m',
    summary: `{{ $value }} transactions on {{ $labels.network }}, shard {{ $labels.shard }}, could not be judged: \
payments in them do not count yet.`,
    fires: {
      series: { [watcher('set_aside', '1/2')]: '0+0x30', [watcher('set_aside', '2/2')]: '0 1+0x30' },
      at: '20m',
      labels: { network: 'base', shard: '2/2' },
    },
    quiet: { series: { [watcher('set_aside')]: '0+0x30' }, at: '20m' },
    // Judged when they were looked at again.
    nearMiss: { series: { [watcher('set_aside')]: '0 40 40 12 1 1 1 1 1 1 0 3 1 0+0x20' }, at: '20m' },
  },
  {
    name: 'TransactionsGivenUp',
    severity: 'ticket',
    // A shard that has just begun counts from zero, so the first one that it gives up is an increase.
    expr: 'sum by (network) (increase(payments_watcher_given_up_total[1h])) > 0',
    summary: `About {{ $value }} transactions on {{ $labels.network }} are looked at no more, and could not be judged: \
what they paid is not known.`,
    fires: {
      series: {
        [total('given_up', 'base')]: '0+0x5 1+0x30',
        [total('given_up', 'tempo')]: '3+0x40',
      },
      at: '20m',
      labels: { network: 'base' },
    },
    quiet: {
      series: { [total('given_up', 'base')]: '0+0x90' },
      at: '80m',
    },
    // Given up long ago, and set aside now: they are not lost yet.
    nearMiss: {
      series: {
        [total('given_up', 'base')]: '0 4+0x120',
        [watcher('set_aside')]: '0+40x120',
      },
      at: '120m',
    },
  },
  {
    name: 'SettlementsDisproved',
    severity: 'ticket',
    // A shard that has just begun counts from zero, so the first one that it finds is an increase.
    expr: [
      'sum by (network) (increase(payments_watcher_disproved_total[1h])) > 0',
      `or ${occurred('payments_extras_disproved_total', '1h', 'network')}`,
    ].join('\n'),
    summary: `About {{ $value }} payments on {{ $labels.network }} have settled an intent, or were told of as extra \
payments, and carry the reference of another one: what its account was told is wrong.`,
    fires: {
      series: {
        [total('disproved', 'base')]: '0+0x5 1+0x30',
        [total('disproved', 'tempo')]: '3+0x40',
      },
      at: '20m',
      labels: { network: 'base' },
    },
    firesToo: [
      {
        series: { [total('disproved', 'base')]: '0+0x40', [extrasDisproved('base')]: '_x5 1+0x30' },
        at: '20m',
        labels: { network: 'base' },
      },
    ],
    quiet: {
      series: { [total('disproved', 'base')]: '0+0x90', [extrasDisproved('base')]: '1+0x90' },
      at: '80m',
    },
    // Found long ago; what waits for a second upstream now is not disproved.
    nearMiss: {
      series: {
        [total('disproved', 'base')]: '0 2+0x120',
        [watcher('unshown')]: '0+3x120',
      },
      at: '120m',
    },
  },
  {
    name: 'PaymentsUnshown',
    severity: 'ticket',
    expr: 'max by (network, shard) (payments_watcher_unshown) > 0',
    for: '10m',
    summary: `{{ $value }} payments or deposits on {{ $labels.network }}, shard {{ $labels.shard }}, are final by one \
upstream, and no second one shows them: they stay confirmed.`,
    fires: {
      series: { [watcher('unshown', '1/2')]: '0+0x30', [watcher('unshown', '2/2')]: '0 3+1x30' },
      at: '15m',
      labels: { network: 'base', shard: '2/2' },
    },
    quiet: { series: { [watcher('unshown')]: '0+0x30' }, at: '20m' },
    // The second upstream was down for some minutes.
    nearMiss: { series: { [watcher('unshown')]: '0 2 4 6 9 12 12 12 3 0+0x30' }, at: '20m' },
  },
  {
    name: 'BlocksReadOnce',
    severity: 'ticket',
    expr: 'max by (network, shard) (payments_watcher_read_once_age_seconds) > 900',
    for: '5m',
    summary: `For {{ $value | humanizeDuration }} no block of {{ $labels.network }}, shard {{ $labels.shard }}, was \
read a second time: what one upstream leaves out is not found, and nothing is dropped.`,
    fires: {
      series: {
        [watcher('read_once_age_seconds', '1/2')]: '0+0x30',
        [watcher('read_once_age_seconds', '2/2')]: '0+60x30',
      },
      at: '25m',
      labels: { network: 'base', shard: '2/2' },
    },
    quiet: { series: { [watcher('read_once_age_seconds')]: '0 60 120 0 60 120 0 60 120 0 60 120 0' }, at: '12m' },
    // The second upstream was down for a quarter of an hour.
    nearMiss: { series: { [watcher('read_once_age_seconds')]: '0+60x16 0+0x14' }, at: '25m' },
  },
  {
    name: 'MoneyUnexplained',
    severity: 'ticket',
    // The log of one difference is found for a day.
    expr: 'sum by (network) (increase(payments_watcher_checks_total{outcome="differs"}[1d])) > 0',
    summary: `About {{ $value }} wallets on {{ $labels.network }} have got something else than the ledger tells of.`,
    fires: {
      series: { [checks('base', 'differs')]: '0+0x5 1+0x30', [checks('tempo', 'same')]: '0+1x40' },
      at: '20m',
      labels: { network: 'base' },
    },
    quiet: { series: { [checks('base', 'same')]: '0+1x40', [checks('base', 'differs')]: '2+0x40' }, at: '20m' },
    // The chain could not be read: what arrived is not known.
    nearMiss: { series: { [checks('base', 'failed')]: '0+1x40', [checks('base', 'differs')]: '0+0x40' }, at: '20m' },
  },
  {
    name: 'UpstreamsAllDown',
    severity: 'page',
    expr: 'max by (service_name, network) (payments_rpc_upstream_up) == 0',
    for: '1m',
    summary: 'The {{ $labels.service_name }} service has no working upstream of {{ $labels.network }}.',
    fires: {
      series: { [up('base', 'node-a.example')]: '1 0+0x10', [up('base', 'node-b.example')]: '1 0+0x10' },
      at: '8m',
      labels: { service_name: 'watcher', network: 'base' },
    },
    quiet: { series: { [up('base', 'node-a.example')]: '0+0x10', [up('base', 'node-b.example')]: '1+0x10' }, at: '8m' },
    oneTenant: { series: { [up('base', 'node-a.example')]: '1+0x10', ...refusedByNodes }, at: '8m' },
  },
  {
    name: 'UpstreamDown',
    severity: 'ticket',
    expr: 'avg by (network, upstream) (avg_over_time(payments_rpc_upstream_up[15m])) < 0.5',
    for: '5m',
    summary: `The upstream {{ $labels.upstream }} of {{ $labels.network }} is out of use most of the time: \
one less to fall back on.`,
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
    // `rpc` is a valid response: a refused transaction, a block that does not exist yet. `late` is what strangers have
    // made slow, and no step waits for.
    expr: [
      `sum by (network, upstream) (rate(${failedRequests}[15m]))`,
      '/ sum by (network, upstream) (rate(payments_rpc_request_duration_seconds_count[15m])) > 0.1',
    ].join('\n'),
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
        [requests(',error_type="late"')]: '0+20x40',
        [requests(',error_type="timeout"')]: '0+1x40',
      },
      at: '35m',
    },
  },
  {
    name: 'BroadcastsUnclear',
    severity: 'ticket',
    expr: [
      'sum by (network) (increase(payments_broadcasts_total{outcome="unknown"}[15m])) > 3',
      'and sum by (network) (increase(payments_broadcasts_total{outcome="unknown"}[15m]))',
      '/ sum by (network) (increase(payments_broadcasts_total[15m])) > 0.1',
    ].join('\n'),
    for: '5m',
    summary: `{{ $value | humanize }} broadcasts on {{ $labels.network }} got no clear response in 15 minutes: \
payers were told to try again.`,
    fires: {
      series: { [broadcasts('taken')]: '0+5x30', [broadcasts('unknown')]: '0+2x30' },
      at: '25m',
      labels: { network: 'base' },
    },
    quiet: { series: { [broadcasts('taken')]: '0+50x30', [broadcasts('unknown')]: '0+1x30' }, at: '25m' },
    nearMiss: { series: { [broadcasts('taken')]: '1+0x30', [broadcasts('unknown')]: '0+0x15 1 2+0x15' }, at: '25m' },
  },
  {
    name: 'PaymentsFailing',
    severity: 'ticket',
    expr: shareOfPending('intent.failed'),
    for: '5m',
    summary: '{{ $value | humanize }} payments on {{ $labels.network }} failed on chain within an hour.',
    fires: {
      series: { [events('intent.pending')]: '0+10x90', [events('intent.failed')]: '0+3x90' },
      at: '80m',
      labels: { network: 'base' },
    },
    quiet: { series: { [events('intent.pending')]: '0+100x90', [events('intent.failed')]: '0+1x90' }, at: '80m' },
    nearMiss: {
      series: { [events('intent.pending')]: '0+0x40 1 2 3 4+0x60', [events('intent.failed')]: '0+0x40 1 2 3+0x60' },
      at: '80m',
    },
  },
  {
    name: 'PaymentsDropped',
    severity: 'ticket',
    expr: shareOfPending('intent.retry_required'),
    for: '5m',
    summary: `{{ $value | humanize }} submitted payments on {{ $labels.network }} were dropped within an hour: \
their payers have to sign again.`,
    fires: {
      series: { [events('intent.pending')]: '0+10x90', [events('intent.retry_required')]: '0+3x90' },
      at: '80m',
      labels: { network: 'base' },
    },
    quiet: {
      series: { [events('intent.pending')]: '0+100x90', [events('intent.retry_required')]: '0+1x90' },
      at: '80m',
    },
    nearMiss: {
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
    expr: occurred('payments_intent_events_total{type="confirmation_lost",livemode="true"}', '1h', 'network'),
    summary: 'A reorg of {{ $labels.network }} removed payments that were confirmed.',
    fires: { series: { [events('confirmation_lost')]: '_ _ _ _ _ 1+0x30' }, at: '20m', labels: { network: 'base' } },
    quiet: { series: { [events('confirmation_lost')]: '2+0x100', [events('intent.confirmed')]: '0+5x100' }, at: '90m' },
    // It simulates payments, and submits what fails.
    oneTenant: {
      series: {
        [events('intent.failed')]: '0+100x30',
        [events('confirmation_lost', 'false')]: '0+10x30',
      },
      at: '20m',
    },
  },
  {
    name: 'UnexpectedPayments',
    severity: 'ticket',
    expr: occurred(
      'payments_intent_events_total{' +
        'type=~"intent.extra_payment|intent.mismatched_payment|extra_payment_observed",livemode="true"}',
      '1h',
      'network, type',
    ),
    summary: `A payment on {{ $labels.network }} arrived that no intent asked for ({{ $labels.type }}): \
the payer may want it back.`,
    fires: {
      series: { [events('intent.extra_payment')]: '_ _ _ _ _ 1+0x30' },
      at: '20m',
      labels: { network: 'base', type: 'intent.extra_payment' },
    },
    quiet: {
      series: { [events('intent.extra_payment')]: '2+0x100', [events('intent.confirmed')]: '0+5x100' },
      at: '90m',
    },
  },
  {
    name: 'SanctionedPayment',
    severity: 'ticket',
    expr: occurred('payments_alarms_total{alarm="sanctioned_payment"}', '1h', 'service_name'),
    summary: 'A sanctioned wallet paid an intent without submitting the transaction to us.',
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
