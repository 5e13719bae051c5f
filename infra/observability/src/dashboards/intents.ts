import { chart, stat, type DashboardSpec, percentiles, stacked } from '../panels.ts';

const NETWORK = 'network=~"$network"';
const UNEXPECTED_PAYMENTS = 'intent.extra_payment|intent.mismatched_payment|extra_payment_observed';
const events = (type: string, range: string): string =>
  `sum(increase(payments_intent_events_total{${NETWORK},type="${type}"}[${range}]))`;
const rate = (types: string): string =>
  `sum by (type) (rate(payments_intent_events_total{${NETWORK},type=~"${types}"}[$__rate_interval]))`;

/** The outcomes of intents. */
export const intents: DashboardSpec = {
  uid: 'payments-intents',
  title: 'Payments / Intents',
  description: 'Outcomes of payment intents: created, paid, confirmed, failed, expired.',
  byNetwork: true,
  rows: [
    {
      title: 'In the selected time range',
      panels: [
        stat('Created', 'short', 'Intents that were created.', [events('intent.created', '$__range'), '']),
        stat('Confirmed', 'short', 'Intents that were paid.', [events('intent.confirmed', '$__range'), '']),
        stat(
          'Failed',
          'short',
          'Transactions that landed and reverted, or settlements that a reorg undid for good.',
          [events('intent.failed', '$__range'), ''],
          { warn: 1, bad: 20 },
        ),
        stat('Expired', 'short', 'Intents that were not paid in time.', [events('intent.expired', '$__range'), '']),
        stat(
          'To be signed again',
          'short',
          'Transactions that were dropped: they can never land.',
          [events('intent.retry_required', '$__range'), ''],
          { warn: 1, bad: 20 },
        ),
        stat(
          'Extra or mismatched payments',
          'short',
          'Payments that no intent asked for.',
          [`sum(increase(payments_intent_events_total{${NETWORK},type=~"${UNEXPECTED_PAYMENTS}"}[$__range]))`, ''],
          { warn: 1, bad: 2 },
        ),
      ],
    },
    {
      title: 'Lifecycle',
      panels: [
        stacked('Events', 'ops', 'Public events, by type.', [rate('intent\\\\..*'), '{{type}}']),
        chart('Final events', 'ops', 'How intents end.', [
          rate('intent\\\\.(finalized|failed|expired|cancelled)'),
          '{{type}}',
        ]),
        chart(
          'On the way to the chain',
          'ops',
          'Built, prepared, broadcast. Released: refused by the upstream, or dropped.',
          [rate('transaction_built|submission_prepared|submission_released|intent\\\\.pending'), '{{type}}'],
        ),
        chart('Unwanted events', 'ops', 'Confirmations lost in reorgs, extra and mismatched payments.', [
          rate(`confirmation_lost|confirmation_restored|${UNEXPECTED_PAYMENTS}`),
          '{{type}}',
        ]),
      ],
    },
    {
      title: 'Durations',
      panels: [
        chart(
          'Submit to confirmed',
          's',
          'Time to confirm: the SLO is 5 s.',
          ...percentiles('payments_confirmation_duration_seconds', NETWORK, 'network'),
        ),
        chart(
          'Confirmed to finalized',
          's',
          'Determined by the chain.',
          ...percentiles('payments_finalization_duration_seconds', NETWORK, 'network'),
        ),
        chart(
          'Created to confirmed',
          's',
          'Mostly the time that payers take.',
          ...percentiles('payments_payment_duration_seconds', NETWORK, 'network'),
        ),
      ],
    },
    {
      title: 'Screening and streams',
      panels: [
        chart('Screening', 'ops', 'By verdict: `match` is refused with 422, `unavailable` with 503.', [
          'sum by (verdict) (rate(payments_screening_duration_seconds_count[$__rate_interval]))',
          '{{verdict}}',
        ]),
        chart(
          'Screening: latency',
          's',
          'For all wallets of one request.',
          ...percentiles('payments_screening_duration_seconds', 'service_name="gateway"'),
        ),
        chart(
          'Open streams',
          'short',
          'Event streams that clients follow.',
          ['sum(payments_streams_open)', 'streams'],
          ['sum(http_server_active_requests)', 'requests, including streams'],
        ),
      ],
    },
  ],
};
