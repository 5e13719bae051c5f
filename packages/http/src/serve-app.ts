import type { RequestListener } from 'node:http';
import type { ServiceContext, StartingHealth } from '@pf/runtime';
import { HttpServer } from './server.ts';

/** A dependency that does not respond to a probe within this time is unavailable. */
const PROBE_MS = 1_000;

interface Serving {
  readonly host: string;
  readonly port: number;
  readonly health: StartingHealth;
  /** For how long an idle connection is kept. */
  readonly keepAliveSeconds: number;
  /** Connections of clients; further ones are closed. */
  readonly clientsMax: number;
  /** Ready while its database is. */
  readonly database: { ready(withinMs: number): Promise<boolean> };
  /** Ends the streams. The service is not ready anymore then, so that their clients reconnect to another process. */
  readonly endStreams: () => void;
}

/** Serves requests and probes until the service shuts down. @returns the port */
export async function serveApp(
  app: RequestListener,
  { host, port, health, keepAliveSeconds, clientsMax, database, endStreams }: Serving,
  onShutdown: ServiceContext['onShutdown'],
): Promise<number> {
  const server = new HttpServer(app, { keepAliveTimeout: keepAliveSeconds * 1_000 }, clientsMax);
  health.serve({
    live: () => true,
    ready: {
      database: () => database.ready(PROBE_MS),
      server: () => Promise.resolve(!server.closing),
    },
  });
  const listening = await server.listen(host, port);
  onShutdown('server', async () => {
    const closed = server.close();
    endStreams();
    await closed;
  });
  return listening;
}
