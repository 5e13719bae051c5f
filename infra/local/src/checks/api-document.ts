import { readFile } from 'node:fs/promises';
import { ERRORS, errorsOf, type Operation, OPERATIONS, statusesOf } from '@pf/contracts';
import { z } from 'zod';

export const API_DOCUMENT = 'docs/reference/api.md';
/** The responses that tests of the last run got from the API: recorded by packages/testing. */
export const RESPONSES_FILE = '.tools/api-answers.jsonl';

const response = z.object({ operation: z.string(), status: z.number(), test: z.string(), file: z.string() });
/** A response that a test got from the API. */
export type RecordedResponse = z.infer<typeof response>;

/** The responses that packages/testing recorded during a run. Empty where no test called the API. */
export async function readResponses(file: string): Promise<readonly RecordedResponse[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => response.parse(JSON.parse(line)));
}

const operations: readonly Operation[] = Object.values(OPERATIONS);
const cell = (operation: string, status: number): string => `${operation} ${status}`;

/** The tests that saw each status of each operation. */
function testsByCell(responses: readonly RecordedResponse[]): ReadonlyMap<string, ReadonlySet<string>> {
  const tests = new Map<string, Set<string>>();
  for (const { operation, status, test } of responses) {
    const key = cell(operation, status);
    tests.set(key, (tests.get(key) ?? new Set()).add(test));
  }
  return tests;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');

/** docs/reference/api.md: each operation, each status it documents, and a test that shows it. */
export function apiDocument(responses: readonly RecordedResponse[]): string {
  const tests = testsByCell(responses);
  // How many responses a test saw: the test that saw fewest is the most specific.
  const breadth = new Map<string, number>();
  for (const test of [...tests.values()].flatMap((names) => [...names]))
    breadth.set(test, (breadth.get(test) ?? 0) + 1);
  const fileOf = new Map(responses.map(({ test, file }) => [test, file]));
  const operationsOf = new Map<string, Set<string>>();
  for (const { file, operation } of responses)
    operationsOf.set(file, (operationsOf.get(file) ?? new Set()).add(operation));
  const rank = (test: string): number => {
    const file = fileOf.get(test) ?? '';
    // During an outage the response depends on timing: such a test is the last choice. A file about few operations says
    // more about each than a matrix of all.
    const isEndToEnd = /\.(e2e|stack)\./.test(file);
    return (isEndToEnd ? 1000 : 0) + (operationsOf.get(file)?.size ?? 0) + (breadth.get(test) ?? 0);
  };
  const byRank = (one: string, other: string): number => rank(one) - rank(other) || one.localeCompare(other, 'en');
  const sections = operations.map((operation) => {
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
    'After this page you know every operation, the statuses that it documents, and a test that received each one.',
    '`npm run generate` writes it from the responses that the last whole `npm test` recorded; `npm test` fails when a',
    'documented status was not received, or when the test named here did not receive it. For request and response',
    'bodies see `/v1/docs` of a running stack; for what each code means and what to do, see [errors.md](errors.md).',
    '',
    ...sections.flatMap((section) => [section, '']),
  ].join('\n');
}

/** The documented responses that no test saw, as `GET /v1/intents 404`. Empty after a whole run. */
export function unseenResponses(responses: readonly RecordedResponse[]): readonly string[] {
  const tests = testsByCell(responses);
  return operations.flatMap((operation) =>
    statusesOf(operation)
      .filter((status) => !tests.has(cell(operation.id, status)))
      .map((status) => responseOf(operation, status)),
  );
}

const responseOf = ({ method, path }: Operation, status: number): string => `${method.toUpperCase()} ${path} ${status}`;

/** What is wrong with the document after a whole run. Empty: nothing. */
export function problemsOf(document: string, responses: readonly RecordedResponse[]): readonly string[] {
  const tests = testsByCell(responses);
  const problems = unseenResponses(responses).map((response) => `No test saw ${response}.`);
  for (const operation of operations) {
    const title = `## ${operation.method.toUpperCase()} ${operation.path}\n`;
    const section = document.split(title)[1]?.split('\n## ')[0] ?? '';
    for (const status of statusesOf(operation)) {
      const seen = tests.get(cell(operation.id, status));
      const row = section.split('\n').find((line) => line.startsWith(`| ${status} |`));
      if (seen !== undefined && ![...seen].some((test) => row?.endsWith(`| ${escaped(test)} |`)))
        problems.push(
          `${API_DOCUMENT} names no test that saw ${responseOf(operation, status)}. Run \`npm run generate\`.`,
        );
    }
  }
  return problems;
}
