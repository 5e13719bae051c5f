import type { Row } from './bench-plan.ts';

const COLUMNS = [
  'network',
  'plan',
  'recipients',
  'calls a minute',
  'requests a minute',
  'credits a month',
  '$ a month',
  'restart: s',
  'calls',
  'credits',
  'meanwhile: s',
  'payment, new: s',
  'old: s',
  'watch: calls',
  'credits',
  'gateway: calls',
  'credits',
  'failed steps',
] as const;
/** The head of the table. */
export const HEADER = [
  `| ${COLUMNS.join(' | ')} |`,
  `|${COLUMNS.map((_, place) => (place < 2 ? ' --- |' : ' ---: |')).join('')}`,
].join('\n');

/** One row of the table. */
export function lineOf({ network, plan, recipients, cannot, measured }: Row): string {
  const first = [network, plan, recipients];
  if (measured === null) return `| ${[...first, `cannot ${cannot ?? ''}`].join(' | ')} |`;
  const { restart, quiet, payment } = measured;
  const cells = [
    quiet.callsAMinute.toFixed(0),
    quiet.requestsAMinute.toFixed(0),
    millions(quiet.creditsAMonth),
    whole(quiet.dollarsAMonth),
    (restart.ms / 1_000).toFixed(1),
    restart.calls,
    whole(restart.credits),
    slowest(payment.meanwhileMs),
    slowest(payment.newMs),
    slowest(payment.oldMs),
    payment.watch.calls.toFixed(0),
    whole(payment.watch.credits),
    payment.gateway.calls,
    whole(payment.gateway.credits),
    quiet.problem === null ? quiet.failures : `${quiet.failures}: ${quiet.problem}`,
  ];
  return `| ${[...first, ...cells].join(' | ')} |`;
}

const UNKNOWN = '–';
const whole = (value: number | null): string => value?.toFixed(0) ?? UNKNOWN;
const millions = (value: number | null): string => (value === null ? UNKNOWN : `${(value / 1e6).toFixed(1)} M`);

/** In seconds, of those that were found; how many were not. */
function slowest(all: readonly (number | null)[]): string {
  const found = all.filter((ms) => ms !== null);
  const most = found.length === 0 ? UNKNOWN : (Math.max(...found) / 1_000).toFixed(1);
  return found.length === all.length ? most : `${most}, ${all.length - found.length} not found`;
}
