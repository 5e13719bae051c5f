import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface MemoryS3Options {
  /** False: `If-None-Match` is ignored, as older servers do. `refused`: it is answered with 501. */
  readonly conditional?: boolean | 'refused';
}

/**
 * As much of S3 as the archive uses, in this process: one bucket, any credentials. The drill of the archive runs the
 * same tests on a real server (infra/e2e/test/archive).
 */
export async function startMemoryS3({ conditional = true }: MemoryS3Options = {}): Promise<{
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  close(): Promise<void>;
}> {
  const objects = new Map<string, Buffer>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3');
    const [, bucket, ...path] = pathname.split('/').map(decodeURIComponent);
    const key = path.join('/');
    const fail = (status: number, code: string): unknown =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    const content = await buffer(request);
    if (bucket !== BUCKET) return void fail(404, 'NoSuchBucket');
    if (request.method === 'PUT') {
      const isOnce = request.headers['if-none-match'] === '*';
      if (isOnce && conditional === 'refused') fail(501, 'NotImplemented');
      else if (isOnce && conditional && objects.has(key)) fail(412, 'PreconditionFailed');
      else {
        objects.set(key, content);
        response.end();
      }
    } else if (request.method === 'DELETE') {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (searchParams.has('list-type')) response.end(listing(searchParams, [...objects.keys()].sort()));
    else {
      const found = objects.get(key);
      if (found === undefined) fail(404, 'NoSuchKey');
      else response.end(found);
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
export const BUCKET = 'archive';

function listing(asked: URLSearchParams, keys: readonly string[]): string {
  const prefix = asked.get('prefix') ?? '';
  const after = asked.get('continuation-token') ?? asked.get('start-after') ?? '';
  const wanted = keys.filter((key) => key.startsWith(prefix) && key > after);
  const page = wanted.slice(0, Number(asked.get('max-keys') ?? 1_000));
  const isTruncated = page.length < wanted.length;
  const token = isTruncated ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
  const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
  return `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${contents}${token}</ListBucketResult>`;
}
