import { readFile } from 'node:fs/promises';
import { z } from 'zod';

/** How many checks passed and failed. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
}

export const sum = (results: readonly Result[]): Result => ({
  passed: results.reduce((total, { passed }) => total + passed, 0),
  failed: results.reduce((total, { failed }) => total + failed, 0),
});

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numRuntimeErrorTestSuites: z.number(),
  success: z.boolean(),
});

/**
 * Counts the tests in Jest's JSON report. A suite that could not be loaded counts as one failure; so does a run that
 * failed without a failing test: no test found, or a crash before the report.
 */
export async function countJest(reportFile: string): Promise<Result> {
  const text = await readFile(reportFile, 'utf8').catch(() => null);
  if (text === null) return { passed: 0, failed: 1 };
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, success } = report.parse(JSON.parse(text));
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  return { passed: numPassedTests, failed: success ? failed : Math.max(1, failed) };
}
