import { appendFileSync } from 'node:fs';
import path from 'node:path';
import {
  type Answered,
  ERRORS,
  type ErrorCode,
  errorResponse,
  errorsOf,
  jsonOf,
  type Operation,
  OPERATIONS,
  statusesOf,
} from '@pf/contracts';

/** A response of the API as a client received it. */
export interface ObservedResponse {
  readonly method: string;
  /** Relative to the base URL, with the query. */
  readonly path: string;
  readonly status: number;
  /** Parsed JSON; absent for a stream. */
  readonly body?: unknown;
}

const matchers = Object.values(OPERATIONS).map((operation: Operation) => ({
  operation,
  statuses: new Set(statusesOf(operation)),
  errors: new Set(errorsOf(operation)),
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

function matcherOf(method: string, target: string): (typeof matchers)[number] | undefined {
  const [pathname = ''] = target.split('?');
  return matchers.find(({ operation, pattern }) => operation.method === method.toLowerCase() && pattern.test(pathname));
}

/** The operation of a request; null for an unknown path or method. */
export const operationOf = (method: string, target: string): Operation | null =>
  matcherOf(method, target)?.operation ?? null;

/**
 * Checks a response against the contract: its status and code are documented for the operation, and its body matches
 * the schema. Every response to the tests' clients is checked here, so documentation and behavior cannot diverge.
 * @throws Error that says what is not documented
 */
export function checkAgainstContract({ method, path: target, status, body }: ObservedResponse): void {
  const matcher = matcherOf(method, target);
  if (matcher === undefined) return;
  const { operation, statuses, errors } = matcher;
  const where = `${method} ${operation.path} returned ${status}`;
  if (!statuses.has(status))
    throw new Error(`${where}, which its documentation does not know: ${JSON.stringify(body)}`);
  const success = operation.responses[status as Answered];
  const schema = success === undefined ? errorResponse : jsonOf(operation, status as Answered);
  const checked = body === undefined ? undefined : schema?.safeParse(body);
  if (checked?.success === false)
    throw new Error(`${where} with another body than documented: ${checked.error.message}`, { cause: body });
  if (success === undefined) {
    const { code } = errorResponse.parse(body).error as { code: ErrorCode };
    if (!errors.has(code)) throw new Error(`${where} ${code}, which its documentation does not know`);
    if (ERRORS[code].status !== status)
      throw new Error(`${where} with ${code}, a code of status ${ERRORS[code].status}`);
  }
  record(operation, status);
}

/** The file where a run of all tests records responses as lines of JSON, for docs/reference/api.md. */
function record(operation: Operation, status: number): void {
  const file = process.env['API_ANSWERS'];
  const { currentTestName: test, testPath = '' } = currentTest();
  if (file === undefined || test === undefined) return;
  const line = `${JSON.stringify({ operation: operation.id, status, test, file: path.basename(testPath) })}\n`;
  if (recorded.has(line)) return;
  recorded.add(line);
  appendFileSync(file, line);
}

/** What this test file has recorded: once is enough. */
const recorded = new Set<string>();

interface JestState {
  readonly currentTestName?: string;
  readonly testPath?: string;
}
/** The name of the running test, if any: the demo and benchmarks use this code, too. */
function currentTest(): JestState {
  const { expect } = globalThis as { readonly expect?: { getState(): JestState } };
  return expect?.getState() ?? {};
}
