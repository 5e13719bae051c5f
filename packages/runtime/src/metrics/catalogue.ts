import { counter, gauge, histogram, type LabelsOf, level, type MetricKind, of, some, total } from './metric.ts';

/** Seconds: one internal step of work, from hundreds of microseconds up. */
const STEP = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Seconds: requests that a client waits for, as in the semantic conventions for HTTP. */
const REQUEST = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Seconds: blocks, and time on a network. */
const SETTLING = [0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 120, 300, 900];
/** Seconds: payers, and retries. */
const PATIENCE = [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 259_200];

const topic = of('intent.commands', 'chain.observations', 'intent.events', 'intent.dead');
const inputTopic = of('intent.commands', 'chain.observations');
/** The types of commands, events and observations belong to the domain, which this package does not import. */
const domainType = (what: string, most: number) => some({ what, pattern: /^[a-z_.]{1,48}$/, most });
const network = some({
  what: 'the networks served, see docs/internals/chains.md',
  pattern: /^[a-z]+(-[a-z0-9]+)*$/,
  most: 32,
});
const shard = some({
  what: 'a shard of the network’s recipients, and their number: `1/1` where it is not split',
  pattern: /^\d{1,2}\/\d{1,2}$/,
  most: 16,
});
const upstream = some({
  what: 'the hosts of the configured upstreams',
  pattern: /^[\w.[\]:-]{1,128}$/,
  most: 60,
});
const partition = some({ what: 'the partitions of the topics', pattern: /^\d{1,3}$/, most: 256 });
const errorType = some({
  what: 'the code or the class of the error; absent on success',
  pattern: /^[\w.-]{1,64}$/,
  most: 40,
}).optional();

/** A description that takes several lines of code and is one line of text. */
const lines = (...parts: readonly string[]): string => parts.join(' ');

/** Of late payments: LatePayments says which. */
const late = of('alone').optional();
const LATE_ALONE = lines(
  'Simulated ones are left out. `late`: only for a late payment where the late one before it on the network was of',
  'the same account or payer, or none was: one that sets low fees can make as many as it likes.',
);

/**
 * Every metric that the services export, named by OpenTelemetry's semantic conventions if they have a name for it, else
 * `payments.*`. Units are UCUM. No label holds an id, an address or a URL: each has few values, listed here.
 * docs/reference/metrics.md is generated from this table.
 */
export const METRICS = {
  'http.server.request.duration': histogram({
    services: ['gateway', 'dashboard', 'checkout'],
    unit: 's',
    buckets: REQUEST,
    description: lines(
      'From the head of a request to the end of its response, by route: its count is the request rate,',
      'its 5xx the errors. Health probes are left out; a stream of events counts when it ends. `caused_by`: only for a',
      '5xx that the caller has caused, with a sponsor that hangs or the hash of no transaction.',
    ),
    labels: {
      'http.request.method': some({
        what: 'HTTP methods; unknown ones are `_OTHER`',
        pattern: /^([A-Z]{3,7}|_OTHER)$/,
        most: 10,
      }),
      'http.route': some({
        what: 'route patterns such as `/v1/intents/{id}`; absent if no route matched',
        pattern: /^\/[\w/{}.*-]*$/,
        most: 64,
      }).optional(),
      'http.response.status_code': some({
        what: 'HTTP status codes; 499 if the client disconnected before its response',
        pattern: /^[1-5]\d\d$/,
        most: 30,
      }),
      'url.scheme': of('http'),
      caused_by: of('caller').optional(),
    },
  }),
  'http.server.active_requests': level({
    services: ['gateway', 'dashboard', 'checkout'],
    unit: '{request}',
    description: 'Requests under way, including open streams.',
    labels: { 'url.scheme': of('http') },
  }),
  'payments.command.duration': histogram({
    services: ['gateway'],
    unit: 's',
    buckets: REQUEST,
    description: lines(
      'From sending a command to learning its outcome: over Kafka, the writer, the projection and back.',
      '`unknown`: the outcome was not known in time (503).',
    ),
    labels: {
      type: domainType('the types of commands, see docs/reference/lifecycle.md', 18),
      outcome: of('accepted', 'refused', 'dead', 'unknown'),
    },
  }),
  'payments.replies': counter({
    services: ['gateway'],
    unit: '{reply}',
    description: lines(
      'Outcomes of commands, by source. While Redis is unavailable or silent they are read from the database,',
      'more slowly.',
    ),
    labels: { source: of('redis', 'database') },
  }),
  'payments.screening.duration': histogram({
    services: ['gateway', 'watcher'],
    unit: 's',
    buckets: REQUEST,
    description: lines(
      'Screening the wallets of one request. `unavailable` leads to a 503. `limited` leads to a 429: the account, or',
      'test mode, had too many wallets screened at once.',
    ),
    labels: { verdict: of('clean', 'match', 'limited', 'unavailable') },
  }),
  'payments.rate_limited': counter({
    services: ['gateway', 'dashboard', 'checkout'],
    unit: '{request}',
    description: lines(
      'Requests refused with 429, by the quota that was used up. `person`: of a person who uses the payment API in the',
      'dashboard. `commands`: too many commands of the account, or of test mode, were under way in one partition.',
      '`stranger`: an address without a valid key. `streams`: too many event streams were open. `connections`: too',
      'many connections were open, and an idle one was closed, or a new one without a response. `unread`: a response',
      'was broken off of which its client took nothing for too long, or because too much was unread. `readings`: too',
      'many requests of the key or address read at a time. `transactions`: too many queries of Postgres of the',
      'account or of its payers, or changes of the payment link, waited for their turn.',
      '`address`: also what it has under way, and any requests of it to the page on which people pay.',
      '`dashboard`: sign-ins, mails and other attempts of people, and what they have under way.',
      '`screening`: too many new wallets of the account, or of test mode, were being screened.',
      '`merchant`: the payers of one merchant had half of what a checkout process has under way.',
      '`creates`, `changes`: the account created or changed too many payment intents today.',
      '`submits`, `looks`, `tests`: too much was submitted to an intent, too many hashes that no node shows were',
      'looked for, too many test events were sent or waited for. `endpoints`: too many webhook endpoints were created.',
      '`account`: all its keys in the mode together.',
      '`chain`: the account asked the chains for too much, of all its intents.',
    ),
    labels: {
      policy: of(
        'key',
        'account',
        'address',
        'intent',
        'link',
        'builds',
        'submits',
        'looks',
        'chain',
        'creates',
        'changes',
        'tests',
        'endpoints',
        'retries',
        'replays',
        'person',
        'commands',
        'transactions',
        'stranger',
        'streams',
        'connections',
        'readings',
        'unread',
        'dashboard',
        'screening',
        'merchant',
      ),
    },
  }),
  'payments.request_records': counter({
    services: ['gateway'],
    unit: '{request}',
    description: lines(
      'Records of authenticated requests, for the request log of their account. `dropped`: Postgres was slow or',
      'unavailable; `omitted`: their account made more requests than are recorded. The requests were served.',
    ),
    labels: { outcome: of('written', 'dropped', 'omitted') },
  }),
  'payments.sign_ins': counter({
    services: ['dashboard'],
    unit: '{attempt}',
    description: lines(
      'Sign-ins of people, by outcome. `refused`: a wrong password, code or passkey, an unconfirmed address, or a',
      'sign-in that the identity provider did not complete;',
      '`second_factor`: the password or the identity was right, and a code is needed.',
    ),
    labels: { outcome: of('signed_in', 'second_factor', 'refused') },
  }),
  'payments.mails': counter({
    services: ['dashboard'],
    unit: '{mail}',
    description: 'Mails to people: links and invitations. `failed`: given up after three tries.',
    labels: { outcome: of('sent', 'failed') },
  }),
  'payments.streams.open': level({
    services: ['gateway'],
    unit: '{stream}',
    description: 'Event streams that clients hold open.',
    labels: {},
  }),

  'payments.slice.size': histogram({
    services: ['intent'],
    unit: '{message}',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200],
    description: 'Messages decided together, in one transaction (a batch): grows with load.',
    labels: { 'messaging.destination.name': inputTopic },
  }),
  'payments.decision.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: STEP,
    description: 'Loading what a batch needs and deciding it.',
    labels: {},
  }),
  'payments.transaction.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: STEP,
    description: lines(
      'One Kafka transaction: the events and the consumed offset, committed.',
      'After a failure the writer reacquires the partition.',
    ),
    labels: { outcome: of('committed', 'failed') },
  }),
  'payments.projection.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: STEP,
    description: 'Writing one batch to Postgres.',
    labels: { outcome: of('projected', 'failed') },
  }),
  'payments.intent.events': counter({
    services: ['intent'],
    unit: '{event}',
    description: lines(
      'Events appended to the event log: how intents end (`intent.confirmed`, `intent.failed`, `intent.expired`, …),',
      'retries, reorgs.',
    ),
    labels: {
      type: domainType('the types of events, see docs/reference/lifecycle.md', 32),
      network,
      livemode: of('true', 'false'),
    },
  }),
  'payments.confirmation.duration': histogram({
    services: ['intent'],
    unit: 's',
    buckets: SETTLING,
    description: lines(
      'Time to confirm: from an accepted submit to `intent.confirmed`, for payments submitted through the API.',
      LATE_ALONE,
    ),
    labels: { network, livemode: of('true', 'false'), late },
  }),
  'payments.payer.wait.duration': histogram({
    services: ['gateway'],
    unit: 's',
    buckets: SETTLING,
    description: lines(
      'What a payer waits for: from an accepted submit to `intent.confirmed` on a stream of theirs that was open then.',
      LATE_ALONE,
    ),
    labels: { network, livemode: of('true', 'false'), late },
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
      'Commands older than 8 s when their turn came: their requests had timed out, so they were not carried out.',
    labels: {},
  }),
  'payments.dead_letters': counter({
    services: ['intent'],
    unit: '{message}',
    description: 'Messages sent to `intent.dead`: they could not be parsed or decided. Always a fault of this system.',
    labels: { 'messaging.destination.name': inputTopic },
  }),
  'payments.partitions.owned': gauge({
    services: ['intent'],
    unit: '{partition}',
    description: lines(
      'Partitions that this process owns. The sum over all processes is the number of partitions:',
      'if it is lower for longer than a takeover takes, some partitions make no progress.',
    ),
    labels: {},
  }),
  'payments.projection.lag': gauge({
    services: ['intent'],
    unit: '{record}',
    description: lines(
      'Records of `intent.events` that the projection does not show yet, for the partitions owned here:',
      '0 except for moments.',
    ),
    labels: { partition },
  }),
  'payments.consumer.lag': gauge({
    services: ['intent', 'webhook'],
    unit: '{record}',
    description: lines(
      'Records of a topic that a service has not processed yet, for the partitions of this process.',
      '`intent` reads commands and observations, `webhook` reads events. Measured every 10 s;',
      '1 while idle if the end of a transaction follows the last event.',
    ),
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
      '1 if this process watches the network, 0 if it is on standby. Exactly one process watches each shard of it.',
    labels: { network, shard },
  }),
  'payments.watcher.shards': gauge({
    services: ['watcher'],
    unit: '{shard}',
    description: 'Into how many shards the network’s recipients are split: each needs a process that watches it.',
    labels: { network },
  }),
  'payments.watcher.head': gauge({
    services: ['watcher'],
    unit: '{block}',
    description: 'The chain’s head as the upstreams report it: block or slot.',
    labels: { network, shard },
  }),
  'payments.watcher.lag': gauge({
    services: ['watcher'],
    unit: '{block}',
    description: 'Blocks between the head and the last block scanned: more than a few only after downtime.',
    labels: { network, shard },
  }),
  'payments.watcher.head.age': gauge({
    services: ['watcher'],
    unit: 's',
    description: 'Time since the head last rose: grows while a chain, or all its upstreams, make no progress.',
    labels: { network, shard },
  }),
  'payments.watcher.step.age': gauge({
    services: ['watcher'],
    unit: 's',
    description:
      'Time since the last completed step: grows while the watcher sees nothing of the chain, whatever the reason.',
    labels: { network, shard },
  }),
  'payments.watcher.step.duration': histogram({
    services: ['watcher'],
    unit: 's',
    buckets: REQUEST,
    description: 'One scan of the chain, up to its head.',
    labels: { network, outcome: of('done', 'failed') },
  }),
  'payments.watcher.set_aside': gauge({
    services: ['watcher'],
    unit: '{transaction}',
    description: lines(
      'Transactions that could not be judged, and wait to be looked at again: too large, of an unknown form, or an',
      'upstream lacked what was needed, or lists them and returns none for five minutes. Each is given up after 24 h.',
    ),
    labels: { network, shard },
  }),
  'payments.watcher.given_up': counter({
    services: ['watcher'],
    unit: '{transaction}',
    description: lines(
      'Transactions that are looked at no more, without a judgement: for 24 h in vain, or others of the same account,',
      'of more worth, had their places. The log names each; what one of them paid is not known.',
    ),
    labels: { network },
  }),
  'payments.extras.disproved': counter({
    services: ['intent'],
    unit: '{payment}',
    description: lines(
      'Extra payments that were told of, and that a trace has shown later to carry the reference of another intent.',
      'The log names each, once for each process.',
    ),
    labels: { network },
  }),
  'payments.watcher.disproved': counter({
    services: ['watcher'],
    unit: '{payment}',
    description: lines(
      'Payments that have settled an intent, and that a trace has shown later to carry the reference of another one.',
      'The log names each. The intent stays as it is: `pf audit settlements` reads them again.',
    ),
    labels: { network },
  }),
  'payments.watcher.unshown': gauge({
    services: ['watcher'],
    unit: '{payment}',
    description: lines(
      'Payments and deposits that are final by one upstream, and that no second one has shown for over a minute: it is',
      'down, excluded or lacks them, or the first one has made them up. They stay confirmed until then.',
    ),
    labels: { network, shard },
  }),
  'payments.watcher.read_once.age': gauge({
    services: ['watcher'],
    unit: 's',
    description: lines(
      'Time since when there are further blocks, and none is read a second time: where that waits for a second',
      'upstream, or where the one that is asked first shows blocks of its own or stands still. Networks of EVM only.',
    ),
    labels: { network, shard },
  }),
  'payments.watcher.checks': counter({
    services: ['watcher'],
    unit: '{wallet}',
    description: lines(
      'Wallets of which up to half an hour was compared, by the chain alone, with what the ledger tells. What differs',
      'three times is logged with its transactions. Of too many of them, or of accounts that name it, one is skipped.',
    ),
    labels: { network, outcome: of('same', 'differs', 'failed', 'skipped') },
  }),
  'payments.watcher.intents': gauge({
    services: ['watcher'],
    unit: '{intent}',
    description: 'Intents that are watched: open ones, and closed ones for 30 days.',
    labels: { network, shard },
  }),
  'payments.watcher.loaded': gauge({
    services: ['watcher'],
    unit: '{intent}',
    description: 'Intents that this process knows, on standby too. Grows from 0 while it loads them.',
    labels: { network, shard },
  }),
  'payments.observations': counter({
    services: ['watcher'],
    unit: '{observation}',
    description: 'Observations sent to the event log’s writer. Repeats after a restart or a rescan are counted again.',
    labels: { network, type: domainType('the types of observations, see docs/reference/lifecycle.md', 8) },
  }),
  'payments.broadcasts': counter({
    services: ['gateway', 'watcher'],
    unit: '{transaction}',
    description: lines(
      'Signed transactions broadcast to a network, first by the gateway, again by the watcher.',
      '`unknown`: no upstream gave a clear response.',
    ),
    labels: { network, outcome: of('taken', 'refused', 'unknown') },
  }),
  'payments.sponsor.requests': counter({
    services: ['gateway'],
    unit: '{request}',
    description: lines(
      'Requests to sponsors of accounts, for who pays a fee or for a signature. `refused`: also where it returned',
      'something else than was asked for. `unavailable`: it did not respond in time, or has too many under way.',
    ),
    labels: { network, outcome: of('answered', 'refused', 'unavailable') },
  }),
  'payments.rpc.request.duration': histogram({
    services: ['gateway', 'watcher'],
    unit: 's',
    buckets: REQUEST,
    description: lines(
      'HTTP requests to RPC upstreams: count, errors and latency of each. A batch is one request.',
      '`late`: a step waited for a moment only, and reads it beside the steps; that is no failure of the upstream.',
    ),
    labels: {
      network,
      upstream,
      'error.type': of(
        'timeout',
        'late',
        'unreachable',
        'throttled',
        'http',
        'malformed',
        'unsupported',
        'rpc',
      ).optional(),
    },
  }),
  'payments.rpc.calls': counter({
    services: ['gateway', 'watcher'],
    unit: '{call}',
    description: 'JSON-RPC calls, including those in batches: what providers charge for.',
    labels: {
      network,
      upstream,
      'rpc.method': some({
        what: 'the methods that the chain adapters call',
        pattern: /^[a-zA-Z_0-9]{1,48}$/,
        most: 40,
      }),
    },
  }),
  'payments.rpc.credits': counter({
    services: ['gateway', 'watcher'],
    unit: '{credit}',
    description: lines(
      'What the calls cost at list prices, in the credits of each provider: of upstreams with a preset that has',
      'prices.',
      'Calls that were refused count, too, though some providers do not charge for them.',
    ),
    labels: { network, upstream },
  }),
  'payments.rpc.wait.duration': histogram({
    services: ['gateway', 'watcher'],
    unit: 's',
    buckets: REQUEST,
    description: lines(
      'Waits of requests to RPC upstreams for their turn, by bucket: until the plan has calls for them, or for the',
      'end of a pause that the upstream asked for. Requests that need not wait are left out.',
    ),
    labels: { network, upstream, bucket: of('reads', 'sends') },
  }),
  'payments.rpc.upstream.up': gauge({
    services: ['gateway', 'watcher'],
    unit: '',
    description: lines(
      '1 while an upstream is healthy, 0 while it is asked last: it did not respond, its head lags behind the others’,',
      'or it serves another network. 1 until its first request.',
    ),
    labels: { network, upstream },
  }),

  'payments.delivery.attempts': counter({
    services: ['webhook'],
    unit: '{attempt}',
    description: lines(
      'Attempts to deliver a webhook. `retried`: failed, and another follows; `failed`: the last one failed;',
      '`gone`: the URL returned 410 and gets no more deliveries.',
    ),
    labels: { outcome: of('delivered', 'retried', 'failed', 'gone') },
  }),
  'payments.delivery.duration': histogram({
    services: ['webhook'],
    unit: 's',
    buckets: [...REQUEST, 15],
    description: 'One request to a receiver; it times out after 15 s.',
    labels: { outcome: of('delivered', 'retried', 'failed', 'gone') },
  }),
  'payments.delivery.first_attempt.delay': histogram({
    services: ['webhook'],
    unit: 's',
    buckets: PATIENCE,
    description: lines(
      'From the event to the first attempt at each URL: how timely the service is, whatever receivers respond. Without',
      'the time for which the delivery waited for its own account: for a URL that is paused, fails or has its most',
      'attempts under way, or for the event before. What an account has sent again is not counted.',
    ),
    labels: {},
  }),
  'payments.delivery.delay': histogram({
    services: ['webhook'],
    unit: 's',
    buckets: PATIENCE,
    description: 'From the event to its delivery, including failed attempts and retries by the account.',
    labels: {},
  }),
  'payments.delivery.active': level({
    services: ['webhook'],
    unit: '{attempt}',
    description:
      'Attempts under way in a process: at most 600 to quick URLs, 300 to slow ones and 300 to those that fail.',
    labels: {},
  }),
  'payments.delivery.slots.used': gauge({
    services: ['webhook'],
    unit: '{attempt}',
    description: lines(
      'Attempts under way in slots of a process. Live and test mode have their own, and of each the URLs that are',
      'quick, slow and failing. Late attempts to quick URLs that found no slot among the slow ones have none.',
    ),
    labels: { livemode: of('true', 'false'), pace: of('quick', 'slow', 'failing') },
  }),
  'payments.delivery.slots.waiting': gauge({
    services: ['webhook'],
    unit: '{endpoint}',
    description: lines(
      'Webhook URLs to which a process could send something now, and for which it has no slot: all are used, or the',
      'rest is kept for accounts that have none. What waits for its own URL or account is not counted.',
    ),
    labels: { livemode: of('true', 'false'), pace: of('quick', 'slow', 'failing') },
  }),
  'payments.delivery.slots.size': gauge({
    services: ['webhook'],
    unit: '{attempt}',
    description: 'The slots of a process. A quarter is kept for accounts that have none.',
    labels: { livemode: of('true', 'false'), pace: of('quick', 'slow', 'failing') },
  }),
  'payments.endpoints.disabled': counter({
    services: ['webhook'],
    unit: '{endpoint}',
    description: 'Webhook URLs that were disabled: `gone`: it returned 410; `failing`: it accepted nothing for 5 days.',
    labels: { reason: of('gone', 'failing') },
  }),
  'payments.deliveries.replayed': counter({
    services: ['webhook'],
    unit: '{delivery}',
    description: 'Deliveries that replays have made due again, or for another URL.',
    labels: {},
  }),
  'payments.deliveries.caught_up': counter({
    services: ['webhook'],
    unit: '{delivery}',
    description: 'Deliveries of events that an endpoint had missed, because its account had too much undelivered.',
    labels: {},
  }),
  'payments.deliveries.failed_steps': counter({
    services: ['webhook'],
    unit: '{step}',
    description: lines(
      'Steps of replays, or of catch-ups of endpoints that were behind, that failed and are tried again, after ten',
      'minutes at the most.',
    ),
    labels: { of: of('replay', 'catch_up') },
  }),
  'payments.deliveries.outstanding': gauge({
    services: ['webhook'],
    unit: '{delivery}',
    description: lines(
      'Deliveries that are `due` now or `waiting` for their next attempt. Every process reports the whole system:',
      'take the maximum, not the sum. Measured every 10 s; counted up to 10,000.',
    ),
    labels: { status: of('due', 'waiting') },
  }),
  'payments.deliveries.due.age': gauge({
    services: ['webhook'],
    unit: 's',
    description: lines(
      'How long the oldest delivery has been due to a URL that neither fails nor is paused, and that no process is',
      'sending to, in the whole system: take the maximum.',
    ),
    labels: {},
  }),

  'payments.clock.offset': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: 's',
    description: lines(
      'How far the clock of this process is ahead of a reference, negative where it is behind: the middle of what the',
      'last measurement allows. Measured every 10 s. Beyond 2 s `intent` and `watcher` neither decide nor broadcast.',
    ),
    labels: { reference: of('kafka', 'postgres') },
  }),
  'payments.clock.right': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook'],
    unit: '',
    description: lines(
      '1 while the clock of this process is proven to be within 2 s of every reference; 0 while it is wrong,',
      'or cannot be compared because Kafka or Postgres is unavailable.',
    ),
    labels: {},
  }),
  'payments.partition.time.ahead': gauge({
    services: ['intent'],
    unit: 's',
    description: lines(
      'How far the event time of an owned partition was ahead of the clock at its last batch: more than a few seconds',
      'only after a writer with a fast clock. Its event time stands still until the clock has caught up.',
    ),
    labels: { partition },
  }),
  'payments.archive.lag': gauge({
    services: ['archive'],
    unit: 's',
    description: lines(
      'How long the oldest event that is not archived has waited: since it was appended to the log, or since the log',
      'could last be followed.',
    ),
    labels: {},
  }),
  'payments.archive.deliveries_lag': gauge({
    services: ['archive'],
    unit: 's',
    description: lines(
      'How long ago the time was before which every ended delivery is archived; at first, the start. Twice the pause',
      'between two rounds is usual.',
    ),
    labels: {},
  }),
  'payments.alarms': counter({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'archive'],
    unit: '{alarm}',
    description: lines(
      'Conditions that need a person. `version_gap`: the log does not follow the projection, so a partition makes',
      'no progress; `repeated_version`: the log has a version of an intent twice, with the same effect; `broken_log`:',
      'a watcher found a repeated version, a log that ends before what was read of it, or an unreadable record;',
      '`unreadable_event`: an event got no webhook; `unreadable_secret`: the webhooks of an account cannot be signed;',
      '`held_intent`: newer code changed an intent, and its commands are refused;',
      '`sanctioned_payment`: a listed wallet sent money;',
      '`wrong_clock`: a process is more than 2 s from Kafka or Postgres; `hanging_transaction`: a transaction of the',
      'log has neither ended nor a known outcome, so a partition stands; `archive_diverged`: the log does not go on',
      'where the archive ends; `archive_damaged`: a file of the archive is not what its manifest says.',
    ),
    labels: {
      alarm: of(
        'version_gap',
        'repeated_version',
        'broken_log',
        'unreadable_event',
        'unreadable_secret',
        'held_intent',
        'sanctioned_payment',
        'wrong_clock',
        'hanging_transaction',
        'archive_diverged',
        'archive_damaged',
      ),
    },
  }),
  'payments.hanging_transactions': counter({
    services: ['intent'],
    unit: '{transaction}',
    description: lines(
      'Transactions of the log that a crash of a broker left without an end, ended by the owner of their partition',
      'with the outcome that they had.',
    ),
    labels: { outcome: of('committed', 'aborted') },
  }),
  'payments.dependency.up': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '',
    description: '1 if the dependency responded to the last readiness probe, 0 if not. Absent before the first probe.',
    labels: {
      dependency: some({
        what:
          '`clock`, `database`, `kafka`, `redis`; `server` is 0 once a gateway, dashboard or checkout has begun to ' +
          'shut down, `intents` until a watcher has loaded them, `archive` while the archive does not follow the log',
        pattern: /^(archive|clock|database|intents|kafka|redis|server)$/,
        most: 7,
      }),
    },
  }),
  'payments.service.ready': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '',
    description:
      '1 if the process said to the last readiness probe that it is ready, 0 if not. Absent before the first.',
    labels: {},
  }),
  'payments.build.info': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '',
    description: 'Always 1: its label tells which version runs.',
    labels: { 'service.version': some({ what: 'versions', pattern: /^[\w.+-]{1,64}$/, most: 4 }) },
  }),

  'messaging.client.operation.duration': histogram({
    services: ['gateway', 'intent', 'watcher'],
    unit: 's',
    buckets: STEP,
    description:
      'Requests that produce to Kafka, each with all records that had queued, acknowledged by all in-sync replicas.',
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
    description: lines(
      'Processing a batch of records: in the intent service from its decision to its projection,',
      'in the webhook service writing the deliveries.',
    ),
    labels: {
      'messaging.system': of('kafka'),
      'messaging.operation.name': of('process'),
      'messaging.destination.name': topic,
      'error.type': errorType,
    },
  }),
  'db.client.operation.duration': histogram({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 's',
    buckets: STEP,
    description: 'Statements to Postgres, including the wait for a connection.',
    labels: {
      'db.system.name': of('postgresql'),
      'db.operation.name': of('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH', 'BEGIN', 'COMMIT', 'ROLLBACK', 'OTHER'),
      'error.type': errorType,
    },
  }),
  'db.client.connection.count': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '{connection}',
    description: 'Connections to Postgres.',
    labels: { 'db.client.connection.state': of('idle', 'used') },
  }),
  'db.client.connection.pending_requests': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '{request}',
    description:
      'Statements that wait for a connection: more than 0 for long means too few connections, or a slow Postgres.',
    labels: {},
  }),
  'payments.certificate.valid': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 's',
    description: lines(
      'How much longer the first to expire of the authorities’ certificates is valid that the process read at its',
      'start, from `NODE_EXTRA_CA_CERTS`. Absent without that.',
    ),
    labels: {},
  }),
  'process.memory.usage': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 'By',
    description: 'Resident memory.',
    labels: {},
  }),
  'process.memory.limit': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 'By',
    description: 'At so much resident memory the container is killed. Absent without a limit.',
    labels: {},
  }),
  'process.cpu.time': total({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 's',
    description: 'CPU time used since the start.',
    labels: { 'cpu.mode': of('user', 'system') },
  }),
  'nodejs.eventloop.delay.p99': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 's',
    description: 'The 99th percentile of how late timers fired since the last collection.',
    labels: {},
  }),
  'nodejs.eventloop.delay.max': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: 's',
    description: lines(
      'The longest time since the last collection for which the event loop did nothing else: one piece of work that',
      'takes too long shows here, and in no percentile.',
    ),
    labels: {},
  }),
  'payments.event_loop.blocks': counter({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '{block}',
    description: lines(
      'How often the event loop did one piece of work, and nothing else, for more than 50 ms, by the work that was',
      'resumed last before it. `other`: nothing that has a name was; these count from 70 ms.',
    ),
    labels: {
      work: some({
        what: lines(
          'methods and route patterns such as `POST /v1/intents/{id}/submit`, steps such as `step base`, `decide`,',
          '`catch up`, `deliver`, `sweep`, `replay`, `retention`, `archive`; `other`',
        ),
        pattern: /^[\w /{}.*-]{1,96}$/,
        most: 128,
      }),
    },
  }),
  'nodejs.eventloop.utilization': gauge({
    services: ['gateway', 'intent', 'watcher', 'webhook', 'dashboard', 'checkout', 'archive'],
    unit: '1',
    description:
      'The share of time since the last collection in which the event loop was busy: near 1 a process is at its limit.',
    labels: {},
  }),
} as const;

export type MetricName = keyof typeof METRICS;
type NamesOf<Kind extends MetricKind> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];
export type CounterName = NamesOf<'counter'>;
export type LevelName = NamesOf<'level'>;
export type HistogramName = NamesOf<'histogram'>;
export type GaugeName = NamesOf<'gauge' | 'total'>;
/** The labels of a metric, each with one of its values. */
export type MetricLabels<Name extends MetricName> = LabelsOf<(typeof METRICS)[Name]['labels']>;
