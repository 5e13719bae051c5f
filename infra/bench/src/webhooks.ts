import { parseArgs } from 'node:util';
import { z } from 'zod';
import { drain } from './webhooks/backlog.ts';

/**
 * How fast a backlog of webhooks drains, to one URL and to four of one account, beside a bare BullMQ and undici loop
 * that sends the same bodies with the same signatures and concurrency. One run, the same Redis, in turns: only the
 * ratios mean something elsewhere. Needs a running stack, as all tests do (STACK_FILE).
 *
 *   npm run bench:webhooks -- --deliveries 20000 --rounds 3 --json
 */
const { values } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});
const deliveries = z.coerce.number().int().min(100).max(1_000_000).multipleOf(4).parse(values.deliveries);
const rounds = z.coerce.number().int().min(1).max(100).parse(values.rounds);
const GOALS = new Map([
  [1, 0.6],
  [4, 0.8],
]);

const backlogs = [];
for (const [urls, goal] of GOALS) backlogs.push({ ...(await drain(urls, deliveries, rounds)), goal });

if (values.json) {
  console.log(JSON.stringify({ deliveries, rounds, backlogs }, null, 2));
} else {
  console.log(`\nA backlog of ${deliveries} deliveries; medians of ${rounds} rounds, in turns.\n`);
  console.log('| URLs | service, /s | bare loop, /s | ratio | goal |\n| ---: | ---: | ---: | ---: | ---: |');
  for (const { urls, ours, bare, ratio, goal } of backlogs)
    console.log(`| ${urls} | ${Math.round(ours)} | ${Math.round(bare)} | ${ratio.toFixed(2)} | ${goal} |`);
}
if (backlogs.some(({ ratio, goal }) => ratio < goal)) process.exitCode = 1;
