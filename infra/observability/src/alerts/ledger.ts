import { type Alert, occurred } from '../alert.ts';

const lag = (group: string, topic: string, partition: number): string =>
  `payments_consumer_lag{service_name="${group}",messaging_consumer_group_name="${group}",` +
  `messaging_destination_name="${topic}",partition="${partition}"}`;
const projection = (partition: number, instance = 'a'): string =>
  `payments_projection_lag{service_name="intent",instance="${instance}",partition="${partition}"}`;
const deadLetters =
  'payments_dead_letters_total{service_name="intent",messaging_destination_name="chain.observations"}';
const alarm = (name: string, service: string): string =>
  `payments_alarms_total{service_name="${service}",alarm="${name}"}`;
const transactions = (outcome: string): string =>
  `payments_transaction_duration_seconds_count{service_name="intent",outcome="${outcome}"}`;
const sends = (error: string): string =>
  `messaging_client_operation_duration_seconds_count{service_name="gateway",messaging_operation_name="send"${error}}`;

/** What is refused, and a payment from a sanctioned wallet: whatever commands and payments a tenant sends. */
const refusedCommands =
  'payments_command_duration_seconds_count{service_name="gateway",type="cancel",outcome="refused"}';
const anything = (watched: string): Alert['quiet'] => ({
  series: {
    [watched]: '0+0x30',
    [alarm('sanctioned_payment', 'watcher')]: '0+5x30',
    [refusedCommands]: '0+6000x30',
  },
  at: '20m',
});
/** As many commands and events as the quotas allow: they wait, and are read. */
const flood = (group: string, topic: string): Readonly<Record<string, string>> => ({
  [lag(group, topic, 0)]: '0 400 900 300 800 500 900 200 700 400 900 100 600 300 800 0 500 900 200 700',
  [projection(0)]: '0 200 0 300 1 250 0 100 1 300 0 200 0 150 1 300 0 200 0 100',
});

/** Causes for which the log is not written, projected or read. */
export const ledgerAlerts: readonly Alert[] = [
  {
    name: 'DeadLetters',
    severity: 'page',
    expr: occurred('payments_dead_letters_total', '1h', 'messaging_destination_name'),
    summary: `Messages of {{ $labels.messaging_destination_name }} were moved to intent.dead: \
the ledger lacks what they report.`,
    fires: {
      series: { [deadLetters]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { messaging_destination_name: 'chain.observations' },
    },
    quiet: { series: { [deadLetters]: '3+0x100' }, at: '90m' },
    oneTenant: anything(deadLetters),
  },
  {
    name: 'LedgerGap',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="version_gap"}', '1h', 'service_name'),
    summary: 'The {{ $labels.service_name }} service found a version missing in the log: a partition has stopped.',
    fires: {
      series: { [alarm('version_gap', 'intent')]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: { [alarm('version_gap', 'intent')]: '0+0x30', [alarm('sanctioned_payment', 'watcher')]: '0+1x30' },
      at: '20m',
    },
    oneTenant: anything(alarm('version_gap', 'intent')),
  },
  {
    name: 'IntentHeld',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="held_intent"}', '1h', 'service_name'),
    summary: 'The {{ $labels.service_name }} service does not understand an intent that newer code has changed.',
    fires: {
      series: { [alarm('held_intent', 'intent')]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: { [alarm('held_intent', 'intent')]: '0+0x30', [alarm('version_gap', 'intent')]: '0+1x30' },
      at: '20m',
    },
    oneTenant: anything(alarm('held_intent', 'intent')),
  },
  {
    name: 'LogUnfollowable',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="broken_log"}', '1h', 'service_name'),
    summary:
      'The {{ $labels.service_name }} service cannot follow the log: a version repeats, a record is unreadable, or the \
log ends before what was read of it.',
    fires: {
      series: { [alarm('broken_log', 'watcher')]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'watcher' },
    },
    quiet: { series: { [alarm('broken_log', 'watcher')]: '0+0x30' }, at: '20m' },
    oneTenant: anything(alarm('broken_log', 'watcher')),
  },
  {
    name: 'LedgerForked',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="repeated_version"}', '1h', 'service_name'),
    summary: 'The {{ $labels.service_name }} service found a version twice in the log: a partition has stopped.',
    fires: {
      series: { [alarm('repeated_version', 'intent')]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: { [alarm('repeated_version', 'intent')]: '0+0x30', [alarm('version_gap', 'intent')]: '0+1x30' },
      at: '20m',
    },
    oneTenant: anything(alarm('repeated_version', 'intent')),
  },
  {
    name: 'HangingTransaction',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="hanging_transaction"}', '1h', 'service_name'),
    summary: 'A transaction of the log hangs, and its outcome is not known: a partition has stopped.',
    fires: {
      series: { [alarm('hanging_transaction', 'intent')]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'intent' },
    },
    quiet: {
      series: { [alarm('hanging_transaction', 'intent')]: '0+0x30', [alarm('version_gap', 'intent')]: '0+1x30' },
      at: '20m',
    },
    oneTenant: anything(alarm('hanging_transaction', 'intent')),
  },
  {
    name: 'EventUnreadable',
    severity: 'page',
    expr: occurred('payments_alarms_total{alarm="unreadable_event"}', '1h', 'service_name'),
    summary: 'Events in the log could not be parsed: no webhook is sent for them.',
    fires: {
      series: { [alarm('unreadable_event', 'webhook')]: '0+0x5 1+0x30' },
      at: '20m',
      labels: { service_name: 'webhook' },
    },
    quiet: { series: { [alarm('unreadable_event', 'webhook')]: '0+0x30' }, at: '20m' },
    oneTenant: anything(alarm('unreadable_event', 'webhook')),
  },
  {
    name: 'PartitionUnowned',
    severity: 'page',
    // Webhook services read every partition, so their lag lists all partitions.
    expr: [
      'count by (partition) (payments_consumer_lag{messaging_consumer_group_name="webhook"})',
      'unless on (partition) payments_projection_lag',
    ].join('\n'),
    for: '2m',
    summary:
      'No intent service owns partition {{ $labels.partition }}: its intents cannot change, a share of creates fails.',
    fires: {
      series: {
        [lag('webhook', 'intent.events', 0)]: '0+0x20',
        [lag('webhook', 'intent.events', 1)]: '0+0x20',
        [projection(0)]: '0+0x20',
        [projection(1)]: '0 0 stale',
      },
      at: '15m',
      labels: { partition: '1' },
    },
    quiet: {
      series: {
        [lag('webhook', 'intent.events', 0)]: '0+0x20',
        [lag('webhook', 'intent.events', 1)]: '0+0x20',
        [projection(0)]: '0+0x20',
        [projection(1)]: '0 0 stale',
        [projection(1, 'b')]: '_ _ _ 0+0x20',
      },
      at: '15m',
    },
    oneTenant: { series: flood('webhook', 'intent.events'), at: '15m' },
  },
  {
    name: 'PartitionUnread',
    severity: 'page',
    expr: [
      'count by (partition) (payments_projection_lag)',
      'unless on (partition) payments_consumer_lag{messaging_consumer_group_name="webhook"}',
    ].join('\n'),
    for: '2m',
    summary: 'No webhook service reads partition {{ $labels.partition }}: no webhooks are sent for its events.',
    fires: {
      series: { [projection(0)]: '0+0x20', [projection(1)]: '0+0x20', [lag('webhook', 'intent.events', 0)]: '0+0x20' },
      at: '15m',
      labels: { partition: '1' },
    },
    quiet: { series: { [projection(0)]: '0+0x20', [lag('webhook', 'intent.events', 0)]: '0+0x20' }, at: '15m' },
    oneTenant: { series: flood('webhook', 'intent.events'), at: '15m' },
  },
  {
    name: 'PartitionStuck',
    severity: 'page',
    expr: 'min_over_time(payments_consumer_lag[5m]) > 0 and delta(payments_consumer_lag[5m]) >= 0',
    for: '2m',
    summary: `The {{ $labels.service_name }} service makes no progress on partition {{ $labels.partition }} \
of {{ $labels.messaging_destination_name }}: {{ $value }} records wait.`,
    fires: {
      series: { [lag('intent', 'intent.commands', 3)]: '0 0 4+1x20' },
      at: '15m',
      labels: {
        service_name: 'intent',
        messaging_consumer_group_name: 'intent',
        messaging_destination_name: 'intent.commands',
        partition: '3',
      },
    },
    quiet: {
      series: {
        [lag('intent', 'intent.commands', 3)]: '5 0 7 0 5 0 9 0 5 0 7 0 5 0 9 0 5 0',
        [lag('webhook', 'intent.events', 3)]: '9000-100x20',
      },
      at: '15m',
    },
    oneTenant: { series: flood('intent', 'intent.commands'), at: '15m' },
  },
  {
    name: 'ConsumerLagHigh',
    severity: 'ticket',
    expr: 'sum by (messaging_consumer_group_name, messaging_destination_name) (payments_consumer_lag) > 2000',
    for: '10m',
    summary: `The {{ $labels.messaging_consumer_group_name }} service lags {{ $value }} records behind \
{{ $labels.messaging_destination_name }}.`,
    fires: {
      series: {
        [lag('intent', 'intent.commands', 0)]: '1500+0x20',
        [lag('intent', 'intent.commands', 1)]: '1500-1x20',
      },
      at: '15m',
      labels: { messaging_consumer_group_name: 'intent', messaging_destination_name: 'intent.commands' },
    },
    quiet: {
      series: {
        [lag('intent', 'intent.commands', 0)]: '1500+0x20',
        [lag('intent', 'chain.observations', 0)]: '1500+0x20',
      },
      at: '15m',
    },
  },
  {
    name: 'ProjectionBehind',
    severity: 'page',
    expr: 'min_over_time(payments_projection_lag[5m]) > 1',
    for: '2m',
    summary: `Postgres has lagged behind partition {{ $labels.partition }} of the log for 5 minutes: \
replies and webhooks wait for it.`,
    fires: {
      series: { [projection(2)]: '0 0 30+0x20' },
      at: '15m',
      labels: { service_name: 'intent', partition: '2' },
    },
    quiet: { series: { [projection(2)]: '30 0 12 1 200 0 30 1 12 0 30 1 12 0 30 1' }, at: '15m' },
    // A transaction's marker is a record that is never projected.
    nearMiss: { series: { [projection(2)]: '1+0x20' }, at: '15m' },
    oneTenant: { series: flood('intent', 'intent.commands'), at: '15m' },
  },
  {
    name: 'LogTransactionsFailing',
    severity: 'ticket',
    expr: [
      'sum(increase(payments_transaction_duration_seconds_count{outcome="failed"}[15m])) > 5',
      'and sum(rate(payments_transaction_duration_seconds_count{outcome="failed"}[15m]))',
      '/ sum(rate(payments_transaction_duration_seconds_count[15m])) > 0.02',
    ].join('\n'),
    for: '5m',
    summary:
      '{{ $value | humanize }} Kafka transactions failed in 15 minutes; after each failure a partition is reacquired.',
    fires: {
      series: { [transactions('committed')]: '0+20x40', [transactions('failed')]: '0+1x40' },
      at: '30m',
      labels: {},
    },
    quiet: { series: { [transactions('committed')]: '0+200x40', [transactions('failed')]: '0+1x40' }, at: '30m' },
    nearMiss: {
      series: { [transactions('committed')]: '0+1x40', [transactions('failed')]: '0+0x20 1 2 3+0x20' },
      at: '30m',
    },
  },
  {
    name: 'SendsFailing',
    severity: 'page',
    expr: [
      'sum by (service_name) (rate(messaging_client_operation_duration_seconds_count{error_type!=""}[5m]))',
      '/ sum by (service_name) (rate(messaging_client_operation_duration_seconds_count[5m])) > 0.05',
    ].join('\n'),
    for: '2m',
    summary: `Kafka does not acknowledge {{ $value | humanizePercentage }} of what \
the {{ $labels.service_name }} service sends.`,
    fires: {
      series: { [sends('')]: '0+100x20', [sends(',error_type="KafkaJSConnectionError"')]: '0+20x20' },
      at: '15m',
      labels: { service_name: 'gateway' },
    },
    quiet: {
      series: { [sends('')]: '0+1000x20', [sends(',error_type="KafkaJSConnectionError"')]: '0+1x20' },
      at: '15m',
    },
    oneTenant: { series: { [sends('')]: '0+6000x20', [refusedCommands]: '0+6000x20' }, at: '15m' },
  },
];
