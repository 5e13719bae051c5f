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

/** The paths whose format `npm run lint` checks. */
const FORMATTED = ['.'];

/** Runs a program whose output matters only when it fails. */
async function quiet(label: string, args: readonly string[]): Promise<Result> {
  return await out.step(label, async () => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return { passed: 1, failed: 0 };
    out.line(`\n${output.trimEnd()}\n`);
    return { passed: 0, failed: 1 };
  });
}

/** How many test files of each Jest project run at a time. Those of `stack` share the state of one stack. */
const WORKERS = {
  unit: '--maxWorkers=100%',
  integration: '--maxWorkers=2',
  stack: '--runInBand',
  e2e: '--maxWorkers=2',
} as const;

/** Runs one Jest project; its output goes to the terminal. */
async function jest(project: keyof typeof WORKERS, folder: string, stack: string | null): Promise<Result> {
  const report = path.join(folder, `${project}.json`);
  return await out.step(`Tests: ${project}`, async () => {
    // jest.environment.mjs fails a test file that leaves something running, so Jest need not wait.
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

/** Checks that docs/reference/api.md names, for each status of each operation, a test that saw it in this run. */
async function checkApiDocument(): Promise<Result> {
  const problems = problemsOf(
    await readFile(path.join(root, API_DOCUMENT), 'utf8'),
    await readResponses(responsesFile),
  );
  for (const problem of problems) out.line(problem);
  return problems.length === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

/** Runs the chosen phases, the cheap ones first. A failed phase does not stop those after it. */
async function check(phases: ReadonlySet<Phase>, folder: string): Promise<Result> {
  const results: Result[] = [];
  const checks: Promise<Result>[] = [];
  if (phases.has('types')) checks.push(quiet('Types', [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.tests.json']));
  if (phases.has('lint')) {
    checks.push(
      quiet('Lint: ESLint', [bin('eslint', 'bin/eslint.js'), '.']),
      quiet('Lint: imports between packages', [
        bin('dependency-cruiser', 'bin/dependency-cruiser.mjs'),
        '--config',
        '.dependency-cruiser.mjs',
        'packages',
        'services',
        'infra',
      ]),
      quiet('Lint: format (npm run format)', [bin('prettier', 'bin/prettier.cjs'), '--check', ...FORMATTED]),
      quiet('Lint: unused files, exports and dependencies', [bin('knip', 'bin/knip.js')]),
    );
  }
  results.push(...(await Promise.all(checks)));
  await rm(responsesFile, { force: true });
  if (phases.has('unit')) results.push(await jest('unit', folder, null));
  if (phases.has('integration') || phases.has('e2e')) {
    const stack = await out.step('Start a stack for the tests', () =>
      startTestStack(main, path.join(folder, 'data'), process.env),
    );
    try {
      if (phases.has('integration')) results.push(await jest('integration', folder, stack.file));
      if (phases.has('e2e'))
        results.push(await jest('stack', folder, stack.file), await jest('e2e', folder, stack.file));
    } finally {
      await out.step('Stop the stack', () => stack.stop());
    }
  }
  if (phases.size === PHASES.length)
    results.push(await out.step(`${API_DOCUMENT} names a test for each response`, checkApiDocument));
  return sum(results);
}

const names = process.argv.slice(2);
const phases = new Set(PHASES.filter((phase) => names.length === 0 || names.includes(phase)));
const unknown = names.filter((name) => !(PHASES as readonly string[]).includes(name));
const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-test-'));
let result: Result = { passed: 0, failed: 1 };
try {
  if (unknown.length > 0) throw new Error(`Unknown phase: ${unknown.join(', ')}. The phases are ${PHASES.join(', ')}.`);
  result = await check(phases, folder);
} catch (error) {
  out.line(`\n${reason(error)}`);
}
if (result.failed === 0) await rm(folder, { recursive: true });
else out.line(`\nThe logs of this run are in ${folder}`);
process.stdout.write(`\n${result.passed} passed, ${result.failed} failed\n`);
process.exitCode = result.failed === 0 ? 0 : 1;
if (process.connected) process.disconnect();
