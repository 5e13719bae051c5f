import { parseArgs } from 'node:util';
import { z } from 'zod';
import { FAULTS, runChaos, startRig } from './chaos/index.ts';
import { summarize } from './chaos/summary.ts';

/**
 * Every fault at random, on a system of its own: services, brokers, Postgres with a standby and Redis are killed,
 * suspended and cut off under the load of clients and wallets that pay. Exits with 1 where anything is lost, doubled or
 * forked, or does not recover.
 *
 *   npm run chaos -- --minutes 30 --brokers 3
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    brokers: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const { minutes, brokers, seed, only, json } = z
  .object({
    minutes: z.coerce.number().min(0.1).max(1_440),
    brokers: z.coerce.number().pipe(z.union([z.literal(1), z.literal(3)])),
    seed: z.coerce.number().int().min(0),
    /** Part of the names of the faults that strike. */
    only: z.string(),
    json: z.boolean(),
  })
  .parse(values);
const faults = FAULTS.filter(({ name }) => name.includes(only));
if (faults.length === 0)
  throw new Error(`No fault is named like "${only}": ${FAULTS.map(({ name }) => name).join(', ')}`);

const rig = await startRig(brokers);
let keep = true;
try {
  const end = performance.now() + minutes * 60_000;
  // Each of them once, in a random order, then again: a short run has them all.
  let ahead: typeof faults = [];
  const report = await runChaos(rig, {
    seed,
    next(random) {
      if (performance.now() > end) return null;
      if (ahead.length === 0)
        ahead = faults
          .map((fault) => [random(), fault] as const)
          .sort(([a], [b]) => a - b)
          .map(([, fault]) => fault);
      return ahead.pop() ?? null;
    },
    say: (line) => console.error(line),
  });
  console.log(json ? JSON.stringify(report) : summarize(report, brokers));
  keep = report.findings.length > 0;
  process.exitCode = keep ? 1 : 0;
} finally {
  if (keep) console.error(`Data and logs are in ${rig.folder}`);
  await rig.close(keep);
}
