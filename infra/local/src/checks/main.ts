import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { reason, terminal } from '../processes/terminal.ts';
import { RESPONSES_FILE, API_DOCUMENT, problemsOf, readResponses } from './api-document.ts';
import { HELP, type Phase, readArguments, type TestArguments, TESTS } from './arguments.ts';
import { PAYMENT_CASES, roundsOf } from './provider-rounds.ts';
import { countJest, type Result, sum } from './result.ts';
import { startTestStack } from './test-stack.ts';

/** What runs in the databases, topics and services of each test, and so at once. */
const APART = ['integration', 'e2e'] as const satisfies readonly Phase[];
const ON_A_STACK = [...APART, 'drills', 'providers'] as const satisfies readonly Phase[];

const root = path.resolve(import.meta.dirname, '../../../..');
const main = path.join(root, 'infra/local/src/main.ts');
const bin = (name: string, file: string): string => path.join(root, 'node_modules', name, file);
/** Fetched before this starts (infra/local/setup/programs.mjs). */
const TSC = path.join(root, '.tools/typescript/node_modules/typescript/bin/tsc');
const responsesFile = path.join(root, RESPONSES_FILE);
const out = terminal((text) => process.stderr.write(text));

/** Resolves when what the phases need is built: what started this process may do that meanwhile, and tells. */
const compiled: Promise<void> = process.connected
  ? once(process, 'message').then(([message]) => {
      if (message !== 'built') throw new Error('Our packages did not compile.');
    })
  : Promise.resolve();
// Of those who wait for it, each reports it.
compiled.catch(() => undefined);

/** The paths whose format `npm run lint` checks. */
const FORMATTED = ['.'];

/** A niceness at which tests hardly notice a program, and with which it still ends on a busy machine. */
const BESIDE_TESTS = 5;

/**
 * Runs a program whose output matters only when it fails. It takes the time that the tests leave: they wait for brokers
 * and chains, and must not wait for it.
 */
async function quiet(label: string, args: readonly string[]): Promise<Result> {
  return await out.step(label, async () => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    if (child.pid !== undefined) os.setPriority(child.pid, BESIDE_TESTS);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return { passed: 1, failed: 0 };
    out.line(`\n${output.trimEnd()}\n`);
    return { passed: 0, failed: 1 };
  });
}

/**
 * How many test files run at a time. Those of `stack` share the state of one stack; the others on a stack wait for
 * brokers and blocks about half of their time, so there are more than cores. A drill starts a dozen processes at once:
 * with four at a time a broker's return took 28 s.
 */
const WORKERS = {
  unit: '--maxWorkers=100%',
  onStack: '--maxWorkers=4',
  drills: '--maxWorkers=3',
  stack: '--runInBand',
} as const;

/**
 * Runs Jest projects at once, the longest test files first; the output goes to the terminal.
 * @param behind profiles of providers before the chains of its clusters: then only the cases of payments run
 */
async function jest(
  projects: readonly (Exclude<Phase, 'providers'> | 'stack')[],
  workers: keyof typeof WORKERS,
  folder: string,
  stack: string | null,
  behind: readonly string[] = [],
): Promise<Result> {
  const report = path.join(folder, `${[...projects, ...behind].join('-')}.json`);
  const label = behind.length === 0 ? projects.join(', ') : `payments behind ${behind.join(', ')}`;
  return await out.step(`Tests: ${label}`, async () => {
    // infra/jest/clean-environment.mjs fails a test file that leaves something running, so Jest need not wait.
    const args = [
      '--disable-warning=ExperimentalWarning',
      bin('jest', 'bin/jest.js'),
      '--selectProjects',
      ...projects,
      '--json',
      `--outputFile=${report}`,
      '--forceExit',
      WORKERS[workers],
      // Of several projects, some have no file that matches.
      ...(paths.length === 0 ? [] : ['--passWithNoTests']),
      ...(behind.length > 0 && paths.length === 0 ? PAYMENT_CASES : paths),
    ];
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        ...(isWhole && { API_ANSWERS: responsesFile }),
        ...(stack !== null && { STACK_FILE: stack }),
        ...(behind.length > 0 && { TEST_PROVIDERS: behind.join(',') }),
      },
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

/** The checks that run nothing. */
async function checkSources(phases: ReadonlySet<Phase>): Promise<readonly Result[]> {
  const types = () => quiet('Types', [TSC, '-p', 'tsconfig.tests.json']);
  const lint = [
    // The types of all projects at once need more than Node's own limit.
    () => quiet('Lint: ESLint', ['--max-old-space-size=6144', bin('eslint', 'bin/eslint.js'), '.']),
    () =>
      quiet('Lint: imports between packages', [
        bin('dependency-cruiser', 'bin/dependency-cruiser.mjs'),
        '--config',
        '.dependency-cruiser.mjs',
        'packages',
        'services',
        'infra',
      ]),
    () => quiet('Lint: format (npm run format)', [bin('prettier', 'bin/prettier.cjs'), '--check', ...FORMATTED]),
    () => quiet('Lint: unused files, exports and dependencies', [bin('knip', 'bin/knip.js')]),
  ];
  if (phases.has('types') || phases.has('lint')) await compiled;
  const chosen = [...(phases.has('types') ? [types] : []), ...(phases.has('lint') ? lint : [])];
  return await Promise.all(chosen.map((run) => run()));
}

/** A failed project does not stop the others. */
async function runTests(phases: ReadonlySet<Phase>, folder: string): Promise<readonly Result[]> {
  if (isWhole) await rm(responsesFile, { force: true });
  const unit = async (): Promise<readonly Result[]> =>
    phases.has('unit') ? [await jest(['unit'], 'unit', folder, null)] : [];
  const results = ON_A_STACK.some((phase) => phases.has(phase)) ? await testOnStack(unit, folder) : await unit();
  return [
    ...results,
    ...(isWhole ? [await out.step(`${API_DOCUMENT} names a test for each response`, checkApiDocument)] : []),
  ];
}

/** The tests on a stack; `before` runs while it starts. */
async function testOnStack(before: () => Promise<readonly Result[]>, folder: string): Promise<readonly Result[]> {
  const starting = compiled.then(() =>
    out.step('Start a stack for the tests', () => startTestStack(main, path.join(folder, 'data'), process.env)),
  );
  const inTurn = async (): Promise<readonly Result[]> => {
    const results = [...(await before())];
    const { file } = await starting;
    const apart = APART.filter((phase) => phases.has(phase));
    if (apart.length > 0) results.push(await jest(apart, 'onStack', folder, file));
    if (phases.has('providers'))
      for (const round of rounds) results.push(await jest(['e2e'], 'onStack', folder, file, round));
    if (phases.has('drills')) results.push(await jest(['drills'], 'drills', folder, file));
    return results;
  };
  // Those of `stack` run one after another and mostly wait, for blocks and for the browser: beside all others.
  const ofStack = async (): Promise<readonly Result[]> => {
    const { file } = await starting;
    return phases.has('e2e') ? [await jest(['stack'], 'stack', folder, file)] : [];
  };
  const [first, second] = await Promise.allSettled([inTurn(), ofStack()]);
  const stack = await starting;
  await out.step('Stop the stack', () => stack.stop());
  return [first, second].flatMap((lane) => {
    if (lane.status === 'rejected') throw lane.reason;
    return lane.value;
  });
}

/** The arguments; null after a message that says what is wrong with them. */
function argumentsOrNull(): TestArguments | null {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    out.line(reason(error));
    return null;
  }
}

const given = argumentsOrNull();
if (given === null || given.help) {
  // Scripts that count tests read the last line.
  process.stdout.write(given === null ? '0 passed, 1 failed\n' : `${HELP}\n`);
  process.exit(given === null ? 64 : 0);
}
const { phases, paths, providers } = given;
/** Whether every test runs that the API document names: only then are their responses recorded. */
const isWhole = paths.length === 0 && TESTS.every((phase) => phases.has(phase));
const folder = await mkdtemp(path.join(os.tmpdir(), 'pf-test-'));
let result: Result = { passed: 0, failed: 1 };
/** The profiles before the chains, of each run of the phase `providers`. */
let rounds: readonly (readonly string[])[] = [];
try {
  rounds = roundsOf(providers);
  const total = sum((await Promise.all([checkSources(phases), runTests(phases, folder)])).flat());
  if (total.passed + total.failed === 0) throw new Error(`No test matches ${paths.join(', ')}.`);
  result = total;
} catch (error) {
  out.line(`\n${reason(error)}`);
}
if (result.failed === 0) await rm(folder, { recursive: true });
else out.line(`\nThe logs of this run are in ${folder}`);
process.stdout.write(`\n${result.passed} passed, ${result.failed} failed\n`);
process.exitCode = result.failed === 0 ? 0 : 1;
if (process.connected) process.disconnect();
