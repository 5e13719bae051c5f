import { chart, stat, type DashboardSpec, percentiles, stacked } from '../panels.ts';

/** Whether webhooks reach the integrators. */
export const webhooks: DashboardSpec = {
  uid: 'payments-webhooks',
  title: 'Payments / Webhooks',
  description: 'Whether webhooks reach the integrators, and how soon.',
  byNetwork: false,
  rows: [
    {
      title: 'Now',
      panels: [
        stat(
          'Due',
          'short',
          'Deliveries whose next attempt is due.',
          ['max(payments_deliveries_outstanding{status="due"})', ''],
          { warn: 500, bad: 5_000 },
        ),
        stat(
          'Longest due',
          's',
          'How long the longest due delivery to a URL that does not fail has been due.',
          ['max(payments_deliveries_due_age_seconds)', ''],
          {
            warn: 15,
            bad: 120,
          },
        ),
        stat('Waiting', 'short', 'Deliveries that failed and wait for their next attempt.', [
          'max(payments_deliveries_outstanding{status="waiting"})',
          '',
        ]),
        stat('In progress', 'short', 'Requests to receivers; at most 1,200 per process.', [
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
          'Our part: the SLO is 5 s.',
          ...percentiles('payments_delivery_first_attempt_delay_seconds', ''),
        ),
        chart(
          'Event to delivered',
          's',
          'Including the receivers’ response times and failed attempts.',
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
        stacked('Attempts', 'ops', 'By result. `failed`: the last attempt failed. `gone`: the receiver returned 410.', [
          'sum by (outcome) (rate(payments_delivery_attempts_total[$__rate_interval]))',
          '{{outcome}}',
        ]),
        chart('Disabled URLs', 'short', 'URLs that were disabled in an hour, by reason.', [
          'sum by (reason) (increase(payments_endpoints_disabled_total[1h]))',
          '{{reason}}',
        ]),
        chart(
          'Repeated deliveries',
          'short',
          'Deliveries that replays made due again, those of missed events, and steps of both that failed, each second.',
          ['sum(rate(payments_deliveries_replayed_total[$__rate_interval]))', 'replayed'],
          ['sum(rate(payments_deliveries_caught_up_total[$__rate_interval]))', 'missed before'],
          ['sum(rate(payments_deliveries_failed_steps_total[$__rate_interval]))', 'failed steps'],
        ),
        chart(
          'Slots in use',
          'percentunit',
          'Of the fullest process. From three quarters on, accounts that have some wait for others.',
          [
            'max by (livemode, pace) (payments_delivery_slots_used / payments_delivery_slots_size)',
            'live {{livemode}}, {{pace}}',
          ],
        ),
        chart('URLs that wait for a slot', 'short', 'Those to which something could be sent now.', [
          'sum by (livemode, pace) (payments_delivery_slots_waiting)',
          'live {{livemode}}, {{pace}}',
        ]),
        chart('Failed attempts', 'percentunit', 'The share of attempts that were not delivered.', [
          [
            'sum(rate(payments_delivery_attempts_total{outcome!="delivered"}[$__rate_interval]))',
            '/ sum(rate(payments_delivery_attempts_total[$__rate_interval]))',
          ].join(' '),
          'failing',
        ]),
        chart(
          'Receivers: latency',
          's',
          'Duration of one request; it times out after 15 s.',
          ...percentiles('payments_delivery_duration_seconds', ''),
        ),
      ],
    },
    {
      title: 'From the log',
      panels: [
        chart('Unread events', 'short', 'Records of intent.events that are not read yet, over all partitions.', [
          'sum(payments_consumer_lag{messaging_consumer_group_name="webhook"})',
          'records',
        ]),
        chart('Events read', 'ops', 'Records of intent.events.', [
          'sum(rate(messaging_client_consumed_messages_total{service_name="webhook"}[$__rate_interval]))',
          'records',
        ]),
        chart(
          'Writing deliveries',
          's',
          'Time to write the deliveries of one batch of events.',
          ...percentiles('messaging_process_duration_seconds', 'service_name="webhook"'),
        ),
      ],
    },
  ],
};
