import { commandLine, count, flag } from '@pf/local/command';
import { problemsOf, summarize } from './drill/report.ts';
import { CASES, drill } from './drill/run.ts';

/**
 * Rehearses a runbook of a restore on a system of its own: load, a disaster, the commands of the runbook, and a look
 * for what is lost, doubled or forgotten. Exits with 1 where something is that the runbook does not name.
 *
 *   npm run drill -- kafka-lost
 */
const {
  values: { load, lag, json },
  operands: [name],
} = commandLine({
  name: 'npm run drill',
  about: 'Rehearses a runbook of a restore on a system of its own.',
  operands: { takes: 'CASE', about: CASES.join(', '), most: 1 },
  options: {
    load: count('Seconds of load', 10, { most: 3_600 }),
    lag: count('Seconds by which the mirror is behind', 5, { least: 0, most: 3_600 }),
    json: flag('Print the report as JSON'),
  },
});
const chosen = CASES.find((one) => one === name);
if (chosen === undefined) {
  console.error(`Name a case: ${CASES.join(', ')}. See \`npm run drill -- --help\`.`);
  process.exitCode = 64;
} else {
  const report = await drill({ case: chosen, loadSeconds: load, lagSeconds: lag, say: (line) => console.error(line) });
  console.log(json ? JSON.stringify(report) : `\n${summarize(report)}`);
  process.exitCode = problemsOf(report).length > 0 ? 1 : 0;
}
