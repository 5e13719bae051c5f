import { createServer, type Server } from 'node:http';
import { registerGauge } from './metrics/recording.ts';

export interface HealthChecks {
  /** False only where the process makes no progress and should be restarted. */
  live(): boolean;
  /** Each part that is needed to serve; false or a rejection: not ready. Must answer within a second or so. */
  readonly ready: Readonly<Record<string, () => Promise<boolean>>>;
  /** What else an operator wants to see in the body, by name; readiness does not depend on it. */
  readonly reports?: Readonly<Record<string, () => unknown>>;
}

export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly body: Readonly<Record<string, unknown>>;
}

export const liveness = (checks: HealthChecks): HealthAnswer =>
  checks.live() ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'stuck' } };

/** What the last probe found, by part: for the metrics, which ask nobody themselves. */
const answered = new Map<string, boolean>();
registerGauge('payments.dependency.up', () => [...answered].map(([dependency, up]) => [up ? 1 : 0, { dependency }]));

/** Asks all parts at once and names those that are away. */
export async function readiness(checks: HealthChecks): Promise<HealthAnswer> {
  const parts = await Promise.all(
    Object.entries(checks.ready).map(async ([name, check]) => [name, await check().catch(() => false)] as const),
  );
  for (const [name, up] of parts) answered.set(name, up);
  const ready = parts.every(([, up]) => up);
  const reports = Object.entries(checks.reports ?? {}).map(([name, report]) => [name, report()] as const);
  return {
    status: ready ? 200 : 503,
    body: {
      status: ready ? 'ok' : 'unavailable',
      checks: Object.fromEntries(parts.map(([name, up]) => [name, up ? 'ok' : 'unavailable'])),
      ...Object.fromEntries(reports),
    },
  };
}

/** GET /healthz and /readyz, for services that speak no HTTP otherwise. Resolves when listening. */
export async function serveHealth(host: string, port: number, checks: HealthChecks): Promise<Server> {
  const server = createServer((request, response) => {
    const answer =
      request.url === '/healthz'
        ? Promise.resolve(liveness(checks))
        : request.url === '/readyz'
          ? readiness(checks)
          : Promise.resolve({ status: 404, body: { status: 'not found' } });
    void answer.then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return server;
}
