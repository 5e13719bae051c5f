import { gunzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import { OPERATIONS, statusesOf } from '@pf/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BareApp, startBareApp } from '../bare-app.ts';

interface Document {
  readonly paths: Record<
    string,
    Record<string, { readonly operationId: string; readonly responses: Record<string, unknown> }>
  >;
}

describe('the OpenAPI document', () => {
  let app: BareApp;
  beforeAll(async () => {
    app = await startBareApp();
  });
  afterAll(() => app.close());
  const read = (path: string): Promise<Response> => fetch(`${app.url}/v1${path}`);

  it('is valid OpenAPI 3.1 and needs no key', async () => {
    const response = await read('/openapi.json');
    expect(response.headers.get('content-type')).toContain('application/json');
    const validator = new Validator();
    expect(await validator.validate((await response.json()) as Record<string, unknown>)).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  it('lists every operation with every status that it can return', async () => {
    const { paths } = (await (await read('/openapi.json')).json()) as Document;
    const documented = Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId, responses }) => [operationId, Object.keys(responses).map(Number)]);
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries(Object.values(OPERATIONS).map((operation) => [operation.id, statusesOf(operation)])),
    );
  });

  it.each(Object.values(OPERATIONS))(
    'describes an endpoint that is served: $method $path',
    async ({ method, path }) => {
      const response = await fetch(`${app.url}/v1${path.replace('{id}', 'x')}`, { method: method.toUpperCase() });
      // The route exists, and requires a key.
      expect(response.status).toBe(401);
    },
  );

  it('is shown by a page that loads everything from its own origin', async () => {
    const page = await read('/docs');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const html = await page.text();
    const linked = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target ?? '');
    expect(linked.length).toBeGreaterThan(4);
    for (const target of linked)
      expect({ target, status: (await read(`/${target}`)).status }).toEqual({ target, status: 200 });
  });

  it.each([
    { range: 'bytes=0-0' },
    { range: 'bytes=999999999-' },
    { 'if-match': '"another"' },
    { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  ])('comes with files that are sent whole to a client that asks with %j', async (headers: Record<string, string>) => {
    for (const file of ['/docs/swagger-ui.css', '/client.tgz']) {
      const response = await fetch(`${app.url}/v1${file}`, { headers });
      await response.arrayBuffer();
      const { 'content-range': range = null, 'accept-ranges': ranges = null } = Object.fromEntries(response.headers);
      expect([file, response.status, range, ranges]).toEqual([file, 200, null, null]);
    }
  });

  it('comes with the typed client, as a package that needs no key', async () => {
    const response = await read('/client.tgz');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    const packed = gunzipSync(Buffer.from(await response.arrayBuffer())).toString('latin1');
    const manifest = /\{\n {2}"name": "@pf\/client",[^]*?\n\}/.exec(packed)?.[0];
    expect(JSON.parse(manifest ?? '')).toMatchObject({
      version: '1.0.0',
      dependencies: { ky: expect.stringMatching(/^\d/) },
    });
  });
});
