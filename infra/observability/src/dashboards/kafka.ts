import { chart, figure, type Page, percentiles } from '../panels.ts';

/** The log: who writes, who reads, how far behind. */
export const kafka: Page = {
  uid: 'payments-kafka',
  title: 'Payments / Kafka',
  description: 'The log as the services see it: commands and observations in, decided in slices, committed, projected.',
  byNetwork: false,
  rows: [
    {
      title: 'Now',
      panels: [
        figure(
          'Partitions without writer',
          'short',
          'Of those that webhook services read.',
          [
            '(count(count by (partition) (payments_consumer_lag{messaging_consumer_group_name="webhook"}) unless on (partition) payments_projection_lag)) or vector(0)',
            '',
          ],
          { warn: 1, bad: 1 },
        ),
        figure(
          'Waiting to be decided',
          'short',
          'Commands and observations.',
          ['sum(payments_consumer_lag{messaging_consumer_group_name="intent"})', ''],
          { warn: 500, bad: 2_000 },
        ),
        figure('Not projected', 'short', 'The partition that is most behind.', ['max(payments_projection_lag)', ''], {
          warn: 100,
          bad: 1_000,
        }),
        figure(
          'Dead letters',
          'short',
          'In the chosen time. Always a fault of ours.',
          ['sum(increase(payments_dead_letters_total[$__range]))', ''],
          { warn: 1, bad: 1 },
        ),
        figure(
          'Alarms',
          'short',
          'In the chosen time: what a person has to look at.',
          ['sum(increase(payments_alarms_total[$__range]))', ''],
          { warn: 1, bad: 1 },
        ),
      ],
    },
    {
      title: 'Lag',
      panels: [
        chart('By topic', 'short', 'Records not worked off.', [
          'sum by (messaging_consumer_group_name, messaging_destination_name) (payments_consumer_lag)',
          '{{messaging_consumer_group_name}}: {{messaging_destination_name}}',
        ]),
        chart('Of the worst partitions', 'short', 'Five of each kind.', [
          'topk(5, max by (messaging_destination_name, partition) (payments_consumer_lag))',
          '{{messaging_destination_name}} {{partition}}',
        ]),
        chart('Projection', 'short', 'Records that Postgres does not show yet, by partition.', [
          'max by (partition) (payments_projection_lag)',
          '{{partition}}',
        ]),
      ],
    },
    {
      title: 'The writers',
      panels: [
        chart(
          'Partitions owned',
          'short',
          'By process; the sum is the number of partitions.',
          ['payments_partitions_owned', '{{instance}}'],
          ['sum(payments_partitions_owned)', 'all'],
        ),
        chart(
          'Messages a slice',
          'short',
          'Decided together in one transaction: grows with load.',
          ...percentiles('payments_slice_size', ''),
        ),
        chart(
          'Deciding',
          's',
          'Of a slice: reading what it is about, and deciding.',
          ...percentiles('payments_decision_duration_seconds', ''),
        ),
        chart(
          'Kafka transactions',
          's',
          'Events and consumed offset, committed.',
          ...percentiles('payments_transaction_duration_seconds', ''),
        ),
        chart(
          'Projecting',
          's',
          'A slice, written to Postgres.',
          ...percentiles('payments_projection_duration_seconds', ''),
        ),
        chart(
          'Failures',
          'ops',
          'After each the partition is taken over anew.',
          [
            'sum(rate(payments_transaction_duration_seconds_count{outcome="failed"}[$__rate_interval]))',
            'transactions',
          ],
          ['sum(rate(payments_projection_duration_seconds_count{outcome="failed"}[$__rate_interval]))', 'projections'],
          ['sum(rate(payments_commands_late_total[$__rate_interval]))', 'commands too late'],
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
          'sum by (service_name, messaging_destination_name) (rate(messaging_client_consumed_messages_total[$__rate_interval]))',
          '{{service_name}}: {{messaging_destination_name}}',
        ]),
        chart(
          'Produce requests',
          's',
          'Until all replicas in sync have them.',
          ...percentiles('messaging_client_operation_duration_seconds', ''),
        ),
        chart('Produce errors', 'ops', 'By service and kind.', [
          'sum by (service_name, error_type) (rate(messaging_client_operation_duration_seconds_count{error_type!=""}[$__rate_interval]))',
          '{{service_name}} {{error_type}}',
        ]),
        chart(
          'Batches',
          's',
          'Working off what was fetched.',
          ...percentiles('messaging_process_duration_seconds', '', 'service_name'),
        ),
        chart('Answers to gateways', 'ops', 'From the database where Redis is away or silent.', [
          'sum by (source) (rate(payments_replies_total[$__rate_interval]))',
          '{{source}}',
        ]),
      ],
    },
  ],
};
