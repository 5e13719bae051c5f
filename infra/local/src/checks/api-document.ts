import { readFile } from 'node:fs/promises';
import { ERRORS, errorsOf, type Operation, OPERATIONS, statusesOf } from '@pf/contracts';
import { z } from 'zod';

export const API_DOCUMENT = 'docs/reference/api.md';
/** What the tests of the last run were answered by the API: written by packages/testing. */
export const ANSWERS_FILE = '.tools/api-answers.jsonl';

const answer = z.object({ operation: z.string(), status: z.number(), test: z.string(), file: z.string() });
/** An answer that a test got from the API. */
export type Answer = z.infer<typeof answer>;

/** The answers of a run, as packages/testing wrote them down. Empty where no test asked the API. */
export async function readAnswers(file: string): Promise<readonly Answer[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => answer.parse(JSON.parse(line)));
}

const operations: readonly Operation[] = Object.values(OPERATIONS);
const cell = (operation: string, status: number): string => `${operation} ${status}`;

/** The tests that saw each status of each operation. */
function testsByCell(answers: readonly Answer[]): ReadonlyMap<string, ReadonlySet<string>> {
  const tests = new Map<string, Set<string>>();
  for (const { operation, status, test } of answers) {
    const key = cell(operation, status);
    tests.set(key, (tests.get(key) ?? new Set()).add(test));
  }
  return tests;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');

/** docs/reference/api.md: each operation, each status it documents, and a test that shows it. */
export function apiDocument(answers: readonly Answer[]): string {
  const tests = testsByCell(answers);
  // How much a test saw: the one that saw least is about this and nothing else.
  const breadth = new Map<string, number>();
  for (const test of [...tests.values()].flatMap((of) => [...of])) breadth.set(test, (breadth.get(test) ?? 0) + 1);
  // What is asked in the middle of an outage is answered this way or that: such a test is the last choice.
  const endToEnd = new Set(answers.filter(({ file }) => /\.(e2e|stack)\./.test(file)).map(({ test }) => test));
  const rank = (test: string): number => (endToEnd.has(test) ? 1000 : 0) + (breadth.get(test) ?? 0);
  const byRank = (one: string, other: string): number => rank(one) - rank(other) || one.localeCompare(other, 'en');
  const parts = operations.map((operation) => {
    const rows = statusesOf(operation).map((status) => {
      const codes = errorsOf(operation).filter((code) => ERRORS[code].status === status);
      const [test = ''] = [...(tests.get(cell(operation.id, status)) ?? [])].sort(byRank);
      return `| ${status} | ${codes.map((code) => `\`${code}\``).join(', ')} | ${escaped(test)} |`;
    });
    return [
      `## ${operation.method.toUpperCase()} ${operation.path}`,
      '',
      operation.summary + '.',
      '',
      '| Status | Codes | Shown by |',
      '|---|---|---|',
      ...rows,
    ].join('\n');
  });
  return [
    '# The API, and the tests that show it',
    '',
    'Each operation with each status that its documentation names, and a test that saw it. Written by `npm run document` from what the tests of the last whole `npm test` were answered; `npm test` fails where a cell is empty or names a test that did not see it. What a request takes and an answer holds: `/v1/docs` of a running stack. What each code means and what to do: [errors.md](errors.md).',
    '',
    ...parts.flatMap((part) => [part, '']),
  ].join('\n');
}

/** What is wrong with the document after a whole run. Empty: nothing. */
export function problemsOf(document: string, answers: readonly Answer[]): readonly string[] {
  const tests = testsByCell(answers);
  const problems: string[] = [];
  for (const operation of operations) {
    const title = `## ${operation.method.toUpperCase()} ${operation.path}\n`;
    const section = document.split(title)[1]?.split('\n## ')[0] ?? '';
    for (const status of statusesOf(operation)) {
      const seen = tests.get(cell(operation.id, status));
      const where = `${operation.method.toUpperCase()} ${operation.path} ${status}`;
      const row = section.split('\n').find((line) => line.startsWith(`| ${status} |`));
      if (seen === undefined) problems.push(`no test saw ${where}`);
      else if (![...seen].some((test) => row?.endsWith(`| ${escaped(test)} |`)))
        problems.push(`docs/reference/api.md names no test that saw ${where}: npm run document`);
    }
  }
  return problems;
}
