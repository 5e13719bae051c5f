import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { reason, terminal } from '../processes/terminal.ts';
import { RESPONSES_FILE, API_DOCUMENT, problemsOf, readResponses } from './api-document.ts';
import { countJest, type Result, sum } from './result.ts';
import { startTestStack } from './test-stack.ts';

const PHASES = ['types', 'lint', 'unit', 'integration', 'e2e'] as const;
type Phase = (typeof PHASES)[number];

const root = path.resolve(import.meta.dirname, '../../../..');
const main = path.join(root, 'infra/local/src/main.ts');
const bin = (name: string, file: string): string => path.join(root, 'node_modules', name, file);
const responsesFile = path.join(root, RESPONSES_FILE);
const out = terminal((text) => process.stderr.write(text));

/** A program that says nothing when all is well. */
async function quiet(label: string, args: readonly string[]): Promise<Result> {
  return await out.step(label, async () => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return { passed: 1, failed: 0 };
    out.line(`\n${said.trimEnd()}\n`);
    return { passed: 0, failed: 1 };
  });
}

/** Jest's projects, and how many files of each run at a time: those of `stack` share its state, the others only its two cores. */
const WORKERS = {
  unit: '--maxWorkers=100%',
  integration: '--maxWorkers=2',
  stack: '--runInBand',
  e2e: '--maxWorkers=2',
} as const;

/** One of Jest's projects, with its own output on the terminal. */
async function jest(project: keyof typeof WORKERS, folder: string, stack: string | null): Promise<Result> {
  const report = path.join(folder, `${project}.json`);
  return await out.step(`Tests: ${project}`, async () => {
    // A file that leaves something running has failed by that; nobody waits for its end.
    const args = [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      bin('jest', 'bin/jest.js'),
      '--selectProjects',
      project,
      '--json',
      `--outputFile=${report}`,
      '--forceExit',
      WORKERS[project],
    ];
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, API_ANSWERS: responsesFile, ...(stack ? { STACK_FILE: stack } : {}) },
    });
    await once(child, 'exit');
    return await countJest(report);
  });
}

/** docs/reference/api.md names for each status of each operation a test that saw it in this run. */
async function checkApiDocument(): Promise<Result> {
  const problems = problemsOf(
    await readFile(path.join(root, API_DOCUMENT), 'utf8'),
    await readResponses(responsesFile),
  );
  for (const problem of problems) out.line(problem);
  return problems.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Runs the phases wanted, the cheap ones first; every phase runs, also after one that failed. */
async function check(wanted: ReadonlySet<Phase>, folder: string): Promise<Result> {
  const results: Result[] = [];
  const checks: Promise<Result>[] = [];
  if (wanted.has('types'))
    checks.push(quiet('Types of the tests', [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.tests.json']));
  if (wanted.has('lint')) {
    checks.push(
      quiet('Lint', [bin('eslint', 'bin/eslint.js'), '.']),
      quiet('Who imports whom', [
        bin('dependency-cruiser', 'bin/dependency-cruiser.mjs'),
        '--config',
        '.dependency-cruiser.mjs',
        'packages',
        'services',
        'infra',
      ]),
    );
  }
  results.push(...(await Promise.all(checks)));
  await rm(responsesFile, { force: true });
  if (wanted.has('unit')) results.push(await jest('unit', folder, null));
  if (wanted.has('integration') || wanted.has('e2e')) {
    const stack = await out.step('A stack for the tests', () =>
      startTestStack(main, path.join(folder, 'data'), process.env),
    );
    try {
      if (wanted.has('integration')) results.push(await jest('integration', folder, stack.file));
      if (wanted.has('e2e'))
        results.push(await jest('stack', folder, stack.file), await jest('e2e', folder, stack.file));
    } finally {
      await out.step('The stack stopped', () => stack.stop());
    }
  }
  if (wanted.size === PHASES.length) results.push(await out.step('The API document', checkApiDocument));
  return sum(results);
}

const named = process.argv.slice(2);
const wanted = new Set(PHASES.filter((phase) => named.length === 0 || named.includes(phase)));
const unknown = named.filter((name) => !(PHASES as readonly string[]).includes(name));
const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-test-'));
let result: Result = { passed: 0, failed: 1 };
try {
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}; there are ${PHASES.join(', ')}.`);
  result = await check(wanted, folder);
} catch (error) {
  out.line(`\n${reason(error)}`);
}
if (result.failed === 0) await rm(folder, { recursive: true });
else out.line(`\nLogs of this run: ${folder}`);
process.stdout.write(`\n${result.passed} passed, ${result.failed} failed\n`);
process.exitCode = result.failed === 0 ? 0 : 1;
if (process.connected) process.disconnect();
