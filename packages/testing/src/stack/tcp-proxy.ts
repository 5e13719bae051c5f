import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A TCP proxy that a test can cut, so that one process loses Postgres or Redis. It does not work for Kafka, whose
 * clients connect to the addresses that the brokers advertise, unless a broker advertises the proxy.
 */
export interface TcpProxy {
  /** host:port to connect to. */
  readonly address: string;
  /** Resets every connection and refuses new ones, like a killed server. */
  cut(): Promise<void>;
  /**
   * Keeps connections and accepts new ones, but forwards nothing: a hanging server, or a network that drops packets.
   */
  freeze(): void;
  /** Undoes both. */
  restore(): Promise<void>;
  /** Leads to another server from now on, host:port. Resets every connection, as a failover does. */
  lead(target: string): Promise<void>;
  /** The number of open connections. */
  connections(): number;
  close(): Promise<void>;
}

/** Resets a connection. One that is being shut down is closed: Node cannot reset it, and would leave it open. */
export const resetConnection = (socket: Socket): void =>
  void (socket.writableEnded ? socket.destroy() : socket.resetAndDestroy());

/** @param target host:port */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  let { hostname, port: targetPort } = new URL(`tcp://${target}`);
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((inbound) => {
    const outbound = connect(Number(targetPort), hostname);
    for (const [from, to] of [
      [inbound, outbound],
      [outbound, inbound],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.pipe(to);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      // Reset by one side: the `close` that follows ends the other side, too.
      from.on('error', () => undefined);
      if (frozen) from.pause();
    }
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) resetConnection(socket);
    await closed;
  };
  const port = await listen(0);
  return {
    address: `127.0.0.1:${port}`,
    cut: stop,
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    async restore() {
      frozen = false;
      for (const socket of sockets) socket.resume();
      if (!server.listening) await listen(port);
    },
    async lead(next) {
      ({ hostname, port: targetPort } = new URL(`tcp://${next}`));
      await stop();
      await listen(port);
    },
    connections: () => sockets.size / 2,
    close: stop,
  };
}
