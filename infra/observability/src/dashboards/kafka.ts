import { chart, stat, type DashboardSpec, percentiles } from '../panels.ts';

const READ_PARTITIONS = 'count by (partition) (payments_consumer_lag{messaging_consumer_group_name="webhook"})';

const consumed = 'rate(messaging_client_consumed_messages_total[$__rate_interval])';
const failedSends = 'rate(messaging_client_operation_duration_seconds_count{error_type!=""}[$__rate_interval])';

/** The log: its writers, its readers, and their lag. */
export const kafka: DashboardSpec = {
  uid: 'payments-kafka',
  title: 'Payments / Kafka',
  description:
    'The log as the services see it: commands and observations are decided in batches, committed and projected.',
  byNetwork: false,
  rows: [
    {
      title: 'Now',
      panels: [
        stat(
          'Partitions without an owner',
          'short',
          'Partitions that webhook services read and no intent service owns.',
          [`(count(${READ_PARTITIONS} unless on (partition) payments_projection_lag)) or vector(0)`, ''],
          { warn: 1, bad: 1 },
        ),
        stat(
          'Waiting to be decided',
          'short',
          'Commands and observations that no writer has decided yet.',
          ['sum(payments_consumer_lag{messaging_consumer_group_name="intent"})', ''],
          { warn: 500, bad: 2_000 },
        ),
        stat(
          'Not projected',
          'short',
          'Records of the partition that lags most.',
          ['max(payments_projection_lag)', ''],
          {
            warn: 100,
            bad: 1_000,
          },
        ),
        stat(
          'Dead letters',
          'short',
          'In the selected time range. Always a bug of ours.',
          ['sum(increase(payments_dead_letters_total[$__range]))', ''],
          { warn: 1, bad: 1 },
        ),
        stat(
          'Alarms',
          'short',
          'In the selected time range: events that a person has to examine.',
          ['sum(increase(payments_alarms_total[$__range]))', ''],
          { warn: 1, bad: 1 },
        ),
      ],
    },
    {
      title: 'Lag',
      panels: [
        chart('By topic', 'short', 'Records that are not processed yet.', [
          'sum by (messaging_consumer_group_name, messaging_destination_name) (payments_consumer_lag)',
          '{{messaging_consumer_group_name}}: {{messaging_destination_name}}',
        ]),
        chart('Partitions with the most lag', 'short', 'The five worst.', [
          'topk(5, max by (messaging_destination_name, partition) (payments_consumer_lag))',
          '{{messaging_destination_name}} {{partition}}',
        ]),
        chart('Projection', 'short', 'Records of the log that Postgres does not show yet, by partition.', [
          'max by (partition) (payments_projection_lag)',
          '{{partition}}',
        ]),
        chart('Archive', 's', 'How long the oldest event has waited that is not archived.', [
          'min(payments_archive_lag_seconds)',
          'archive',
        ]),
        chart('Archive of deliveries', 's', 'How old an ended delivery may be that is not archived.', [
          'min(payments_archive_deliveries_lag_seconds)',
          'archive',
        ]),
      ],
    },
    {
      title: 'Writers',
      panels: [
        chart(
          'Partitions owned',
          'short',
          'By process; the sum must be the number of partitions.',
          ['payments_partitions_owned', '{{instance}}'],
          ['sum(payments_partitions_owned)', 'all'],
        ),
        chart(
          'Clocks',
          's',
          'How far each process is ahead of a reference. Beyond 2 s it neither decides nor broadcasts.',
          ['payments_clock_offset_seconds', '{{service_name}} {{instance}} {{reference}}'],
          ['payments_clock_right == 0', 'unproven: {{service_name}} {{instance}}'],
        ),
        chart(
          'Event time ahead of the clock',
          's',
          'By partition. More than a few seconds only after a writer with a fast clock.',
          ['payments_partition_time_ahead_seconds', '{{partition}}'],
        ),
        chart(
          'Messages per batch',
          'short',
          'Messages decided together in one transaction: grows with load.',
          ...percentiles('payments_slice_size', ''),
        ),
        chart(
          'Deciding',
          's',
          'Time to load what a batch concerns and decide it.',
          ...percentiles('payments_decision_duration_seconds', ''),
        ),
        chart(
          'Kafka transactions',
          's',
          'Time to commit the events and the consumed offset.',
          ...percentiles('payments_transaction_duration_seconds', ''),
        ),
        chart(
          'Projecting',
          's',
          'Time to write a batch to Postgres.',
          ...percentiles('payments_projection_duration_seconds', ''),
        ),
        chart(
          'Failures',
          'ops',
          'After each failed transaction or projection the partition is reacquired.',
          [
            'sum(rate(payments_transaction_duration_seconds_count{outcome="failed"}[$__rate_interval]))',
            'transactions',
          ],
          ['sum(rate(payments_projection_duration_seconds_count{outcome="failed"}[$__rate_interval]))', 'projections'],
          ['sum(rate(payments_commands_late_total[$__rate_interval]))', 'late commands'],
          ['sum(rate(payments_hanging_transactions_total[$__rate_interval]))', 'hanging transactions'],
        ),
      ],
    },
    {
      title: 'Producing and consuming',
      panels: [
        chart('Records sent', 'ops', 'By topic.', [
          'sum by (messaging_destination_name) (rate(messaging_client_sent_messages_total[$__rate_interval]))',
          '{{messaging_destination_name}}',
        ]),
        chart('Records consumed', 'ops', 'By topic.', [
          `sum by (service_name, messaging_destination_name) (${consumed})`,
          '{{service_name}}: {{messaging_destination_name}}',
        ]),
        chart(
          'Produce requests',
          's',
          'Time until all in-sync replicas have the records.',
          ...percentiles('messaging_client_operation_duration_seconds', ''),
        ),
        chart('Produce errors', 'ops', 'By service and type.', [
          `sum by (service_name, error_type) (${failedSends})`,
          '{{service_name}} {{error_type}}',
        ]),
        chart(
          'Processing',
          's',
          'Time to process one fetched batch, by service.',
          ...percentiles('messaging_process_duration_seconds', '', 'service_name'),
        ),
        chart(
          'Replies to gateways',
          'ops',
          'By source: from the database when Redis is unavailable or delivered none.',
          ['sum by (source) (rate(payments_replies_total[$__rate_interval]))', '{{source}}'],
        ),
      ],
    },
  ],
};
