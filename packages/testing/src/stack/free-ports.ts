import { createSocket, type Socket } from 'node:dgram';
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
 * The ports that were chosen last are claimed until the programs listen: other processes choose ports, too, and find a
 * port free that no program listens on yet. A claim is a socket of UDP on the same port, which one process alone can
 * have and no program here wants, and which ends with the process.
 */
const claims: Socket[] = [];
const CLAIMS_MAX = 200;

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
    if ((await claim(port)) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

/** @returns false if it is claimed already */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  const isBound = await bound(() => socket.bind({ port, address: '127.0.0.1', exclusive: true }));
  if (!isBound) return false;
  claims.push(socket);
  if (claims.length > CLAIMS_MAX) claims.shift()?.close();
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isBound = await bound(() => server.listen(port, '127.0.0.1'));
  if (isBound) await once(server.close(), 'close');
  return isBound;
}

/** @returns false if something else has the port */
async function bound(bind: () => NodeJS.EventEmitter): Promise<boolean> {
  try {
    await once(bind(), 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
