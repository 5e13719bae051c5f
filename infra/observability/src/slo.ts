/**
 * What is promised to those who use the service. An SLI is the share of events that were bad; both sides are PromQL over a
 * range, so that every window (of alerts, of the budget) asks the same question. docs/operations/slo.md says why each is what it is.
 */
export interface Slo {
  /** Value of the label `slo`. */
  readonly name: string;
  /** Of its panel, and its section of docs/operations/slo.md. */
  readonly title: string;
  /** The share of events that are good, over 30 days. */
  readonly objective: number;
  /** Beside `slo`: each value has its own budget. */
  readonly by: readonly 'network'[];
  /** Events a second, of all that count. */
  total(range: string): string;
  /** Events a second, of those that count and were bad. Absent series are none. */
  bad(range: string): string;
  /** In words, as docs/operations/slo.md has it. */
  readonly good: string;
}

const CREATE = 'http_request_method="POST",http_route="/v1/intents"';

/** A threshold of a histogram: Prometheus 3 writes whole numbers with `.0`. */
const le = (seconds: number): string => (Number.isInteger(seconds) ? `le=~"${seconds}(\\\\.0)?"` : `le="${seconds}"`);

/** Those of a histogram that took longer than a bucket's bound. */
function slowerThan(seconds: number, histogram: string, labels: string, by: string): Pick<Slo, 'total' | 'bad'> {
  const total = (range: string): string => `sum${by}(rate(${histogram}_count{${labels}}[${range}]))`;
  return {
    total,
    bad: (range) =>
      `${total(range)} - sum${by}(rate(${histogram}_bucket{${[labels, le(seconds)].filter(Boolean).join(',')}}[${range}]))`,
  };
}

export const SLOS: readonly Slo[] = [
  {
    name: 'create-availability',
    title: 'Creates are answered',
    objective: 0.999,
    by: [],
    total: (range) => `sum(rate(http_server_request_duration_seconds_count{${CREATE}}[${range}]))`,
    bad: (range) =>
      `sum(rate(http_server_request_duration_seconds_count{${CREATE},http_response_status_code=~"5.."}[${range}]))`,
    good: 'a `POST /v1/intents` answered with anything but 5xx',
  },
  {
    name: 'create-latency',
    title: 'Creates are quick',
    objective: 0.99,
    by: [],
    ...slowerThan(0.5, 'http_server_request_duration_seconds', `${CREATE},http_response_status_code=~"2.."`, ''),
    good: 'a `POST /v1/intents` that succeeded within 0.5 s',
  },
  {
    name: 'time-to-confirm',
    title: 'Payments are confirmed in time',
    objective: 0.95,
    by: ['network'],
    ...slowerThan(5, 'payments_confirmation_duration_seconds', 'livemode="true"', ' by (network) '),
    good: 'a payment on a live network, submitted here and confirmed within 5 s of its submission, each network by itself',
  },
  {
    name: 'webhook-timeliness',
    title: 'Webhooks are sent in time',
    objective: 0.99,
    by: [],
    ...slowerThan(5, 'payments_delivery_first_attempt_delay_seconds', '', ''),
    good: 'a delivery that is first attempted within 5 s of its event',
  },
];

/** The window of the objective. */
export const BUDGET_WINDOW = '30d';

/** The share of events that were bad over a range; 0 where none was, nothing where there were no events. */
export const errorRatio = (slo: Slo, range: string): string =>
  `((${slo.bad(range)}) or 0 * ${slo.total(range)}) / (${slo.total(range)})`;

/** The recorded error ratio of a window. */
export const recordedRatio = (range: string): string => `payments:slo_errors:ratio_rate${range}`;
