import { chart, stat, type DashboardSpec, percentiles } from '../panels.ts';

const NETWORK = 'network=~"$network"';
const SERVED_NETWORKS = 'count by (network) (payments_rpc_upstream_up{service_name="gateway"})';
const stepDurations = `rate(payments_watcher_step_duration_seconds_bucket{${NETWORK}}[$__rate_interval])`;
const requests = 'payments_rpc_request_duration_seconds_count';

/** What the watchers see of the chains, and through which upstreams. */
export const chains: DashboardSpec = {
  uid: 'payments-chains',
  title: 'Payments / Chains',
  description: 'What watchers see of the chains, how current that is, and the health of the RPC upstreams.',
  byNetwork: true,
  rows: [
    {
      title: 'Now',
      panels: [
        stat(
          'Unwatched networks',
          'short',
          'Networks that gateways serve and no watcher watches.',
          [`(count(${SERVED_NETWORKS} unless on (network) (payments_watcher_active == 1))) or vector(0)`, ''],
          { warn: 1, bad: 1 },
        ),
        stat(
          'Longest time since a step',
          's',
          'The network, or shard of one, whose watcher has gone longest without completing a step.',
          [`max(min by (network, shard) (payments_watcher_step_age_seconds{${NETWORK}}))`, ''],
          { warn: 15, bad: 60 },
        ),
        stat(
          'Stalest head',
          's',
          'Time since a chain’s head last advanced.',
          [`max(min by (network) (payments_watcher_head_age_seconds{${NETWORK}}))`, ''],
          { warn: 15, bad: 60 },
        ),
        stat(
          'Upstreams out of use',
          'short',
          'Upstreams whose circuit is open in at least one process.',
          [`(sum(min by (network, upstream) (1 - payments_rpc_upstream_up{${NETWORK}}))) or vector(0)`, ''],
          { warn: 1, bad: 3 },
        ),
      ],
    },
    {
      title: 'Watchers',
      panels: [
        chart('Blocks behind the head', 'short', 'By shard. Normally at most a few, except after downtime.', [
          `max by (network, shard) (payments_watcher_lag{${NETWORK}})`,
          '{{network}} {{shard}}',
        ]),
        chart('Age of the head', 's', 'Time since the head advanced: a sawtooth as high as the block time.', [
          `min by (network) (payments_watcher_head_age_seconds{${NETWORK}})`,
          '{{network}}',
        ]),
        chart('Time since the last step', 's', 'Grows while the watcher of a shard completes no step.', [
          `min by (network, shard) (payments_watcher_step_age_seconds{${NETWORK}})`,
          '{{network}} {{shard}}',
        ]),
        chart(
          'Transactions set aside',
          'short',
          'They could not be judged, and wait to be looked at again; and how many are given up. Normally 0.',
          [`max by (network, shard) (payments_watcher_set_aside{${NETWORK}})`, '{{network}} {{shard}}'],
          [
            `sum by (network) (increase(payments_watcher_given_up_total{${NETWORK}}[$__rate_interval]))`,
            '{{network}} given up',
          ],
        ),
        chart(
          'Final by one upstream only',
          'short',
          'For over a minute no second one shows them; and how many payments were disproved. Normally 0.',
          [`max by (network, shard) (payments_watcher_unshown{${NETWORK}})`, '{{network}} {{shard}}'],
          [
            `sum by (network) (increase(payments_watcher_disproved_total{${NETWORK}}[$__rate_interval]))`,
            '{{network}} disproved',
          ],
          [
            `sum by (network) (increase(payments_extras_disproved_total{${NETWORK}}[$__rate_interval]))`,
            '{{network}} extra payments disproved',
          ],
        ),
        chart(
          'Second reading stands still',
          's',
          'Blocks go on, and none is read a second time. Some minutes at most.',
          [`max by (network, shard) (payments_watcher_read_once_age_seconds{${NETWORK}})`, '{{network}} {{shard}}'],
        ),
        chart('Wallets compared with the ledger', 'short', 'What differs is logged. Normally 0.', [
          `sum by (network, outcome) (increase(payments_watcher_checks_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{outcome}}',
        ]),
        chart('Intents in memory', 'short', 'Of the process that holds most. Grows from 0 while a watcher loads.', [
          `max by (network) (payments_watcher_loaded{${NETWORK}})`,
          '{{network}}',
        ]),
        chart('Steps: latency p99', 's', 'One step is one scan of the chain; by outcome.', [
          `histogram_quantile(0.99, sum by (le, network, outcome) (${stepDurations}))`,
          '{{network}} {{outcome}}',
        ]),
        chart('Blocks per second', 'short', 'How fast the head advances.', [
          `max by (network) (rate(payments_watcher_head{${NETWORK}}[$__rate_interval]))`,
          '{{network}}',
        ]),
        chart('Shards', 'short', 'Into how many shards of recipients a network is split. 1: it is not.', [
          `max by (network) (payments_watcher_shards{${NETWORK}})`,
          '{{network}}',
        ]),
        chart('Intents watched', 'short', 'Open intents, and closed ones for 30 days.', [
          `sum by (network) (max by (network, shard) (payments_watcher_intents{${NETWORK}}))`,
          '{{network}}',
        ]),
      ],
    },
    {
      title: 'Observations and broadcasts',
      panels: [
        chart('Observations', 'ops', 'What watchers saw and sent to chain.observations, by type.', [
          `sum by (network, type) (rate(payments_observations_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{type}}',
        ]),
        chart('Broadcasts', 'ops', 'Transactions sent to a network. `unknown`: no upstream gave a clear response.', [
          `sum by (network, outcome) (rate(payments_broadcasts_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{outcome}}',
        ]),
        chart('Requests to sponsors', 'reqps', 'To the accounts’ own sponsors of fees, by outcome.', [
          `sum by (network, outcome) (rate(payments_sponsor_requests_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{outcome}}',
        ]),
      ],
    },
    {
      title: 'RPC upstreams',
      panels: [
        chart('In use', 'short', '1: in use. 0: its circuit is open, so it is asked last.', [
          `min by (network, upstream, service_name) (payments_rpc_upstream_up{${NETWORK}})`,
          '{{network}} {{upstream}} ({{service_name}})',
        ]),
        chart('Requests', 'reqps', 'HTTP requests; a batch counts as one.', [
          `sum by (network, upstream) (rate(${requests}{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{upstream}}',
        ]),
        chart('Errors', 'reqps', 'By type. `rpc` is a JSON-RPC error response.', [
          `sum by (network, upstream, error_type) (rate(${requests}{${NETWORK},error_type!=""}[$__rate_interval]))`,
          '{{network}} {{upstream}} {{error_type}}',
        ]),
        chart(
          'Latency',
          's',
          'Duration of HTTP requests.',
          ...percentiles('payments_rpc_request_duration_seconds', NETWORK, 'network'),
        ),
        chart('Calls per minute', 'short', 'JSON-RPC calls, including those in batches: what providers charge for.', [
          `sum by (network, upstream) (rate(payments_rpc_calls_total{${NETWORK}}[$__rate_interval])) * 60`,
          '{{network}} {{upstream}}',
        ]),
        chart('Calls by method', 'ops', 'JSON-RPC calls, by method.', [
          `sum by (network, rpc_method) (rate(payments_rpc_calls_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{rpc_method}}',
        ]),
        chart(
          'Credits per hour',
          'short',
          'What calls cost at list prices, of upstreams with a preset that has prices.',
          [
            `sum by (network, upstream) (rate(payments_rpc_credits_total{${NETWORK}}[$__rate_interval])) * 3600`,
            '{{network}} {{upstream}}',
          ],
        ),
        chart(
          'Waits',
          's',
          'Of requests that wait for their turn, by bucket: the plan has no calls left for them now.',
          ...percentiles('payments_rpc_wait_duration_seconds', NETWORK, 'bucket'),
        ),
      ],
    },
  ],
};
