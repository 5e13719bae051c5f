import net from 'node:net';

/** True when a process listens on the loopback port. */
export async function listens(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    const end = (listening: boolean): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.setTimeout(1000, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/** True when the loopback port can be bound: no process uses it. */
export async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Sends bytes to a loopback port and returns the first bytes of the response.
 * @throws Error when no process listens or none responds within a second
 */
export async function ask(port: number, bytes: Uint8Array): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(1000, () => fail(new Error(`no response on port ${port}`)));
    socket.once('error', fail);
    socket.once('connect', () => socket.write(bytes));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data);
    });
  });
}
