import { expect } from '@jest/globals';
import { type Case, drill, problemsOf, summarize } from '@pf/bench/drill';

/** `npm run drill -- CASE` rehearses each case, for as long as it is told. */
export async function restoresAfter(name: Case): Promise<void> {
  const said: string[] = [];
  const report = await drill({ case: name, loadSeconds: 1, lagSeconds: 1, say: (line) => said.push(line) });
  const problems = problemsOf(report);
  expect(problems.length === 0 ? [] : [...problems, ...said, summarize(report)]).toEqual([]);
  expect(report.events).toBeGreaterThan(0);
  expect(report.loss.changes).toBeGreaterThan(0);
}

/** Of one case. */
export const RESTORE_MS = 900_000;
