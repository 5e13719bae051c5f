import { chart, figure, type Page, percentiles, stacked } from '../panels.ts';

const NETWORK = 'network=~"$network"';
const events = (type: string, range: string): string =>
  `sum(increase(payments_intent_events_total{${NETWORK},type="${type}"}[${range}]))`;
const rate = (types: string): string =>
  `sum by (type) (rate(payments_intent_events_total{${NETWORK},type=~"${types}"}[$__rate_interval]))`;

/** What becomes of intents. */
export const intents: Page = {
  uid: 'payments-intents',
  title: 'Payments / Intents',
  description: 'What becomes of payment intents: created, paid, confirmed, or not.',
  byNetwork: true,
  rows: [
    {
      title: 'In the chosen time',
      panels: [
        figure('Created', 'short', 'Intents.', [events('intent.created', '$__range'), '']),
        figure('Confirmed', 'short', 'Intents that were paid.', [events('intent.confirmed', '$__range'), '']),
        figure(
          'Failed',
          'short',
          'Transactions that landed and reverted, or settlements that a reorganisation undid for good.',
          [events('intent.failed', '$__range'), ''],
          { warn: 1, bad: 20 },
        ),
        figure('Expired', 'short', 'Nobody paid in time.', [events('intent.expired', '$__range'), '']),
        figure(
          'To be signed again',
          'short',
          'Transactions that can never land.',
          [events('intent.retry_required', '$__range'), ''],
          { warn: 1, bad: 20 },
        ),
        figure(
          'Paid twice or wrongly',
          'short',
          'Money that no intent asked for so.',
          [
            `sum(increase(payments_intent_events_total{${NETWORK},type=~"extra_payment_observed|mismatched_payment_observed"}[$__range]))`,
            '',
          ],
          { warn: 1, bad: 2 },
        ),
      ],
    },
    {
      title: 'Lifecycle',
      panels: [
        stacked('Events', 'ops', 'Public events, by type.', [rate('intent\\\\..*'), '{{type}}']),
        chart('Endings', 'ops', 'How intents end.', [
          rate('intent\\\\.(finalized|failed|expired|cancelled)'),
          '{{type}}',
        ]),
        chart(
          'On the way to the chain',
          'ops',
          'Built, prepared, broadcast; released: refused by the node, or dropped.',
          [rate('transaction_built|submission_prepared|submission_released|intent\\\\.pending'), '{{type}}'],
        ),
        chart('What nobody wants to see', 'ops', 'Payments taken back by reorganisations, second and wrong payments.', [
          rate('confirmation_lost|confirmation_restored|extra_payment_observed|mismatched_payment_observed'),
          '{{type}}',
        ]),
      ],
    },
    {
      title: 'How long it takes',
      panels: [
        chart(
          'Submit to confirmed',
          's',
          'Time to confirm: the promise is 5 s.',
          ...percentiles('payments_confirmation_duration_seconds', NETWORK, 'network'),
        ),
        chart(
          'Confirmed to finalized',
          's',
          'The chain’s own time.',
          ...percentiles('payments_finalization_duration_seconds', NETWORK, 'network'),
        ),
        chart(
          'Created to confirmed',
          's',
          'How long payers take.',
          ...percentiles('payments_payment_duration_seconds', NETWORK, 'network'),
        ),
      ],
    },
    {
      title: 'Screening and streams',
      panels: [
        chart('Screening', 'ops', '`match` is refused with 422, `unavailable` with 503.', [
          'sum by (verdict) (rate(payments_screening_duration_seconds_count[$__rate_interval]))',
          '{{verdict}}',
        ]),
        chart(
          'Screening: latency',
          's',
          'Of one request’s wallets.',
          ...percentiles('payments_screening_duration_seconds', 'service_name="gateway"'),
        ),
        chart(
          'Streams open',
          'short',
          'Streams of events that clients follow.',
          ['sum(payments_streams_open)', 'streams'],
          ['sum(http_server_active_requests)', 'requests, streams among them'],
        ),
      ],
    },
  ],
};
