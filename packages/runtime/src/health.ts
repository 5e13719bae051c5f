import { createServer, type Server } from 'node:http';
import { boundTo, ConfigurationError } from './config.ts';
import { registerGauge } from './metrics/recording.ts';
import { BackOff } from './pause.ts';
import type { ServiceContext } from './service.ts';

/** Attempts to reach what a process needs at its start: soon at first, then every 5 to 10 s. */
const WAIT_MS = { first: 250, longest: 10_000 } as const;

export interface HealthChecks {
  /** False only if the process makes no progress and should be restarted. */
  live(): boolean;
  /** Each dependency that serving needs; false or a rejection: not ready. Must respond within a second or so. */
  readonly ready: Readonly<Record<string, () => Promise<boolean>>>;
  /** Each dependency that only a part of what is served needs: shown, and readiness does not depend on it. */
  readonly partly?: Readonly<Record<string, () => Promise<boolean>>>;
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

/** What the last readiness probe was told; null before the first one. */
let lastReady: boolean | null = null;
registerGauge('payments.service.ready', () => (lastReady === null ? [] : [[lastReady ? 1 : 0, {}]]));

/** Checks all dependencies at once and names those that are unavailable. */
export async function readiness(checks: HealthChecks): Promise<HealthResponse> {
  const resultsOf = (some: HealthChecks['ready']): Promise<(readonly [string, boolean])[]> =>
    Promise.all(Object.entries(some).map(async ([name, check]) => [name, await check().catch(() => false)] as const));
  const [needed, partly] = await Promise.all([resultsOf(checks.ready), resultsOf(checks.partly ?? {})]);
  const results = [...needed, ...partly];
  for (const [name, up] of results) lastResults.set(name, up);
  const ready = needed.every(([, up]) => up);
  const reports = Object.entries(checks.reports ?? {}).map(([name, report]) => [name, report()] as const);
  return {
    status: ready ? 200 : 503,
    body: {
      status: !ready ? 'unavailable' : partly.every(([, up]) => up) ? 'ok' : 'degraded',
      checks: Object.fromEntries(results.map(([name, up]) => [name, up ? 'ok' : 'unavailable'])),
      ...Object.fromEntries(reports),
    },
  };
}

/** Serves GET /healthz and /readyz. Resolves when it listens. */
export async function serveHealth(host: string, port: number, checks: HealthChecks): Promise<Server> {
  return await listen(
    host,
    port,
    () => liveness(checks),
    () => readiness(checks),
  );
}

async function listen(
  host: string,
  port: number,
  live: () => HealthResponse,
  ready: () => Promise<HealthResponse>,
): Promise<Server> {
  const server = createServer((request, response) => {
    const result =
      request.url === '/healthz'
        ? Promise.resolve(live())
        : request.url === '/readyz'
          ? ready()
          : Promise.resolve({ status: 404, body: { status: 'not found' } });
    void result.then(({ status, body }) => {
      if (request.url === '/readyz') lastReady = status === 200;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, boundTo(host), resolve));
  return server;
}

/** The probes of a process from its first moment on: live while it waits for what it needs, not ready. */
export interface StartingHealth {
  /**
   * Resolves with what `attempt` resolves with; until then tries again and again, with growing pauses. So a process
   * that starts while a dependency is unavailable, or before the migrations have run, waits instead of ending.
   *
   * @param dependency its name in /readyz and in the log
   * @throws ConfigurationError of `attempt`: waiting does not help
   */
  until<Result>(dependency: string, attempt: () => Promise<Result>): Promise<Result>;
  /** The start is over: from now on these checks count. */
  serve(checks: HealthChecks): void;
}

/** Serves GET /healthz and /readyz until the service has shut down, first of all that it does. */
export async function startHealth(
  host: string,
  port: number,
  { log, onShutdown }: Pick<ServiceContext, 'log' | 'onShutdown'>,
): Promise<StartingHealth> {
  const waitsFor = new Set<string>();
  const stopping = new AbortController();
  let checks: HealthChecks | null = null;
  const server = await listen(
    host,
    port,
    () => (checks ? liveness(checks) : { status: 200, body: { status: 'starting' } }),
    async () =>
      checks ? await readiness(checks) : { status: 503, body: { status: 'starting', waits_for: [...waitsFor] } },
  );
  onShutdown('health', () => {
    stopping.abort();
    server.close();
  });
  return {
    async until(dependency, attempt) {
      const backOff = new BackOff(WAIT_MS.first, WAIT_MS.longest);
      for (;;) {
        try {
          const result = await attempt();
          if (waitsFor.delete(dependency)) log.info({ dependency }, 'the dependency is available: the start continues');
          lastResults.set(dependency, true);
          return result;
        } catch (error) {
          if (error instanceof ConfigurationError) throw error;
          waitsFor.add(dependency);
          lastResults.set(dependency, false);
          log.warn({ err: error, dependency }, 'the start waits for a dependency');
        }
        await backOff.wait(stopping.signal);
        // The service shuts down: its start goes no further, and fails no more.
        if (stopping.signal.aborted) await new Promise(() => undefined);
      }
    },
    serve(known) {
      checks = known;
      // In the order of the shutdown: before all that was opened for them.
      onShutdown('probes', () => server.close());
    },
  };
}
