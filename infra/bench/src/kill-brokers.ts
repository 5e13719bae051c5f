import { commandLine, count, flag } from '@pf/local/command';
import { killBrokers } from './kill-brokers/rig.ts';
import { BROKERS, SEED } from './options.ts';

const WITHIN_MS = 30_000;

/**
 * Kills brokers at random moments of commits, under the load of the real services. Exits with 1 where a partition does
 * not work within 30 s of its broker's return, or anything is lost or doubled. Needs a running stack (STACK_FILE) for
 * Postgres and Redis; the brokers are its own.
 *
 *   npm run bench:kill-brokers -- --kills 100 --brokers 3
 */
const {
  values: { json, ...options },
} = commandLine({
  name: 'npm run bench:kill-brokers',
  about: 'Kills brokers at random moments of commits, under load.',
  options: {
    kills: count('How often', 100, { most: 10_000 }),
    brokers: BROKERS,
    seed: SEED,
    json: flag('Print the report as JSON'),
  },
});

const report = await killBrokers({ ...options, withinMs: WITHIN_MS, say: (line) => console.error(line) });
const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
if (json) console.log(JSON.stringify(report));
else {
  console.log(`\n${report.kills} kills of ${report.brokers} broker(s), seed ${report.seed}`);
  console.log('| ms after the broker’s return | p50 | p90 | worst |\n| --- | ---: | ---: | ---: |');
  for (const [name, times] of [
    ['first create', report.firstCreateMs],
    ['all partitions', report.allPartitionsMs],
  ] as const) {
    const sorted = times.toSorted((one, other) => one - other);
    console.log(`| ${name} | ${at(sorted, 0.5)} | ${at(sorted, 0.9)} | ${at(sorted, 1)} |`);
  }
  console.log(
    [
      `${report.creates} creates`,
      `stuck partitions: ${report.stuck.length}`,
      `lost or doubled: ${report.problems.length}`,
      `hanging transactions ended: ${report.repaired}`,
      `restarts of services: ${report.restarts}`,
    ].join('; '),
  );
  for (const problem of report.problems.slice(0, 20)) console.log(problem);
}
process.exitCode = report.stuck.length + report.problems.length === 0 ? 0 : 1;
