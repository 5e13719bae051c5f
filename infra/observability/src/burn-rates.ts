import type { Alert, Example, Severity } from './alert.ts';
import { BUDGET_WINDOW, errorRatio, recordedRatio, type Slo, SLOS } from './slo.ts';

/**
 * Multi-window, multi-burn-rate alerts (The Site Reliability Workbook, chapter 5). The long window shows that the burn
 * matters, the short one that it continues. A rate of 14.4 for an hour uses 2 % of a 30-day budget, 6 for six hours
 * 5 %, 3 for a day and 1 for three days 10 % each.
 */
const BURNS: Readonly<
  Record<Severity, readonly { readonly rate: number; readonly long: string; readonly short: string }[]>
> = {
  page: [
    { rate: 14.4, long: '1h', short: '5m' },
    { rate: 6, long: '6h', short: '30m' },
  ],
  ticket: [
    { rate: 3, long: '1d', short: '2h' },
    { rate: 1, long: '3d', short: '6h' },
  ],
};
const WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'];
const SECONDS: Readonly<Record<string, number>> = { '1h': 3_600, '6h': 21_600, '1d': 86_400, '3d': 259_200 };

/** The least number of bad events in the long window: at low traffic one slow payment is no emergency. */
const BAD_AT_LEAST = 5;

export interface Recording {
  readonly record: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The error ratios over every window that the alerts use. */
export const ratios: readonly Recording[] = SLOS.flatMap((slo) =>
  WINDOWS.map((window) => ({
    record: recordedRatio(window),
    expr: errorRatio(slo, window),
    labels: { slo: slo.name },
  })),
);

/** The rest of a month's budget: 1 untouched, 0 exhausted, below 0 missed. Evaluated less often: it reads a month. */
export const budgets: readonly Recording[] = SLOS.flatMap((slo) => [
  { record: recordedRatio(BUDGET_WINDOW), expr: errorRatio(slo, BUDGET_WINDOW), labels: { slo: slo.name } },
  {
    record: 'payments:slo_budget:remaining_ratio',
    expr: `1 - ${recordedRatio(BUDGET_WINDOW)}{slo="${slo.name}"} / ${rounded(1 - slo.objective)}`,
    labels: { slo: slo.name },
  },
]);

/** Removes floating-point error: 1 - 0.999 is not 0.001. */
function rounded(share: number): number {
  return Number(share.toPrecision(6));
}

function burning(
  slo: Slo,
  { rate, long, short }: { readonly rate: number; readonly long: string; readonly short: string },
): string {
  const threshold = rounded(rate * (1 - slo.objective));
  const exceeds = (window: string): string => `${recordedRatio(window)}{slo="${slo.name}"} > ${threshold}`;
  const enoughBad = `on (${slo.by.join(', ')}) (${slo.bad(long)}) * ${SECONDS[long] ?? 0} >= ${BAD_AT_LEAST}`;
  return `(${exceeds(long)} and ${exceeds(short)} and ${enoughBad})`;
}

/** An SLO's alert: its name, its summary, and the series to test it on. */
interface Burn {
  readonly name: string;
  readonly summary: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The series that services export for these good and bad events. */
  series(good: Course, bad: Course): Readonly<Record<string, string>>;
  /** The series of so many events that look bad, or are, and that one tenant has caused. */
  oneTenant(caused: Course): Readonly<Record<string, string>>;
}

/** Events per minute: before and after `TURN_MINUTE`. */
interface Course {
  readonly first: number;
  readonly then: number;
}
const TURN_MINUTE = 30;
const END_MINUTE = 80;
const sum = (one: Course, other: Course): Course => ({ first: one.first + other.first, then: one.then + other.then });
/** A counter of these events, in promtool's notation. */
const counting = ({ first, then }: Course): string => {
  const afterTurn = `${first * TURN_MINUTE + then}+${then}x${END_MINUTE - TURN_MINUTE}`;
  return `0+${first}x${TURN_MINUTE} ${afterTurn}`;
};
const slow =
  (histogram: string, labels: string, bound: string) =>
  (good: Course, bad: Course): Readonly<Record<string, string>> => ({
    [`${histogram}_count{${labels}}`]: counting(sum(good, bad)),
    [`${histogram}_bucket{${[labels, `le="${bound}"`].filter(Boolean).join(',')}}`]: counting(good),
  });
/** Requests with these labels with this status that a tenant has caused. */
const causedBy =
  (labels: string, status: number) =>
  (caused: Course): Readonly<Record<string, string>> => ({
    [`http_server_request_duration_seconds_count{${labels},http_response_status_code="${status}",caused_by="caller"}`]:
      counting(caused),
  });
/** Payments of a test network, all of them late, and as many of a live one with fees that are too low. */
const late =
  (histogram: string, service: string) =>
  (caused: Course): Readonly<Record<string, string>> => ({
    [`${histogram}_count{network="base-sepolia",livemode="false",service_name="${service}"}`]: counting(caused),
    [`${histogram}_count{network="base",livemode="true",late="alone",service_name="${service}"}`]: counting(caused),
  });
const PAGE_OF_MERCHANT = 'service_name="checkout",http_request_method="GET",http_route="/pay/{id}/merchant"';
const PAGE_SUBMIT = 'service_name="checkout",http_request_method="POST",http_route="/v1/intents/{id}/submit"';
const SUBMIT = 'service_name="gateway",http_request_method="POST",http_route="/v1/intents/{id}/submit"';
/** Requests with these labels, of which the bad ones return 503. */
const answered =
  (labels: string) =>
  (good: Course, bad: Course): Readonly<Record<string, string>> => ({
    [`http_server_request_duration_seconds_count{${labels},http_response_status_code="200"}`]: counting(good),
    [`http_server_request_duration_seconds_count{${labels},http_response_status_code="503"}`]: counting(bad),
  });
const created = (status: number): string =>
  `http_request_method="POST",http_route="/v1/intents",http_response_status_code="${status}",` +
  'url_scheme="http",service_name="gateway"';

const ALERTS: Readonly<Record<string, Burn>> = {
  'create-availability': {
    name: 'CreatesFailing',
    summary: 'Creates fail with 5xx fast enough to exhaust the error budget.',
    labels: {},
    series: (good, bad) => ({
      [`http_server_request_duration_seconds_count{${created(201)}}`]: counting(good),
      [`http_server_request_duration_seconds_count{${created(503)}}`]: counting(bad),
    }),
    // It has too many new wallets screened, and sends more than its quota.
    oneTenant: (caused) => ({ [`http_server_request_duration_seconds_count{${created(429)}}`]: counting(caused) }),
  },
  'create-latency': {
    name: 'CreatesSlow',
    summary: 'Too many creates take longer than 0.5 s.',
    labels: {},
    series: slow('http_server_request_duration_seconds', created(201), '0.5'),
    // Its commands wait for their turn, and are refused.
    oneTenant: (caused) => ({ [`http_server_request_duration_seconds_count{${created(429)}}`]: counting(caused) }),
  },
  'page-availability': {
    name: 'CheckoutFailing',
    summary: 'Too much of what people ask of the page on which they pay fails with 5xx.',
    labels: {},
    series: answered(PAGE_OF_MERCHANT),
    // Its sponsor hangs, and its customers pay.
    oneTenant: causedBy(PAGE_SUBMIT, 503),
  },
  'payer-availability': {
    name: 'PayersFailing',
    summary: 'Too many payers cannot build, submit or choose a payment: their calls fail with 5xx.',
    labels: {},
    series: answered(SUBMIT),
    // Its sponsor hangs, and it submits hashes of no transaction.
    oneTenant: causedBy(SUBMIT, 503),
  },
  'time-to-see': {
    name: 'PayersWaiting',
    summary: 'Too many payers on {{ $labels.network }} see later than 7.5 s that they have paid.',
    labels: { network: 'base' },
    series: slow(
      'payments_payer_wait_duration_seconds',
      'network="base",livemode="true",service_name="gateway"',
      '7.5',
    ),
    oneTenant: late('payments_payer_wait_duration_seconds', 'gateway'),
  },
  'time-to-confirm': {
    name: 'ConfirmationsSlow',
    summary: 'Too many payments on {{ $labels.network }} are confirmed later than 5 s after their submission.',
    labels: { network: 'base' },
    series: slow('payments_confirmation_duration_seconds', 'network="base",livemode="true",service_name="intent"', '5'),
    oneTenant: late('payments_confirmation_duration_seconds', 'intent'),
  },
  'webhook-timeliness': {
    name: 'WebhooksLate',
    summary: 'Too many webhooks wait longer than 5 s for us until their first attempt.',
    labels: {},
    series: slow('payments_delivery_first_attempt_delay_seconds', 'service_name="webhook"', '5'),
    // The backlog of a URL that was paused, failed or is slow: each delivery waited for the account, and arrives late.
    oneTenant: (caused) => ({
      ...slow(
        'payments_delivery_first_attempt_delay_seconds',
        'service_name="webhook"',
        '5',
      )(caused, { first: 0, then: 0 }),
      'payments_delivery_delay_seconds_count{service_name="webhook"}': counting(caused),
    }),
  },
};

function alertOf(slo: Slo, severity: Severity): Alert {
  const burn = ALERTS[slo.name];
  if (!burn) throw new Error(`The SLO ${slo.name} has no alert: add one to ALERTS.`);
  /** Series of 1,000 events a minute, of which as many are bad as these burn rates mean. */
  const at = (first: number, then: number): Alert['quiet'] => {
    const bad = {
      first: Math.round(1_000 * first * (1 - slo.objective)),
      then: Math.round(1_000 * then * (1 - slo.objective)),
    };
    return { series: burn.series({ first: 1_000 - bad.first, then: 1_000 - bad.then }, bad), at: `${END_MINUTE - 2}m` };
  };
  /** The half of 1,000 events a minute. */
  const half = { first: 500, then: 500 };
  const oneTenant: Example = {
    series: { ...burn.series(half, { first: 0, then: 0 }), ...burn.oneTenant(half) },
    at: `${END_MINUTE - 2}m`,
  };
  const labels = { slo: slo.name, ...burn.labels };
  const examples =
    severity === 'page'
      ? // Fires on a fast burn; not on a ticket's burn; not on a fast one that has ended; not for a tenant.
        { fires: { ...at(15, 15), labels }, quiet: at(4, 4), nearMiss: at(15, 0), oneTenant }
      : { fires: { ...at(4, 4), labels }, quiet: at(0.5, 0.5) };
  return {
    name: burn.name,
    severity,
    expr: BURNS[severity].map((one) => burning(slo, one)).join('\nor\n'),
    summary: burn.summary,
    ...examples,
  };
}

/** Two alerts for each SLO: a fast burn pages, a steady burn opens a ticket. */
export const burnAlerts: readonly Alert[] = SLOS.flatMap((slo) => [alertOf(slo, 'page'), alertOf(slo, 'ticket')]);
