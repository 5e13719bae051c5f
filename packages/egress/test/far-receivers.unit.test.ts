import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Resolve } from '../src/resolver.ts';
import { createSender } from '../src/sender.ts';

/** In a thread of its own, so that it can stop accepting connections: the system drops what exceeds the backlog. */
const RECEIVER = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((_request, response) => response.writeHead(204).end());
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => parentPort.postMessage(server.address().port));
  parentPort.once('message', () => {
    parentPort.postMessage('held');
    Atomics.wait(workerData, 0, 0);
  });
`;
/** Nothing routes it (RFC 6666). */
const UNREACHABLE = { address: '100::1', family: 6 };

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean();
});

/** A receiver that hears of a connection only when the kernel asks for it again, a second later. */
async function farReceiver(): Promise<{ readonly port: number; readonly release: () => void }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const release = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  const worker = new Worker(RECEIVER, { eval: true, workerData: gate });
  cleanUp.push(() => worker.terminate(), release);
  const [port] = (await once(worker, 'message')) as [number];
  worker.postMessage('hold');
  await once(worker, 'message');
  const waiting: Socket[] = Array.from({ length: 2 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  cleanUp.push(() => waiting.forEach((socket) => socket.destroy()));
  await Promise.all(waiting.map((socket) => once(socket, 'connect')));
  return { port, release };
}

describe('A receiver that is far away, with IPv4 and IPv6', () => {
  it('gets what is sent, though the network has no IPv6', async () => {
    const { port, release } = await farReceiver();
    const resolve: Resolve = async () => {
      // Node's own limit of an attempt is 250 ms.
      setTimeout(release, 500);
      return [{ address: '127.0.0.1', family: 4 }, UNREACHABLE];
    };
    const sender = createSender({ allowPrivate: true, resolve });
    cleanUp.push(() => sender.close());
    const began = performance.now();
    const sent = await sender.send(`http://far.example:${port}/`, {}, Buffer.from('{}'));
    expect(sent).toMatchObject({ kind: 'response', status: 204 });
    expect(performance.now() - began).toBeGreaterThan(500);
  });
});
