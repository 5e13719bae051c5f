import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Lifeline } from '../../src/kafka/lifeline.ts';

describe('Lifeline', () => {
  const accepted: Socket[] = [];
  const opened: Socket[] = [];
  let server: net.Server;
  beforeEach(async () => {
    server = net.createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const socket of [...opened.splice(0), ...accepted.splice(0)]) socket.destroy();
    await once(server.close(), 'close');
  });

  /** What the library does: it handles the end and errors of a connection, and nothing else. */
  async function connect(lifeline: Lifeline): Promise<{ readonly socket: Socket; readonly lost: Promise<unknown> }> {
    const connected = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<unknown>();
    const { port } = server.address() as AddressInfo;
    const factory = lifeline.over(({ host, port: at, onConnect }) => net.connect({ host, port: at }, onConnect));
    const socket = factory({ host: '127.0.0.1', port, ssl: {}, onConnect: connected.resolve });
    opened.push(socket);
    socket.on('end', () => lost.resolve('end'));
    socket.on('error', (error) => {
      lost.resolve(error.message);
      connected.reject(error);
    });
    await connected.promise;
    return { socket, lost: lost.promise };
  }

  it('ends all connections and the work in progress when one connection is lost', async () => {
    const lifeline = new Lifeline();
    const [first, second] = [await connect(lifeline), await connect(lifeline)];
    const work = lifeline.during(() => new Promise<never>(() => undefined));
    accepted[0]?.destroy();
    await expect(work).rejects.toThrow('The connection to a broker was lost.');
    expect(await first.lost).toBe('end');
    // The library would take a connection that was closed without an error for open, and wait for responses.
    expect(await second.lost).toBe('Another connection of this client was lost.');
    expect(lifeline.isCut).toBe(true);
  });

  it('refuses connections until it is repaired', async () => {
    const lifeline = new Lifeline();
    const { lost } = await connect(lifeline);
    accepted[0]?.destroy();
    await lost;
    await once(opened[0] as Socket, 'close');
    await expect(connect(lifeline)).rejects.toThrow('A connection of this client was lost.');
    lifeline.repair();
    await connect(lifeline);
    expect(await lifeline.during(async () => 'done')).toBe('done');
  });
});
