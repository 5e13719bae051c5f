import type { TraceLine } from '@pf/simulation/kernel';
import type { Outcome } from '../messages.ts';

/** What every run is full of, and a reader does not need. */
const ROUTINE = [
  /(fetch|heartbeat|offsets|connect|overdue|committed|metadata|renew lease|checkpoint|webhook positions)( \S*)?$/,
  /eth_(chainId|blockNumber|getBlockByNumber|getLogs)/,
  /^debug/,
];
const isRoutine = ({ text }: TraceLine): boolean =>
  !/failed:/.test(text) && (/^← \S+: .* $/.test(text) || ROUTINE.some((pattern) => pattern.test(text.trim())));
const LINES = 250;
const WIDTH = 160;

/** A failed seed: what broke, what was on, and the messages between the processes, newest last. */
export function describeFailure({ seed, kinds, failure, lines }: Outcome): string {
  const [first] = lines;
  const told = lines.filter((line) => !isRoutine(line));
  const shown = told.slice(-LINES).map(({ at, where, text }) => {
    const seconds = ((at - (first?.at ?? at)) / 1_000).toFixed(3).padStart(9);
    return `${seconds}  ${where.padEnd(10)}  ${text.length > WIDTH ? `${text.slice(0, WIDTH)}…` : text}`;
  });
  const left = told.length - shown.length;
  return [
    `Seed ${seed} breaks: ${failure?.invariant}`,
    `  ${failure?.what}`,
    `With: ${kinds.join(', ') || 'nothing but creates'}`,
    '',
    '  seconds  process     what',
    ...(left > 0 ? [`  (${left} lines before)`] : []),
    ...shown,
    '',
    `Repeat it: npm run simulate -- --seed ${seed}`,
  ].join('\n');
}
