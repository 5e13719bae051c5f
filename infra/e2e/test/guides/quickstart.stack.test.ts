import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts, readStack, until } from '@pf/testing';
import { z } from 'zod';
import { Guide, readPage, tableUnder } from './guide.ts';

const PAGE = 'docs/guide/quickstart.md';
const root = path.join(import.meta.dirname, '../../../..');
const stack = readStack();
const { dashboard, accountId } = stack;

type Ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;

/** What the browser of a reader does who has signed in. */
async function signedIn(): Promise<Ask> {
  const headers = { origin: dashboard.url, 'content-type': 'application/json' };
  const session = await fetch(`${dashboard.url}/api/sign-in`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: dashboard.email, password: dashboard.password }),
  });
  expect(session.status).toBe(200);
  const cookie = session.headers.getSetCookie().map((set) => set.split(';')[0]);
  return async (method, path, body) => {
    const response = await fetch(`${dashboard.url}/api/accounts/${accountId}${path}`, {
      method,
      headers: { ...headers, cookie: cookie.join('; ') },
      ...(body && { body: JSON.stringify(body) }),
    });
    const content: unknown = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(content)}`);
    return content;
  };
}

const keyMade = z.object({ secret: z.string() });
const endpointMade = z.object({ endpoint: z.object({ id: z.string() }) });
const shown = z.object({ intent: z.object({ state: z.string(), chain: z.string(), amount: z.string() }) });
const history = z.object({ events: z.array(z.object({ type: z.string() })) });
const delivery = z.object({ type: z.string(), url: z.string(), responseStatus: z.number().nullable() });
const tried = z.object({ deliveries: z.array(delivery) });
/** The only line of JSON in what commands print. */
const json = (text: string): unknown => JSON.parse(/^\{".*\}$/m.exec(text)?.[0] ?? '');

describe('the quickstart', () => {
  let guide: Guide;
  let url: string;
  beforeAll(async () => {
    const [port] = await freePorts(1);
    url = `http://127.0.0.1:${port}/webhooks`;
    guide = await Guide.open(PAGE, { 3000: String(port), 'http://127.0.0.1:4000/v1': stack.baseUrl });
  });
  afterAll(() => guide.close());

  it('leads from sign-in to a payment, its events and its deliveries, when it is followed word by word', async () => {
    guide.next('npm start');
    const ask = await signedIn();
    const key = keyMade.parse(await ask('POST', '/keys', { name: 'Quickstart', mode: 'test', scope: 'full' }));
    await guide.terminal.run(guide.next('PF_API_KEY').replace('pk_test_…', key.secret));

    await guide.run('createServer');
    await guide.start('receiver.mjs &', { name: 'receiver' });
    const received = (text: string): Promise<true> =>
      until(text, async () => (await guide.printedBy('receiver')).includes(`${text}\n`));
    const { endpoint } = endpointMade.parse(await ask('POST', '/test/v1/webhook-endpoints', { url }));
    const greeting = { method: 'POST', body: '{"type": "hello", "data": {}}' };
    await until('the receiver to listen', async () => (await fetch(url, greeting)).ok);
    await ask('POST', `/test/v1/webhook-endpoints/${endpoint.id}/test`, {});
    await received('webhook_endpoint.test ');

    const id = /^pi_\w+$/m.exec(await guide.run('/intents'))?.[0] ?? '';
    await received(`intent.created ${id}`);
    const words = (await tableUnder(PAGE, '6. Pay it')).map(([cell = '']) => cell.replaceAll(/[`…]/g, '').trim());
    expect(words).toEqual(['built', 'signed', 'submitted', 'pending', 'confirmed']);
    expect(await guide.run('npm run pay')).toMatch(
      /^built .+\nsigned .+\nsubmitted .+\n(?:created\n|pending\n)*(?:confirmed|finalized)$/m,
    );
    for (const type of ['pending', 'confirmed', 'finalized']) await received(`intent.${type} ${id}`);

    const { intent } = shown.parse(json(await guide.run('/intents/$ID ')));
    expect(intent).toEqual({ state: 'finalized', chain: stack.chains['base']?.caip2, amount: '12.50' });
    const types = ['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized'];
    const { events } = history.parse(json(await guide.run('/events')));
    expect(events.map(({ type }) => type)).toEqual(types);
    const command = guide.next('/webhooks?intentId=');
    await until('each delivery to be recorded', async () => {
      const { deliveries } = tried.parse(json(await guide.terminal.run(command)));
      const accepted = deliveries.filter((one) => one.url === url && one.responseStatus === 204);
      return (
        accepted
          .map(({ type }) => type)
          .sort()
          .join() === types.toSorted().join()
      );
    });
    expect(guide.left).toEqual([]);
    await ask('DELETE', `/test/v1/webhook-endpoints/${endpoint.id}`);
  });

  it('names what the terminal and the dashboard show', async () => {
    const folder = path.join(root, 'services/dashboard/web/src');
    const files = await readdir(folder, { recursive: true });
    const sources = await Promise.all([
      readFile(path.join(root, 'infra/local/src/stack/summary.ts'), 'utf8'),
      ...files.filter((file) => /\.tsx?$/.test(file)).map((file) => readFile(path.join(folder, file), 'utf8')),
    ]);
    const labels = [...(await readPage(PAGE)).matchAll(/\*\*([^*]+)\*\*/g)].map(([, label = '']) =>
      label.replaceAll(/\s+/g, ' ').replace(' test key', ' {mode} key'),
    );
    expect(labels.length).toBeGreaterThan(10);
    expect(labels.filter((label) => !sources.some((source) => source.includes(label)))).toEqual([]);
  });
});
