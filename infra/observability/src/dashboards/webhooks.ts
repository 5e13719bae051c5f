import { chart, figure, type Page, percentiles, stacked } from '../panels.ts';

/** Whether integrators hear of their payments. */
export const webhooks: Page = {
  uid: 'payments-webhooks',
  title: 'Payments / Webhooks',
  description: 'Whether integrators hear of their payments, and how soon.',
  byNetwork: false,
  rows: [
    {
      title: 'Now',
      panels: [
        figure(
          'Due',
          'short',
          'Deliveries whose time has come.',
          ['max(payments_deliveries_outstanding{status="due"})', ''],
          { warn: 500, bad: 5_000 },
        ),
        figure('Longest due', 's', 'Of those, since when.', ['max(payments_deliveries_due_age_seconds)', ''], {
          warn: 15,
          bad: 120,
        }),
        figure('Waiting', 'short', 'Failed, to be tried again at their time.', [
          'max(payments_deliveries_outstanding{status="waiting"})',
          '',
        ]),
        figure('Under way', 'short', 'Requests to receivers; at most 400 a process.', [
          'sum(payments_delivery_active)',
          '',
        ]),
      ],
    },
    {
      title: 'Timeliness',
      panels: [
        chart(
          'Event to first attempt',
          's',
          'Ours: the promise is 5 s.',
          ...percentiles('payments_delivery_first_attempt_delay_seconds', ''),
        ),
        chart(
          'Event to delivered',
          's',
          'With what receivers take and the attempts that failed.',
          ...percentiles('payments_delivery_delay_seconds', ''),
        ),
        chart('Due and waiting', 'short', 'Counted up to 10,000.', [
          'max by (status) (payments_deliveries_outstanding)',
          '{{status}}',
        ]),
      ],
    },
    {
      title: 'Attempts',
      panels: [
        stacked('Attempts', 'ops', 'By outcome. `failed`: that was the last. `gone`: the receiver wants no more.', [
          'sum by (outcome) (rate(payments_delivery_attempts_total[$__rate_interval]))',
          '{{outcome}}',
        ]),
        chart('Attempts that fail', 'percentunit', 'The share.', [
          'sum(rate(payments_delivery_attempts_total{outcome!="delivered"}[$__rate_interval])) / sum(rate(payments_delivery_attempts_total[$__rate_interval]))',
          'failing',
        ]),
        chart(
          'Receivers: latency',
          's',
          'Of one request; 15 s is its time-out.',
          ...percentiles('payments_delivery_duration_seconds', ''),
        ),
      ],
    },
    {
      title: 'From the log',
      panels: [
        chart('Events not read yet', 'short', 'Records of intent.events, over all partitions.', [
          'sum(payments_consumer_lag{messaging_consumer_group_name="webhook"})',
          'records',
        ]),
        chart('Events read', 'ops', 'Records.', [
          'sum(rate(messaging_client_consumed_messages_total{service_name="webhook"}[$__rate_interval]))',
          'records',
        ]),
        chart(
          'Writing the rows',
          's',
          'Of one batch of events.',
          ...percentiles('messaging_process_duration_seconds', 'service_name="webhook"'),
        ),
      ],
    },
  ],
};
