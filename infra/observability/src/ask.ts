// pnpm --filter @pf/observability ask http://127.0.0.1:4041: asks a running Prometheus what every panel of the dashboards asks,
// and tells which got nothing, and which alerts fire.
import { z } from 'zod';
import { DASHBOARDS } from './dashboards.ts';
import { queriesOf } from './panels.ts';

const answer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.object({ result: z.array(z.unknown()) }) }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);
const alerts = z.object({
  data: z.object({
    alerts: z.array(
      z.object({
        labels: z.record(z.string(), z.string()),
        state: z.string(),
        annotations: z.record(z.string(), z.string()),
      }),
    ),
  }),
});

const [base] = process.argv.slice(2);
if (base === undefined || !URL.canParse(base)) {
  process.stderr.write('Which Prometheus? For example: pnpm --filter @pf/observability ask http://127.0.0.1:4041\n');
  process.exit(64);
}
const get = async (path: string): Promise<unknown> => (await fetch(new URL(path, base))).json();

let asked = 0;
let empty = 0;
for (const dashboard of DASHBOARDS) {
  for (const query of queriesOf(dashboard)) {
    const got = answer.parse(await get(`/api/v1/query?query=${encodeURIComponent(query)}`));
    asked += 1;
    if (got.status === 'success' && got.data.result.length > 0) continue;
    empty += 1;
    process.stdout.write(`${dashboard.title ?? ''}: ${got.status === 'error' ? got.error : 'nothing'}: ${query}\n`);
  }
}
for (const { labels, state, annotations } of alerts.parse(await get('/api/v1/alerts')).data.alerts)
  process.stdout.write(
    `${state}: ${labels['alertname'] ?? ''} (${labels['severity'] ?? ''}) ${annotations['summary'] ?? ''}\n`,
  );
process.stdout.write(`${asked - empty} of ${asked} queries got something\n`);
