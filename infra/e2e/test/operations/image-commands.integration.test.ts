import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, freePorts, readBackingStack, startTcpProxy, type TestDatabase } from '@pf/testing';
import { runCommand } from '../../../docker/test/image-command.ts';

describe('The command health', () => {
  async function health(listener: RequestListener): Promise<number | null> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { code } = await runCommand('health', { HEALTH_PORT: String((server.address() as AddressInfo).port) });
    server.closeAllConnections();
    server.close();
    return code;
  }

  it('exits with 0 while the service says that it is live', async () => {
    const asked: unknown[] = [];
    const code = await health(({ method, url }, response) => {
      asked.push([method, url]);
      response.end(JSON.stringify({ status: 'ok' }));
    });
    expect([code, asked]).toEqual([0, [['GET', '/healthz']]]);
  });

  it.each<[string, RequestListener]>([
    ['says that it is stuck', (_, response) => response.writeHead(503).end()],
    ['does not respond', () => undefined],
    ['closes the connection', ({ socket }) => socket.destroy()],
  ])('exits with 1 when the service %s', async (_, listener) => {
    expect(await health(listener)).toBe(1);
  });

  it('exits with 1 where nothing listens', async () => {
    const [port] = await freePorts(1);
    expect(await runCommand('health', { HEALTH_PORT: String(port) })).toEqual({ code: 1, output: '' });
  });
});

describe('A job that starts before its dependency', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase(readBackingStack().database);
  });
  afterAll(() => database.drop());

  it('waits for the database with one line a try, and then migrates', async () => {
    const url = new URL(database.url);
    const proxy = await startTcpProxy(url.host);
    url.host = proxy.address;
    await proxy.cut();
    const { code, output } = await runCommand('migrate', { DATABASE_URL: url.href }, () => void proxy.restore());
    await proxy.close();
    const lines = output.trim().split('\n');
    expect([code, lines[0]]).toEqual([0, expect.stringContaining('the job waits for a dependency')]);
    expect(output).not.toContain('"stack"');
  });
});
