import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Ports of loopback that were free a moment ago, all different: for programs that must be told where to listen. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
