import { createServer, type Server } from 'node:http';
import { registerGauge } from './metrics/recording.ts';

export interface HealthChecks {
  /** False only if the process makes no progress and should be restarted. */
  live(): boolean;
  /** Each dependency that serving needs; false or a rejection: not ready. Must respond within a second or so. */
  readonly ready: Readonly<Record<string, () => Promise<boolean>>>;
  /** More for operators in the body, by name; readiness does not depend on it. */
  readonly reports?: Readonly<Record<string, () => unknown>>;
}

export interface HealthResponse {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, unknown>>;
}

export const liveness = (checks: HealthChecks): HealthResponse =>
  checks.live() ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'stuck' } };

/** Results of the last probe, by dependency: the metrics report these and probe nothing themselves. */
const lastResults = new Map<string, boolean>();
registerGauge('payments.dependency.up', () => [...lastResults].map(([dependency, up]) => [up ? 1 : 0, { dependency }]));

/** Checks all dependencies at once and names those that are unavailable. */
export async function readiness(checks: HealthChecks): Promise<HealthResponse> {
  const results = await Promise.all(
    Object.entries(checks.ready).map(async ([name, check]) => [name, await check().catch(() => false)] as const),
  );
  for (const [name, up] of results) lastResults.set(name, up);
  const ready = results.every(([, up]) => up);
  const reports = Object.entries(checks.reports ?? {}).map(([name, report]) => [name, report()] as const);
  return {
    status: ready ? 200 : 503,
    body: {
      status: ready ? 'ok' : 'unavailable',
      checks: Object.fromEntries(results.map(([name, up]) => [name, up ? 'ok' : 'unavailable'])),
      ...Object.fromEntries(reports),
    },
  };
}

/** Serves GET /healthz and /readyz, for services without another HTTP server. Resolves when it listens. */
export async function serveHealth(host: string, port: number, checks: HealthChecks): Promise<Server> {
  const server = createServer((request, response) => {
    const result =
      request.url === '/healthz'
        ? Promise.resolve(liveness(checks))
        : request.url === '/readyz'
          ? readiness(checks)
          : Promise.resolve({ status: 404, body: { status: 'not found' } });
    void result.then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return server;
}
