import { LATE_AFTER } from '@pf/runtime';

/**
 * A service level objective. Its SLI is the share of bad events; `total` and `bad` are PromQL over a range, so that
 * every window (of alerts and of the budget) uses the same definition. docs/operations/slo.md gives the reasons.
 */
export interface Slo {
  /** Value of the label `slo`. */
  readonly name: string;
  /** The title of its panel and of its section in docs/operations/slo.md. */
  readonly title: string;
  /** The share of events that are good, over 30 days. */
  readonly objective: number;
  /** Labels beside `slo`: each of their values has its own budget. */
  readonly by: readonly 'network'[];
  /** All counted events, per second. */
  total(range: string): string;
  /** The bad ones of these events, per second. Absent series mean none. */
  bad(range: string): string;
  /** What a good event is, in the words of docs/operations/slo.md. */
  readonly good: string;
}

/** What people ask of the payment page, and the page of the payment API. */
const PAGE = 'service_name="checkout"';
/** What payers do, with client secrets and keys of scope `payer`: through the page, and from apps of their own. */
export const PAYERS =
  'service_name="gateway",http_request_method="POST",' +
  'http_route=~"/v1/intents/[^/]+/(detected|build|submit)|/v1/payment-links/[^/]+/choose"';

const CREATE = 'http_request_method="POST",http_route="/v1/intents"';

/** Matches a bucket's bound: Prometheus 3 writes whole numbers with `.0`. */
const le = (seconds: number): string => (Number.isInteger(seconds) ? `le=~"${seconds}(\\\\.0)?"` : `le="${seconds}"`);

/** Bad events are those of a histogram that took longer than a bucket's bound. */
function slowerThan(seconds: number, histogram: string, labels: string, by: string): Pick<Slo, 'total' | 'bad'> {
  const bucketLabels = [labels, le(seconds)].filter(Boolean).join(',');
  const total = (range: string): string => `sum${by}(rate(${histogram}_count{${labels}}[${range}]))`;
  return {
    total,
    bad: (range) => `${total(range)} - sum${by}(rate(${histogram}_bucket{${bucketLabels}}[${range}]))`,
  };
}

/** Requests with a 5xx of ours. Those that their callers have caused must page no one: one account could at will. */
const OUR_5XX = 'http_response_status_code=~"5..",caused_by!="caller"';

/** Bad events are responses with a 5xx of ours. */
const failing = (labels: string): Pick<Slo, 'total' | 'bad'> => ({
  total: (range) => `sum(rate(http_server_request_duration_seconds_count{${labels}}[${range}]))`,
  bad: (range) => `sum(rate(http_server_request_duration_seconds_count{${labels},${OUR_5XX}}[${range}]))`,
});

/** Payments on live networks, but for late ones that a single account or payer can make. */
const PAYMENTS = 'livemode="true",late!="alone"';

export const SLOS: readonly Slo[] = [
  {
    name: 'create-availability',
    title: 'Creates succeed',
    objective: 0.999,
    by: [],
    ...failing(CREATE),
    good: 'a `POST /v1/intents` whose response is not a 5xx of ours',
  },
  {
    name: 'create-latency',
    title: 'Creates are fast',
    objective: 0.99,
    by: [],
    ...slowerThan(0.5, 'http_server_request_duration_seconds', `${CREATE},http_response_status_code=~"2.."`, ''),
    good: 'a `POST /v1/intents` that succeeds within 0.5 s',
  },
  {
    name: 'page-availability',
    title: 'The payment page works',
    objective: 0.999,
    by: [],
    ...failing(PAGE),
    good: 'a request to the payment page, or of it to the payment API, whose response is not a 5xx of ours',
  },
  {
    name: 'payer-availability',
    title: 'Payers can pay',
    objective: 0.999,
    by: [],
    ...failing(PAYERS),
    good: 'a `detected`, `build`, `submit` or `choose` whose response is not a 5xx of ours',
  },
  {
    name: 'time-to-see',
    title: 'Payers see it on time',
    objective: 0.95,
    by: ['network'],
    ...slowerThan(LATE_AFTER.seen, 'payments_payer_wait_duration_seconds', PAYMENTS, ' by (network) '),
    good: 'a payer on a live network who sees `intent.confirmed` within 7.5 s of the submit, for each network',
  },
  {
    name: 'time-to-confirm',
    title: 'Payments are confirmed on time',
    objective: 0.95,
    by: ['network'],
    ...slowerThan(LATE_AFTER.confirmed, 'payments_confirmation_duration_seconds', PAYMENTS, ' by (network) '),
    good: 'a payment on a live network that is submitted here and confirmed within 5 s, for each network by itself',
  },
  {
    name: 'webhook-timeliness',
    title: 'Webhooks are sent on time',
    objective: 0.99,
    by: [],
    ...slowerThan(5, 'payments_delivery_first_attempt_delay_seconds', '', ''),
    good: 'a delivery whose first attempt waited at most 5 s for us',
  },
];

/** The window of the objective. */
export const BUDGET_WINDOW = '30d';

/** The share of bad events over a range; 0 when none was bad, no result when there were no events. */
export const errorRatio = (slo: Slo, range: string): string =>
  `((${slo.bad(range)}) or 0 * ${slo.total(range)}) / (${slo.total(range)})`;

/** The recorded error ratio of a window. */
export const recordedRatio = (range: string): string => `payments:slo_errors:ratio_rate${range}`;
