import { AsyncLocalStorage, type AsyncHook, createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Resolve } from '../src/resolver.ts';
import { createSender, type Sender } from '../src/sender.ts';
import { HOSTILE_TARGETS } from './hostile-targets.ts';

/** What a sender does: other files' tests in this process may go on connecting. */
const sending = new AsyncLocalStorage<true>();
const send = (sender: Sender, url: string): ReturnType<Sender['send']> =>
  sending.run(true, () => sender.send(url, {}, Buffer.from('{}')));
const family = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

describe('The sender, told to post to a hostile target', () => {
  /** Connections that senders have begun, by any library. */
  let connections = 0;
  let hook: AsyncHook;
  beforeAll(() => {
    hook = createHook({
      init: (_id, type) => {
        const isConnection = type === 'TCPCONNECTWRAP' || type === 'PIPECONNECTWRAP';
        if (isConnection && sending.getStore() === true) connections += 1;
      },
    }).enable();
  });
  afterAll(() => void hook.disable());

  it('knows many', () => {
    expect(new Set(HOSTILE_TARGETS.map(({ url, addresses }) => `${url} ${addresses.join()}`)).size).toBeGreaterThan(
      1_000,
    );
  });

  it('connects to none of them, directly or through a proxy', async () => {
    const before = connections;
    for (const proxy of [undefined, new URL('http://127.0.0.1:9/')]) {
      const reached: string[] = [];
      for (const { url, addresses } of HOSTILE_TARGETS) {
        const resolve: Resolve = async () => addresses.map((address) => ({ address, family: family(address) }));
        const sender = createSender({ allowPrivate: false, timeoutMs: 30_000, resolve, proxy });
        const sent = await send(sender, url);
        await sender.close();
        if (sent.kind !== 'failed' || connections > before) reached.push(`${url}: ${JSON.stringify(sent)}`);
        if (reached.length > 5) break;
      }
      expect(reached).toEqual([]);
    }
    expect(connections).toBe(before);
  });

  it('is seen to connect to a target that is allowed', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const before = connections;
    const sender = createSender({ allowPrivate: true });
    await send(sender, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await sender.close();
    server.close();
    expect(connections).toBe(before + 1);
  });

  it('follows no redirect to one', async () => {
    const statuses = [300, 301, 302, 303, 304, 305, 307, 308];
    const locations = HOSTILE_TARGETS.flatMap(({ url }, index) => (index % 40 === 0 ? [encodeURI(url)] : []));
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      const [status = 0, location = 0] = (request.url ?? '').split('/').slice(1).map(Number);
      response
        .writeHead(status, { location: locations[location], refresh: `0;url=${locations[location] ?? ''}` })
        .end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sender = createSender({ allowPrivate: true });
    const before = connections;
    for (const [index, status] of statuses.entries())
      for (let location = index; location < locations.length; location += statuses.length) {
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${status}/${location}`;
        expect(await send(sender, url)).toMatchObject({ kind: 'response', status });
      }
    await sender.close();
    server.close();
    expect(asked).toHaveLength(locations.length);
    // Kept connections are used again, and no other is opened.
    expect(connections - before).toBeLessThanOrEqual(locations.length);
  });

  it('asks the name servers once, and connects to what it has checked', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    let asked = 0;
    const rebinding: Resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    const sender = createSender({ allowPrivate: true, resolve: rebinding });
    const url = `http://shop.example:${(server.address() as AddressInfo).port}/`;
    expect(await send(sender, url)).toMatchObject({ kind: 'response', status: 200 });
    await sender.close();
    server.close();
    expect(asked).toBe(1);
  });
});
