import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to servers and connections that ask for any: until the program listens, which takes
 * seconds on a busy machine, nothing else gets its port by chance. Browsers refuse to open port 10080.
 */
const FIRST = 11_000;
const COUNT = 21_768;
/** Other processes that choose ports begin elsewhere. */
let next = Math.floor(Math.random() * COUNT);

/**
 * Different loopback ports that were free a moment ago, for programs that need their port as a parameter.
 * @throws Error where there are not so many
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries === COUNT) throw new Error(`there are no ${count} free ports from ${FIRST} to ${FIRST + COUNT - 1}`);
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  await once(server.close(), 'close');
  return true;
}
