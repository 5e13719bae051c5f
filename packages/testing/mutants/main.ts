import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Mutant, mutants } from './mutants.ts';

/**
 * Takes each guard of the architecture's invariants out, one at a time, in a copy of the sources, and runs the test that
 * is named to hold it. Passes only if every named test passes with its guard and fails without it. The table goes into
 * docs/reliability.md. Needs a stack (STACK_FILE), as the integration tests do.
 */
const root = path.join(import.meta.dirname, '../../..');
const DOC = 'docs/reliability.md';
const MARKS = ['<!-- mutants -->', '<!-- /mutants -->'] as const;
const only = process.argv[2];

/** A copy whose packages link to each other, and to the same installed dependencies. */
function copySources(): string {
  const copy = mkdtempSync(path.join(tmpdir(), 'pf-mutants-'));
  for (const entry of ['packages', 'services', 'infra', 'package.json', 'jest.config.mjs', 'tsconfig.base.json', 'tsconfig.json', 'tsconfig.tests.json']) {
    cpSync(path.join(root, entry), path.join(copy, entry), { recursive: true, verbatimSymlinks: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  return copy;
}

type Verdict = 'passed' | 'failed' | 'none ran';

function runTest(copy: string, { test }: Mutant): Verdict {
  // Services that a test starts as processes run compiled.
  const compiled = spawnSync('node_modules/.bin/tsc', ['-b'], { cwd: copy, encoding: 'utf8' });
  if (compiled.status !== 0) throw new Error(`the copy does not compile:\n${compiled.stdout}`);
  const report = path.join(copy, 'report.json');
  rmSync(report, { force: true });
  const escaped = test.name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--runInBand', '--json', `--outputFile=${report}`, '--runTestsByPath', test.file, '-t', escaped];
  spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore', env: { ...process.env, NODE_NO_WARNINGS: '1' }, timeout: 300_000 });
  const result = JSON.parse(readFileSync(report, 'utf8')) as { numPassedTests: number; numFailedTests: number; numRuntimeErrorTestSuites: number };
  if (result.numFailedTests > 0) return 'failed';
  return result.numPassedTests > 0 && result.numRuntimeErrorTestSuites === 0 ? 'passed' : 'none ran';
}

/** Runs `work` with the guard taken out of the copy's source, and puts it back. */
function without<T>(copy: string, { file, guard, instead }: Mutant, work: () => T): T {
  const target = path.join(copy, file);
  const source = readFileSync(target, 'utf8');
  if (source.split(guard).length !== 2) throw new Error(`${file} does not hold exactly once: ${guard}`);
  writeFileSync(target, source.replace(guard, () => instead));
  try {
    return work();
  } finally {
    writeFileSync(target, source);
  }
}

function writeTable(rows: readonly string[]): void {
  const file = path.join(root, DOC);
  const doc = readFileSync(file, 'utf8');
  const [before, rest] = doc.split(MARKS[0]);
  const after = rest?.split(MARKS[1])[1];
  if (before === undefined || after === undefined) throw new Error(`${DOC} lacks the marks ${MARKS.join(' … ')}`);
  writeFileSync(file, `${before}${MARKS[0]}\n| guard taken out | where | the test that then fails |\n| --- | --- | --- |\n${rows.join('\n')}\n${MARKS[1]}${after}`);
}

const chosen = mutants.filter(({ name }) => only === undefined || name.includes(only));
const copy = copySources();
const problems: string[] = [];
const rows: string[] = [];
try {
  execFileSync('node_modules/.bin/tsc', ['-b'], { cwd: copy, stdio: 'inherit' });
  for (const mutant of chosen) {
    const began = performance.now();
    const intact = runTest(copy, mutant);
    const mutated = intact === 'passed' ? without(copy, mutant, () => runTest(copy, mutant)) : 'none ran';
    const good = intact === 'passed' && mutated === 'failed';
    console.log(`${good ? 'held  ' : 'BROKEN'} ${mutant.name} (with the guard: ${intact}, without: ${mutated}, ${Math.round((performance.now() - began) / 1000)} s)`);
    if (!good) problems.push(mutant.name);
    rows.push(`| ${mutant.name} | \`${mutant.file}\` | ${mutant.test.name} (\`${mutant.test.file}\`) |`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
if (problems.length === 0 && only === undefined) writeTable(rows);
console.log(problems.length === 0 ? `\nEach of ${chosen.length} guards is held by its test.` : `\n${problems.length} of ${chosen.length} guards are not held: ${problems.join('; ')}`);
process.exitCode = problems.length === 0 ? 0 : 1;
