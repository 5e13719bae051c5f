import { describe, expect, it } from '@jest/globals';
import { CASES, drill, problemsOf, summarize } from '@pf/bench/drill';

/** `npm run drill -- CASE` rehearses the same, for as long as it is told. */
describe('the runbook of a restore', () => {
  it.each(CASES)(
    'loses nothing that is archived, sends no webhook a second time and keeps revoked keys revoked in the case %s',
    async (name) => {
      const said: string[] = [];
      const report = await drill({ case: name, loadSeconds: 1, lagSeconds: 1, say: (line) => said.push(line) });
      const problems = problemsOf(report);
      expect(problems.length === 0 ? [] : [...problems, ...said, summarize(report)]).toEqual([]);
      expect(report.events).toBeGreaterThan(0);
      // The log is the truth: what becomes of Postgres loses none of it.
      if (name === 'postgres-earlier') expect(report.loss.changes).toBe(0);
      else expect(report.loss.changes).toBeGreaterThan(0);
    },
    480_000,
  );
});
