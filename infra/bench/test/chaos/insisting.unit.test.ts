import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { InsistingRequests } from '../../src/chaos/insisting.ts';

describe('requests that insist', () => {
  const servers: Server[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  /** Breaks as many connections as told, then answers. */
  async function gatewayThatBreaks(connections: number): Promise<string> {
    let left = connections;
    const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
      if (left-- > 0) request.destroy();
      else response.end('{}');
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const ask = (url: string) => async () => {
    const response = await fetch(url, { headers: { connection: 'close' } });
    return { status: response.status, headers: response.headers, body: (await response.json()) as never };
  };

  it('repeat a request whose connection broke, and count it as unanswered, not as failed', async () => {
    const url = await gatewayThatBreaks(2);
    const requests = new InsistingRequests();
    await requests.send('create', [200], ask(url));
    expect({ failures: requests.failures, unanswered: requests.unanswered }).toEqual({ failures: [], unanswered: 2 });
  });

  it('report a response that the contract forbids', async () => {
    const requests = new InsistingRequests();
    await requests.send('create', [201], ask(await gatewayThatBreaks(0)));
    expect(requests.failures).toEqual([expect.stringContaining('create: 200')]);
  });
});
