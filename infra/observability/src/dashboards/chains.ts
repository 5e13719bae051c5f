import { chart, figure, type Page, percentiles } from '../panels.ts';

const NETWORK = 'network=~"$network"';
const requests = 'payments_rpc_request_duration_seconds_count';

/** What is seen of the chains, and through whom. */
export const chains: Page = {
  uid: 'payments-chains',
  title: 'Payments / Chains',
  description: 'What watchers see of the chains, how up to date that is, and how the RPC upstreams do.',
  byNetwork: true,
  rows: [
    {
      title: 'Now',
      panels: [
        figure(
          'Networks nobody watches',
          'short',
          'Of those that gateways serve.',
          [
            '(count(count by (network) (payments_rpc_upstream_up{service_name="gateway"}) unless on (network) (payments_watcher_active == 1))) or vector(0)',
            '',
          ],
          { warn: 1, bad: 1 },
        ),
        figure(
          'Longest since a step',
          's',
          'Nothing was looked at since.',
          [`max(min by (network) (payments_watcher_step_age_seconds{${NETWORK}}))`, ''],
          { warn: 15, bad: 60 },
        ),
        figure(
          'Oldest head',
          's',
          'Since a chain’s head last rose.',
          [`max(min by (network) (payments_watcher_head_age_seconds{${NETWORK}}))`, ''],
          { warn: 15, bad: 60 },
        ),
        figure(
          'Upstreams out of use',
          'short',
          'Their circuits are open, somewhere.',
          [`(sum(min by (network, upstream) (1 - payments_rpc_upstream_up{${NETWORK}}))) or vector(0)`, ''],
          { warn: 1, bad: 3 },
        ),
      ],
    },
    {
      title: 'Watchers',
      panels: [
        chart('Blocks behind the head', 'short', 'More than a few only after downtime.', [
          `max by (network) (payments_watcher_lag{${NETWORK}})`,
          '{{network}}',
        ]),
        chart('Age of the head', 's', 'A saw whose teeth are the block time.', [
          `min by (network) (payments_watcher_head_age_seconds{${NETWORK}})`,
          '{{network}}',
        ]),
        chart('Since the last step', 's', 'Grows while nothing is seen.', [
          `min by (network) (payments_watcher_step_age_seconds{${NETWORK}})`,
          '{{network}}',
        ]),
        chart('Steps: latency p99', 's', 'One look at the chain, by outcome.', [
          `histogram_quantile(0.99, sum by (le, network, outcome) (rate(payments_watcher_step_duration_seconds_bucket{${NETWORK}}[$__rate_interval])))`,
          '{{network}} {{outcome}}',
        ]),
        chart('Blocks a second', 'short', 'How fast the head rises.', [
          `max by (network) (rate(payments_watcher_head{${NETWORK}}[$__rate_interval]))`,
          '{{network}}',
        ]),
        chart('Intents watched', 'short', 'Open ones, and closed ones for 30 days.', [
          `max by (network) (payments_watcher_intents{${NETWORK}})`,
          '{{network}}',
        ]),
      ],
    },
    {
      title: 'Seen and sent',
      panels: [
        chart('Observations', 'ops', 'What was seen and sent to the ledger.', [
          `sum by (network, type) (rate(payments_observations_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{type}}',
        ]),
        chart('Broadcasts', 'ops', 'Transactions offered to a network. `unknown`: no upstream gave a clear answer.', [
          `sum by (network, outcome) (rate(payments_broadcasts_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{outcome}}',
        ]),
      ],
    },
    {
      title: 'RPC upstreams',
      panels: [
        chart('In use', 'short', '1: asked first. 0: its circuit is open.', [
          `min by (network, upstream, service_name) (payments_rpc_upstream_up{${NETWORK}})`,
          '{{network}} {{upstream}} ({{service_name}})',
        ]),
        chart('Requests', 'reqps', 'HTTP requests; a batch is one.', [
          `sum by (network, upstream) (rate(${requests}{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{upstream}}',
        ]),
        chart('Errors', 'reqps', 'By kind. `rpc` is an answer that says no.', [
          `sum by (network, upstream, error_type) (rate(${requests}{${NETWORK},error_type!=""}[$__rate_interval]))`,
          '{{network}} {{upstream}} {{error_type}}',
        ]),
        chart(
          'Latency',
          's',
          'Of HTTP requests.',
          ...percentiles('payments_rpc_request_duration_seconds', NETWORK, 'network'),
        ),
        chart('Calls a minute', 'short', 'JSON-RPC calls, those in batches too: what providers charge for.', [
          `sum by (network, upstream) (rate(payments_rpc_calls_total{${NETWORK}}[$__rate_interval])) * 60`,
          '{{network}} {{upstream}}',
        ]),
        chart('Calls by method', 'ops', 'Which.', [
          `sum by (network, rpc_method) (rate(payments_rpc_calls_total{${NETWORK}}[$__rate_interval]))`,
          '{{network}} {{rpc_method}}',
        ]),
      ],
    },
  ],
};
