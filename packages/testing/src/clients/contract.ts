import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { ERRORS, type ErrorCode, errorResponse, errorsOf, type Operation, OPERATIONS, statusesOf } from '@pf/contracts';

/** An answer of the API as a client got it. */
export interface ObservedAnswer {
  readonly method: string;
  /** Below the base URL, with its query. */
  readonly path: string;
  readonly status: number;
  /** Parsed JSON; absent for a stream. */
  readonly body?: unknown;
}

const matchers = Object.values(OPERATIONS).map((operation: Operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The operation that a request asks for; null for what is none: an unknown path or method. */
export function operationOf(method: string, asked: string): Operation | null {
  const [pathname = ''] = asked.split('?');
  return (
    matchers.find(({ operation, pattern }) => operation.method === method.toLowerCase() && pattern.test(pathname))
      ?.operation ?? null
  );
}

/**
 * Holds an answer to the contract: its status and code are among those documented for the operation, and its body is as
 * the document says. Every answer that the tests' clients get goes through here, so the document cannot drift from what
 * is answered.
 * @throws Error that says what the document does not know
 */
export function holdToContract({ method, path: asked, status, body }: ObservedAnswer): void {
  const operation = operationOf(method, asked);
  if (operation === null) return;
  const where = `${method} ${operation.path} answered ${status}`;
  if (!statusesOf(operation).includes(status))
    throw new Error(`${where}, which its documentation does not know: ${JSON.stringify(body)}`);
  const success = status < 300 ? operation.responses[status as 200 | 201] : undefined;
  const schema = success === undefined ? errorResponse : success.content['application/json'];
  const checked = body === undefined ? undefined : schema?.safeParse(body);
  if (checked?.success === false)
    throw new Error(`${where} with another body than documented: ${checked.error.message}`, { cause: body });
  if (success === undefined) {
    const { code } = errorResponse.parse(body).error as { code: ErrorCode };
    if (!errorsOf(operation).includes(code)) throw new Error(`${where} ${code}, which its documentation does not know`);
    if (ERRORS[code].status !== status)
      throw new Error(`${where} with ${code}, a code of status ${ERRORS[code].status}`);
  }
  record(operation, status);
}

/** Where a run of all tests keeps what its answers were, as lines of JSON: docs/reference/api.md is made of it. */
function record(operation: Operation, status: number): void {
  const file = process.env['API_ANSWERS'];
  const { currentTestName: test, testPath = '' } = currentTest();
  if (file !== undefined && test !== undefined)
    appendFileSync(
      file,
      `${JSON.stringify({ operation: operation.id, status, test, file: path.basename(testPath) })}\n`,
    );
}

interface JestState {
  readonly currentTestName?: string;
  readonly testPath?: string;
}
/** The test that runs just now, where one does: this code also serves the demo and benchmarks. */
function currentTest(): JestState {
  const { expect } = globalThis as { readonly expect?: { getState(): JestState } };
  return expect?.getState() ?? {};
}
