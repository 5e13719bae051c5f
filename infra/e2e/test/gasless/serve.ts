import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The response of a process that pays gas for others. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}
/** What it does with a request to a path, such as `/honest`. */
export type Ways<Request> = Readonly<
  Record<string, (request: Request, headers: IncomingHttpHeaders) => Promise<Answer>>
>;

/** Serves these paths, and prints the port. */
export function serve<Request>(ways: Ways<Request>): void {
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const way = ways[request.url ?? ''];
    return way === undefined
      ? { status: 404, body: { error: 'no such way' } }
      : way(JSON.parse(await text(request)) as Request, request.headers);
  };
  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown): Answer => ({ status: 500, body: { error: String(error) } }))
      .then(({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      )
      .catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
}
