import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createEventLog } from '../../src/index.ts';

/** As long as a process may take to leave after SIGTERM, with much to spare until it is killed. */
const PROMPT_MS = 6_000;

describe('A member that joins its group', () => {
  const accepted: Socket[] = [];
  let hanging: net.Server;
  beforeEach(async () => {
    hanging = net.createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
  });
  afterEach(async () => {
    await shutDown();
  });
  async function shutDown(): Promise<void> {
    if (!hanging.listening) return;
    const closed = once(hanging.close(), 'close');
    for (const socket of accepted.splice(0)) socket.destroy();
    await closed;
  }

  it.each([
    ['accepts connections and does not respond', () => (hanging.address() as AddressInfo).port],
    ['accepts no connections', () => 9],
  ])('stops promptly while the broker %s', async (_what, port) => {
    const log = createEventLog({ brokers: [`127.0.0.1:${port()}`], partitions: 2, clientId: 'test' });
    const group = log.group(
      'webhook',
      'intent.events',
      { positions: async () => new Map(), handle: async () => true },
      () => undefined,
    );
    const starting = group.start();
    if (port() !== 9) await once(hanging, 'connection');
    const began = performance.now();
    await group.stop();
    expect(performance.now() - began).toBeLessThan(PROMPT_MS);
    await shutDown();
    await starting.catch(() => undefined);
  });
});
