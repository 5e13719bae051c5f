import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetConnection } from '@pf/testing';

/**
 * What a Service of Kubernetes is to clients: each new connection goes to the next endpoint, and stays with it to its
 * end, also after the endpoint was taken out. It knows nothing of HTTP and repeats nothing.
 */
export interface Front {
  readonly url: string;
  /** How many endpoints get connections. */
  readonly size: number;
  add(endpoint: string): void;
  /** New connections do not go there any more; the open ones stay. */
  remove(endpoint: string): void;
  /** Refuses new connections and ends the open ones. */
  close(): void;
}

/** The services that clients connect to. */
const ENTRANCES = ['gateway', 'dashboard', 'checkout'] as const;
type Entrance = (typeof ENTRANCES)[number];
export type Fronts = Readonly<Record<Entrance, Front>>;

export const isEntrance = (service: string): service is Entrance => ENTRANCES.some((entrance) => entrance === service);

/** Starts a front for each service that has one. */
export async function startFronts(): Promise<Fronts> {
  const [gateway, dashboard, checkout] = await Promise.all([startFront(), startFront(), startFront()]);
  return { gateway, dashboard, checkout };
}

/** Starts a front without endpoints on a free port of loopback. */
export async function startFront(): Promise<Front> {
  const endpoints: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (inbound) => {
    const next = endpoints.shift();
    if (next === undefined) {
      inbound.destroy();
      return;
    }
    endpoints.push(next);
    const { hostname, port } = new URL(next);
    const outbound = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    inbound.pipe(outbound).pipe(inbound);
    // A reset of one side is a reset of the other: the client sees what it would without us.
    for (const [one, other] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(one);
      one.on('error', () => resetConnection(other));
      one.once('close', () => {
        sockets.delete(one);
        other.destroySoon();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get size() {
      return endpoints.length;
    },
    add: (endpoint) => void endpoints.push(endpoint),
    remove(endpoint) {
      const index = endpoints.indexOf(endpoint);
      // One that was never added is no reason to remove another.
      if (index >= 0) endpoints.splice(index, 1);
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
