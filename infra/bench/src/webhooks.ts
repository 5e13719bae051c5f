import { commandLine, count, flag } from '@pf/local/command';
import { drain } from './webhooks/backlog.ts';
import { measureIsolation } from './webhooks/isolation.ts';

/**
 * How fast a backlog of webhooks drains, to one URL and to four of one account, beside a bare BullMQ and undici loop
 * that sends the same bodies with the same signatures and concurrency. One run, the same Redis, in turns: only the
 * ratios mean something elsewhere. Then what 270 harmful URLs of others cost a healthy account. Needs a running stack,
 * as all tests do (STACK_FILE). Exits with 1 if a goal is missed.
 *
 *   npm run bench:webhooks -- --deliveries 20000 --rounds 3 --seconds 30 --json
 */
const {
  values: { deliveries, rounds, seconds, json },
} = commandLine({
  name: 'npm run bench:webhooks',
  about: 'Measures how fast a backlog of webhooks drains, and what harmful URLs of others cost an account.',
  options: {
    deliveries: count('In the backlog', 20_000, { least: 100, most: 1_000_000, step: 4 }),
    rounds: count('Turns of each way', 3, { most: 100 }),
    seconds: count('How long others are harmful', 30, { most: 3_600 }),
    json: flag('Print the figures as JSON'),
  },
});
/** The least share of the bare loop, by the number of URLs. */
const GOALS = new Map([
  [1, 0.6],
  [4, 0.8],
]);
/** How many times as slow others may make a healthy account. */
const MOST_SLOWER = 1.5;

const backlogs = [];
for (const [urls, goal] of GOALS) backlogs.push({ ...(await drain(urls, deliveries, rounds)), goal });

const { alone, beside } = await measureIsolation(seconds, rounds);
const isolation = [
  { what: 'first attempts', alone: alone.firstAttempts, beside: beside.firstAttempts },
  { what: 'creates', alone: alone.creates, beside: beside.creates },
].map((row) => ({ ...row, ratio: row.beside.p99 / row.alone.p99, goal: MOST_SLOWER }));

if (json) {
  console.log(JSON.stringify({ deliveries, rounds, seconds, backlogs, isolation }, null, 2));
} else {
  console.log(`\nA backlog of ${deliveries} deliveries; medians of ${rounds} rounds, in turns.\n`);
  console.log('| URLs | service, /s | bare loop, /s | ratio | at least |\n| ---: | ---: | ---: | ---: | ---: |');
  for (const { urls, ours, bare, ratio, goal } of backlogs)
    console.log(`| ${urls} | ${Math.round(ours)} | ${Math.round(bare)} | ${ratio.toFixed(2)} | ${goal} |`);
  console.log(`\nA healthy account beside 270 harmful URLs; ${rounds} rounds of ${seconds} s each, in turns.\n`);
  console.log('| ms | alone p50 | alone p99 | beside p50 | beside p99 | ratio of p99 | at most |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const { what, ratio, goal, ...row } of isolation) {
    const cells = [row.alone.p50, row.alone.p99, row.beside.p50, row.beside.p99].map((ms) => ms.toFixed(0));
    console.log(`| ${[what, ...cells, ratio.toFixed(2), goal].join(' | ')} |`);
  }
}
if (backlogs.some(({ ratio, goal }) => ratio < goal) || isolation.some(({ ratio, goal }) => ratio > goal))
  process.exitCode = 1;
