// npm run test:alerts: promtool checks that every alert fires on synthetic series and stays quiet without the fault,
// and that every panel's query is valid.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { DASHBOARDS } from './dashboards.ts';
import { queriesOf } from './panels.ts';
import { ALERTS, promtoolTests, ruleFile } from './rules.ts';

const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-alerts-'));
const file = async (name: string, content: string): Promise<string> => {
  await writeFile(path.join(folder, name), content);
  return path.join(folder, name);
};

/** Runs promtool from the PATH; the bootstrap installs it. @returns its output when it fails, null when it succeeds */
async function promtool(...args: readonly string[]): Promise<string | null> {
  const child = spawn('promtool', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return code === 0 ? null : `${stdout}${stderr}`;
}

/** Queries as recording rules, so that promtool parses and type-checks them. */
const asRules = (queries: readonly string[]): string =>
  stringify({
    groups: [{ name: 'panels', rules: queries.map((expr, index) => ({ record: `panel:${index}`, expr })) }],
  });

try {
  const queries = DASHBOARDS.flatMap((dashboard) => queriesOf(dashboard));
  const tests: string[] = [];
  for (const { name, rules, tests: cases } of promtoolTests()) {
    await file(`${name}.rules.yml`, rules);
    tests.push(await file(`${name}.tests.yml`, cases));
  }
  const problems = [
    await promtool('check', 'rules', await file('rules.yml', ruleFile()), await file('panels.yml', asRules(queries))),
    await promtool('test', 'rules', ...tests),
  ];
  const found = problems.filter((problem) => problem !== null);
  for (const problem of found) process.stderr.write(`${problem}\n`);
  if (found.length === 0)
    process.stdout.write(
      `${ALERTS.length} alerts fire on their series and stay quiet without the fault; ` +
        `${queries.length} queries of panels are valid\n`,
    );
  process.exitCode = found.length === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true });
}
