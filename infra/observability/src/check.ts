// npm run test:alerts: every alert fires on made series and is quiet without the fault, by promtool; every panel's query is one
// that Prometheus takes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import { DASHBOARDS } from './dashboards.ts';
import { queriesOf } from './panels.ts';
import { ALERTS, ruleFile, trials } from './rules.ts';

const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-alerts-'));
const file = async (name: string, content: string): Promise<string> => {
  await writeFile(path.join(folder, name), content);
  return path.join(folder, name);
};

/** promtool of the PATH: the bootstrap sees to it. @returns what it complains about; null: nothing */
async function promtool(...args: readonly string[]): Promise<string | null> {
  const child = spawn('promtool', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [[code], said, complained] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return code === 0 ? null : `${said}${complained}`;
}

/** Queries as rules: promtool's parser, and its types. */
const asRules = (queries: readonly string[]): string =>
  stringify({
    groups: [{ name: 'panels', rules: queries.map((expr, index) => ({ record: `panel:${index}`, expr })) }],
  });

try {
  const queries = DASHBOARDS.flatMap((dashboard) => queriesOf(dashboard));
  const tests: string[] = [];
  for (const trial of trials()) {
    await file(`${trial.name}.rules.yml`, trial.rules);
    tests.push(await file(`${trial.name}.tests.yml`, trial.tests));
  }
  const problems = [
    await promtool('check', 'rules', await file('rules.yml', ruleFile()), await file('panels.yml', asRules(queries))),
    await promtool('test', 'rules', ...tests),
  ];
  const found = problems.filter((problem) => problem !== null);
  for (const problem of found) process.stderr.write(`${problem}\n`);
  if (found.length === 0)
    process.stdout.write(
      `${ALERTS.length} alerts fire on their series and are quiet without the fault; ${queries.length} queries of panels can be asked\n`,
    );
  process.exitCode = found.length === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true });
}
