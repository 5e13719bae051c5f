// pnpm --filter @pf/observability ask http://127.0.0.1:4041: runs the query of every dashboard panel on a Prometheus
// server, and prints which have no result and which alerts fire.
import { z } from 'zod';
import { DASHBOARDS } from './dashboards.ts';
import { queriesOf } from './panels.ts';

const queryResponse = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.object({ result: z.array(z.unknown()) }) }),
  z.object({ status: z.literal('error'), error: z.string() }),
]);
const alertsResponse = z.object({
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
  process.stderr.write(
    'Name the URL of a Prometheus server: pnpm --filter @pf/observability ask http://127.0.0.1:4041\n',
  );
  process.exit(64);
}
const get = async (path: string): Promise<unknown> => (await fetch(new URL(path, base))).json();

let total = 0;
let empty = 0;
for (const dashboard of DASHBOARDS) {
  for (const query of queriesOf(dashboard)) {
    const response = queryResponse.parse(await get(`/api/v1/query?query=${encodeURIComponent(query)}`));
    total += 1;
    if (response.status === 'success' && response.data.result.length > 0) continue;
    empty += 1;
    const problem = response.status === 'error' ? response.error : 'no result';
    process.stdout.write(`${dashboard.title ?? ''}: ${problem}: ${query}\n`);
  }
}
for (const { labels, state, annotations } of alertsResponse.parse(await get('/api/v1/alerts')).data.alerts)
  process.stdout.write(
    `${state}: ${labels['alertname'] ?? ''} (${labels['severity'] ?? ''}) ${annotations['summary'] ?? ''}\n`,
  );
process.stdout.write(`${total - empty} of ${total} queries have a result\n`);
