import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

/** The result of the tests of a name: those of a table are several. */
export interface Verdict {
  readonly passed: boolean;
  /** The first line of what the first failed one said. */
  readonly reason: string;
}

export interface TestRun {
  /** Of the workspace. */
  readonly root: string;
  readonly file: string;
  /** Parts of the tests' full names; no others run. */
  readonly names: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const LONGEST_MS = 300_000;
/** Characters of Jest's last words. */
const SAID_MAX = 4_000;
const report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string().nullable()) }),
      ),
    }),
  ),
});
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Runs tests of one file by their names.
 * @returns the result of each name: failed, where they do not end; a name of which no test ran is missing
 * @throws Error where Jest ended without a report, or `signal` aborted
 */
export async function runTests({ root, file, names, env, signal }: TestRun): Promise<ReadonlyMap<string, Verdict>> {
  signal.throwIfAborted();
  const output = path.join(root, 'report.json');
  await rm(output, { force: true });
  // What a test without its guard leaves open must not hide its result.
  const args = [
    'node_modules/jest/bin/jest.js',
    '--testEnvironment=./infra/jest/environment.mjs',
    '--runInBand',
    '--forceExit',
    '--json',
    `--outputFile=${output}`,
    '--runTestsByPath',
    file,
    '-t',
    names.map(escaped).join('|'),
  ];
  const jest = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...env, NODE_NO_WARNINGS: '1' },
    detached: true,
  });
  const exited = once(jest, 'exit');
  let said = '';
  jest.stderr.on('data', (text: Buffer) => (said = (said + text.toString()).slice(-SAID_MAX)));
  // Jest ends by force, and all that it started with it: without its guard a test may not come to its own cleaning up.
  const kill = (): void => {
    try {
      process.kill(-(jest.pid ?? 0), 'SIGKILL');
    } catch {
      // No process is left.
    }
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, LONGEST_MS);
  signal.addEventListener('abort', kill, { once: true });
  await exited;
  clearTimeout(timer);
  signal.removeEventListener('abort', kill);
  kill();
  signal.throwIfAborted();
  if (isLate) return new Map(names.map((name) => [name, { passed: false, reason: 'it did not end' }]));
  const text = await readFile(output, 'utf8').catch((cause: unknown) => {
    throw new Error(`Jest ended without a report of ${file}: ${said}`, { cause });
  });
  const { testResults } = report.parse(JSON.parse(text));
  const ran = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed' || status === 'failed');
  const verdicts = new Map<string, Verdict>();
  for (const name of names) {
    const tests = ran.filter(({ fullName }) => fullName.includes(name));
    if (tests.length === 0) continue;
    const failed = tests.find(({ status }) => status === 'failed');
    verdicts.set(name, { passed: failed === undefined, reason: firstLine(failed?.failureMessages[0] ?? 'passed') });
  }
  return verdicts;
}

const firstLine = (text: string): string => stripVTControlCharacters(text).split('\n')[0] ?? '';
