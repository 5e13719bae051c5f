import { counter, gauge, histogram, type LabelsOf, level, type MetricKind, of, some, total } from './metric.ts';

/** Between hundreds of microseconds and seconds: one step of work inside. Seconds. */
const STEP = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** What a client waits for, as the semantic conventions have it for HTTP. Seconds. */
const REQUEST = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Blocks, networks and other people's servers. Seconds. */
const SETTLING = [0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 120, 300, 900];
/** People, and retries. Seconds. */
const PATIENCE = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 259_200];

const topic = of('intent.commands', 'chain.observations', 'intent.events', 'intent.dead');
const inputTopic = of('intent.commands', 'chain.observations');
/** Types of commands, events and observations are the domain's, which this package does not know. */
const domainType = (what: string, most: number) => some({ what, pattern: /^[a-z_.]{1,48}$/, most });
const network = some({
  what: 'the networks that are served (docs/internals/chains.md)',
  pattern: /^[a-z]+(-[a-z]+)?$/,
  most: 6,
});
const upstream = some({
  what: 'the hosts of the upstreams in the configuration',
  pattern: /^[\w.[\]:-]{1,128}$/,
  most: 60,
});
const partition = some({ what: 'the partitions of the topics', pattern: /^\d{1,3}$/, most: 256 });
const errorType = some({
  what: 'the class of the error, or its code; absent where there was none',
  pattern: /^[\w.-]{1,64}$/,
  most: 40,
}).optional();

/**
 * Every metric that our processes export: OpenTelemetry's semantic conventions where they have a name for it, else
 * `payments.*`. Units are UCUM. No label holds an id, an address or a URL: each is one of few values, listed here.
 * docs/reference/metrics.md is made of this table.
 */
export const METRICS = {
  'http.server.request.duration': histogram({
    services: ['gateway'],
    unit: 's',
    buckets: REQUEST,
    description:
      'From the head of a request to the end of its answer, by route: its count is the rate, its 5xx are the errors. Health probes are left out; a stream of events counts when it ends.',
    labels: {
      'http.request.method': some({
        what: 'methods that HTTP knows; others are `_OTHER`',
        pattern: /^([A-Z]{3,7}|_OTHER)$/,
        most: 10,
      }),
      'http.route': some({
        what: 'patterns of routes (`/v1/intents/{id}`); absent where no route was found',
        pattern: /^\/[\w/{}.*-]*$/,
        most: 24,
      }).optional(),
      'http.response.status_code': some({
        what: 'HTTP status codes; 499 where the client went before its answer',
        pattern: /^[1-5]\d\d$/,
        most: 30,
      }),
      'url.scheme': of('http'),
    },
  }),
  'http.server.active_requests': level({
    services: ['gateway'],
    unit: '{request}',
    description: 'Requests under way, open streams among them.',
    labels: { 'url.scheme': of('http') },
  }),
  'payments.command.duration': histogram({
    services: ['gateway'],
    unit: 's',
    buckets: REQUEST,
    description:
      'From sending a command to knowing what became of it: over Kafka, the writer, the projection and back. `unknown`: nobody told in time (503).',
    labels: {
      type: domainType('the types of commands (docs/reference/lifecycle.md)', 16),
      outcome: of('accepted', 'refused', 'dead', 'unknown'),
    },
  }),
  'payments.replies': counter({
    services: ['gateway'],
    unit: '{reply}',
    description: 'Outcomes of commands by the way they came. From the database where Redis is away or silent: slower.',
    labels: { source: of('redis', 'database') },
  }),
  'payments.screening.duration': histogram({
    services: ['gateway', 'watcher'],
    unit: 's',
    buckets: REQUEST,
    description: 'Screening the wallets of one request. `unavailable` is answered with 503.',
    labels: { verdict: of('clean', 'match', 'unavailable') },
  }),
  'payments.rate_limited': counter({
    services: ['gateway'],
    unit: '{request}',
    description: 'Requests refused with 429, by the quota that was used up.',
    labels: { policy: of('key', 'address') },
  }),
  'payments.streams.open': level({
    services: ['gateway'],
    unit: '{stream}',
    description: 'Streams of events that clients hold open.',
    labels: {},
  }),

  'payments.slice.size': histogram({
    services: ['intent'],
    unit: '{message}',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200],
    description: 'Messages decided together, in one transaction: grows with load.',
    labels: { 'messaging.destination.name': inputTopic },
  }),
  'payments.decision.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: STEP,
    description: 'Reading what a slice is about and deciding it.',
    labels: {},
  }),
  'payments.transaction.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: STEP,
    description:
      'One Kafka transaction: the events and the consumed offset, committed. After a failure the partition is taken over anew.',
    labels: { outcome: of('committed', 'failed') },
  }),
  'payments.projection.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: STEP,
    description: 'One slice written to Postgres.',
    labels: { outcome: of('projected', 'failed') },
  }),
  'payments.intent.events': counter({
    services: ['intent'],
    unit: '{event}',
    description:
      'Events appended to the ledger: intents by outcome (`intent.confirmed`, `intent.failed`, `intent.expired`, …), retries, reorganisations.',
    labels: {
      type: domainType('the types of events (docs/reference/lifecycle.md)', 32),
      network,
      livemode: of('true', 'false'),
    },
  }),
  'payments.confirmation.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: SETTLING,
    description:
      'Time to confirm: from the submit that was accepted to `intent.confirmed`, of payments submitted here. Simulated ones are left out.',
    labels: { network, livemode: of('true', 'false') },
  }),
  'payments.finalization.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: [...SETTLING, 1_800, 3_600],
    description: 'From `intent.confirmed` to `intent.finalized`. Simulated ones are left out.',
    labels: { network, livemode: of('true', 'false') },
  }),
  'payments.payment.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: PATIENCE,
    description: 'From `intent.created` to `intent.confirmed`: how long payers take. Simulated ones are left out.',
    labels: { network, livemode: of('true', 'false') },
  }),
  'payments.commands.late': counter({
    services: ['intent'],
    unit: '{command}',
    description:
      'Commands that were older than 8 s when their turn came: nobody waited for them any more, and they were not carried out.',
    labels: {},
  }),
  'payments.dead_letters': counter({
    services: ['intent'],
    unit: '{message}',
    description:
      'Messages put aside into `intent.dead`: they could not be read or not be decided. Always a fault of ours.',
    labels: { 'messaging.destination.name': inputTopic },
  }),
  'payments.partitions.owned': gauge({
    services: ['intent'],
    unit: '{partition}',
    description:
      'Partitions that this process writes. Over all processes the sum is the number of partitions: less for longer than a take-over means that some stand still.',
    labels: {},
  }),
  'payments.projection.lag': gauge({
    services: ['intent'],
    unit: '{record}',
    description:
      'Records of `intent.events` that the projection does not show yet, of the partitions owned here: 0 but for moments.',
    labels: { partition },
  }),
  'payments.consumer.lag': gauge({
    services: ['intent', 'webhook'],
    unit: '{record}',
    description:
      'Records of a topic that a service has not worked off yet, of the partitions this process has. `intent` reads commands and observations, `webhook` reads events. Looked up every 10 s; 1 while idle, where the end of a transaction lies behind the last event.',
    labels: {
      'messaging.consumer.group.name': some({ what: '`intent` or `webhook`', pattern: /^(intent|webhook)$/, most: 2 }),
      'messaging.destination.name': topic,
      partition,
    },
  }),

  'payments.watcher.active': gauge({
    services: ['watcher'],
    unit: '',
    description:
      '1 where this process watches the network, 0 where it stands by. Over all processes exactly one watches.',
    labels: { network },
  }),
  'payments.watcher.head': gauge({
    services: ['watcher'],
    unit: '{block}',
    description: 'The chain’s head as the upstreams tell it: block or slot.',
    labels: { network },
  }),
  'payments.watcher.lag': gauge({
    services: ['watcher'],
    unit: '{block}',
    description: 'Blocks between the head and what has been looked at: more than a few only after downtime.',
    labels: { network },
  }),
  'payments.watcher.head.age': gauge({
    services: ['watcher'],
    unit: 's',
    description: 'Since the head last rose: a chain, or all its upstreams, stand still.',
    labels: { network },
  }),
  'payments.watcher.step.age': gauge({
    services: ['watcher'],
    unit: 's',
    description:
      'Since the last step that was carried out: grows while nothing is seen of the chain, whatever the reason.',
    labels: { network },
  }),
  'payments.watcher.step.duration': histogram({
    services: ['watcher'],
    unit: 's',
    buckets: REQUEST,
    description: 'One look at the chain, up to its head.',
    labels: { network, outcome: of('done', 'failed') },
  }),
  'payments.watcher.intents': gauge({
    services: ['watcher'],
    unit: '{intent}',
    description: 'Intents that are watched: open ones, and closed ones for 30 days.',
    labels: { network },
  }),
  'payments.observations': counter({
    services: ['watcher'],
    unit: '{observation}',
    description:
      'What was seen on chain and sent to the ledger. Repeats after a restart or a rescan are counted again.',
    labels: { network, type: domainType('the types of observations (docs/reference/lifecycle.md)', 8) },
  }),
  'payments.broadcasts': counter({
    services: ['gateway', 'watcher'],
    unit: '{transaction}',
    description:
      'Signed transactions offered to a network, first by the gateway, again by the watcher. `unknown`: no upstream gave a clear answer.',
    labels: { network, outcome: of('taken', 'refused', 'unknown') },
  }),
  'payments.rpc.request.duration': histogram({
    services: ['gateway', 'watcher'],
    unit: 's',
    buckets: REQUEST,
    description: 'HTTP requests to RPC upstreams: count, errors and latency of each. A batch is one request.',
    labels: {
      network,
      upstream,
      'error.type': of('timeout', 'unreachable', 'throttled', 'http', 'malformed', 'rpc').optional(),
    },
  }),
  'payments.rpc.calls': counter({
    services: ['gateway', 'watcher'],
    unit: '{call}',
    description: 'JSON-RPC calls, those in batches too: what providers charge for.',
    labels: {
      network,
      upstream,
      'rpc.method': some({ what: 'the methods that our adapters call', pattern: /^[a-zA-Z_0-9]{1,48}$/, most: 40 }),
    },
  }),
  'payments.rpc.upstream.up': gauge({
    services: ['gateway', 'watcher'],
    unit: '',
    description:
      '1 while an upstream does well, 0 while it is asked last: it did not answer, its head lags behind the others’, or it serves another network. 1 until it is first asked.',
    labels: { network, upstream },
  }),

  'payments.delivery.attempts': counter({
    services: ['webhook'],
    unit: '{attempt}',
    description:
      'Attempts to deliver a webhook. `retried`: failed, another follows; `failed`: that was the last; `gone`: the URL answered 410 and is stopped.',
    labels: { outcome: of('delivered', 'retried', 'failed', 'gone') },
  }),
  'payments.delivery.duration': histogram({
    services: ['webhook'],
    unit: 's',
    buckets: [...REQUEST, 15],
    description: 'One request to a receiver; 15 s is its time-out.',
    labels: { outcome: of('delivered', 'retried', 'failed', 'gone') },
  }),
  'payments.delivery.first_attempt.delay': histogram({
    services: ['webhook'],
    unit: 's',
    buckets: PATIENCE,
    description: 'From the event to the first attempt at each URL: how timely we are, whatever receivers answer.',
    labels: {},
  }),
  'payments.delivery.delay': histogram({
    services: ['webhook'],
    unit: 's',
    buckets: PATIENCE,
    description: 'From the event to its delivery, failed attempts between included; of a replay by hand too.',
    labels: {},
  }),
  'payments.delivery.active': level({
    services: ['webhook'],
    unit: '{attempt}',
    description: 'Attempts under way, at most 400 a process and 8 a URL.',
    labels: {},
  }),
  'payments.deliveries.outstanding': gauge({
    services: ['webhook'],
    unit: '{delivery}',
    description:
      'Deliveries still to be made: `due` now, or `waiting` for their next attempt. Of the whole system, as every process tells it: take the maximum, not the sum. Looked up every 10 s; counted up to 10,000.',
    labels: { status: of('due', 'waiting') },
  }),
  'payments.deliveries.due.age': gauge({
    services: ['webhook'],
    unit: 's',
    description: 'How long the longest due delivery has been due. Of the whole system: take the maximum.',
    labels: {},
  }),

  'payments.alarms': counter({
    services: ['intent', 'watcher', 'webhook'],
    unit: '{alarm}',
    description:
      'What a person has to look at. `version_gap`: the log does not follow the projection, a partition stands still; `unreadable_event`: an event got no webhook; `sanctioned_payment`: money came from a listed wallet.',
    labels: { alarm: of('version_gap', 'unreadable_event', 'sanctioned_payment') },
  }),
  'payments.dependency.up': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: '',
    description:
      '1 where the part answered the last readiness probe, 0 where it did not. Tells nothing before the first probe.',
    labels: {
      dependency: some({
        what: '`database`, `kafka`, `redis`; `server` is 0 once a gateway has begun to leave',
        pattern: /^(database|kafka|redis|server)$/,
        most: 4,
      }),
    },
  }),
  'payments.build.info': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: '',
    description: 'Always 1: which version runs.',
    labels: { 'service.version': some({ what: 'versions', pattern: /^[\w.+-]{1,64}$/, most: 4 }) },
  }),

  'messaging.client.operation.duration': histogram({
    services: ['gateway', 'intent', 'watcher'],
    unit: 's',
    buckets: STEP,
    description:
      'Requests that produce to Kafka, each with all records that had queued, acknowledged by all replicas in sync.',
    labels: { 'messaging.system': of('kafka'), 'messaging.operation.name': of('send'), 'error.type': errorType },
  }),
  'messaging.client.sent.messages': counter({
    services: ['gateway', 'intent', 'watcher'],
    unit: '{message}',
    description: 'Records produced.',
    labels: {
      'messaging.system': of('kafka'),
      'messaging.operation.name': of('send'),
      'messaging.destination.name': topic,
    },
  }),
  'messaging.client.consumed.messages': counter({
    services: ['intent', 'webhook'],
    unit: '{message}',
    description: 'Records consumed by a group.',
    labels: {
      'messaging.system': of('kafka'),
      'messaging.operation.name': of('poll'),
      'messaging.destination.name': topic,
    },
  }),
  'messaging.process.duration': histogram({
    services: ['intent', 'webhook'],
    unit: 's',
    buckets: STEP,
    description:
      'Working off a batch of records: in the intent service a slice from its decision to its projection, in the webhook service writing the rows.',
    labels: {
      'messaging.system': of('kafka'),
      'messaging.operation.name': of('process'),
      'messaging.destination.name': topic,
      'error.type': errorType,
    },
  }),
  'db.client.operation.duration': histogram({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: 's',
    buckets: STEP,
    description: 'Statements to Postgres, with the wait for a connection.',
    labels: {
      'db.system.name': of('postgresql'),
      'db.operation.name': of('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'BEGIN', 'COMMIT', 'ROLLBACK', 'OTHER'),
      'error.type': errorType,
    },
  }),
  'db.client.connection.count': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: '{connection}',
    description: 'Connections to Postgres.',
    labels: { 'db.client.connection.state': of('idle', 'used') },
  }),
  'db.client.connection.pending_requests': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: '{request}',
    description:
      'Statements that wait for a connection: more than 0 for long means that there are too few, or that Postgres is slow.',
    labels: {},
  }),
  'process.memory.usage': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: 'By',
    description: 'Resident memory.',
    labels: {},
  }),
  'process.cpu.time': total({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: 's',
    description: 'CPU used since the start.',
    labels: { 'cpu.mode': of('user', 'system') },
  }),
  'nodejs.eventloop.delay.p99': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: 's',
    description: 'The 99th percentile of how late timers fired since the last look.',
    labels: {},
  }),
  'nodejs.eventloop.utilization': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: '1',
    description:
      'The share of time in which the event loop was busy since the last look: near 1 a process is at its limit.',
    labels: {},
  }),
} as const;

export type MetricName = keyof typeof METRICS;
type NamesOf<Kind extends MetricKind> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];
/** Those that are counted, raised and lowered, measured, and looked up. */
export type CounterName = NamesOf<'counter'>;
export type LevelName = NamesOf<'level'>;
export type HistogramName = NamesOf<'histogram'>;
export type GaugeName = NamesOf<'gauge' | 'total'>;
/** The labels of a metric: each with one of its values. */
export type MetricLabels<Name extends MetricName> = LabelsOf<(typeof METRICS)[Name]['labels']>;
