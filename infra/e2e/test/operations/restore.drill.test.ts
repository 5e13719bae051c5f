import { describe, expect, it } from '@jest/globals';
import { drill, problemsOf, summarize } from '@pf/bench/drill';

/** `npm run drill -- CASE` rehearses each case, for as long as it is told. */
describe('the runbook of a lost Kafka', () => {
  it('restores all that is archived, sends no webhook a second time and keeps revoked keys revoked', async () => {
    const said: string[] = [];
    const report = await drill({
      case: 'kafka-lost',
      loadSeconds: 1,
      lagSeconds: 1,
      say: (line) => said.push(line),
    });
    const problems = problemsOf(report);
    expect(problems.length === 0 ? [] : [...problems, ...said, summarize(report)]).toEqual([]);
    expect(report.events).toBeGreaterThan(0);
    expect(report.loss.changes).toBeGreaterThan(0);
  }, 480_000);
});
