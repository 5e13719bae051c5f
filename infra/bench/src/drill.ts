import { parseArgs } from 'node:util';
import { z } from 'zod';
import { problemsOf, summarize } from './drill/report.ts';
import { CASES, drill } from './drill/run.ts';

/**
 * Rehearses a runbook of a restore on a system of its own: load, a disaster, the commands of the runbook, and a look
 * for what is lost, doubled or forgotten. Exits with 1 where something is that the runbook does not name.
 *
 *   npm run drill -- kafka-lost
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    load: { type: 'string', default: '10' },
    lag: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const parsed = z
  .object({
    name: z.enum(CASES),
    load: z.coerce.number().min(1).max(3_600),
    lag: z.coerce.number().min(0).max(3_600),
    json: z.boolean(),
  })
  .safeParse({ name: positionals[0], ...values });
if (!parsed.success) {
  console.error(`Name a case: ${CASES.join(', ')}. Options: --load SECONDS, --lag SECONDS, --json.`);
  process.exitCode = 64;
} else {
  const { name, load, lag, json } = parsed.data;
  const report = await drill({ case: name, loadSeconds: load, lagSeconds: lag, say: (line) => console.error(line) });
  console.log(json ? JSON.stringify(report) : `\n${summarize(report)}`);
  process.exitCode = problemsOf(report).length > 0 ? 1 : 0;
}
