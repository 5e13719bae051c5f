import { commandLine, count, flag, word } from '@pf/local/command';
import { FAULTS, runChaos, startRig } from './chaos/index.ts';
import { summarize } from './chaos/summary.ts';
import { BROKERS, SEED } from './options.ts';

/**
 * Every fault at random, on a system of its own: services, brokers, Postgres with a standby and Redis are killed,
 * suspended and cut off under the load of clients and wallets that pay. Exits with 1 where anything is lost, doubled or
 * forked, or does not recover.
 *
 *   npm run chaos -- --minutes 30 --brokers 3
 */
const {
  values: { minutes, brokers, seed, only, json },
} = commandLine({
  name: 'npm run chaos',
  about: 'Strikes with every fault at random, under load, on a system of its own.',
  options: {
    minutes: count('How long', 10, { least: 0.1, most: 1_440, step: null }),
    brokers: BROKERS,
    seed: SEED,
    only: word('Part of the names of the faults that strike', ''),
    json: flag('Print the report as JSON'),
  },
});
const faults = FAULTS.filter(({ name }) => name.includes(only));
if (faults.length === 0) {
  console.error(`--only: no fault is named like "${only}": ${FAULTS.map(({ name }) => name).join(', ')}.`);
  process.exit(64);
}

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
