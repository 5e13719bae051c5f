import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apiClient, chainOf, freePorts, readStack, until } from '@pf/testing';
import { newWallet } from '@pf/testing/wallets';

const root = path.join(import.meta.dirname, '../../../..');
const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);

/** An example of the client's README, running as a program. */
interface Example {
  output(): string;
  readonly ended: Promise<number | null>;
  stop(): void;
}

describe("the examples of the client's README", () => {
  // Inside packages/testing, so that the examples' imports resolve.
  let folder: string;
  let examples: ReadonlyMap<string, string>;
  const running = new Set<Example>();

  beforeAll(async () => {
    folder = await mkdtemp(path.join(import.meta.dirname, '../../node_modules/.readme-'));
    const readme = await readFile(path.join(root, 'packages/client/README.md'), 'utf8');
    examples = new Map(
      [...readme.matchAll(/^#+ (.+)\n(?:(?!^#)[^])*?^```ts\n([^]*?)^```/gm)].map(([, title = '', code = '']) => [
        title,
        code,
      ]),
    );
  });
  afterAll(async () => {
    for (const example of running) example.stop();
    await Promise.all([...running].map(({ ended }) => ended));
    await rm(folder, { recursive: true });
  });

  async function run(title: string, environment: Record<string, string> = {}): Promise<Example> {
    const code = examples.get(title);
    if (code === undefined)
      throw new Error(`the README has no example under "${title}"; it has ${[...examples.keys()].join(', ')}`);
    const file = path.join(folder, `${title.replaceAll(/\W+/g, '-')}.mts`);
    await writeFile(file, code);
    const env = { ...process.env, PF_BASE_URL: stack.baseUrl, PF_API_KEY: stack.apiKeys.test, ...environment };
    const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', file], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    const example = {
      output: () => output,
      ended: once(child, 'close').then(([exit]) => exit as number | null),
      stop: () => void child.kill(),
    };
    running.add(example);
    return example;
  }
  async function runToEnd(title: string, environment?: Record<string, string>): Promise<string> {
    const example = await run(title, environment);
    expect({ title, code: await example.ended, output: example.output() }).toMatchObject({ code: 0 });
    return example.output();
  }

  it('create an intent and follow it', async () => {
    const example = await run('Ask to be paid');
    const id = await until(
      'the intent to be followed',
      () => /^snapshot created$/m.test(example.output()) && /^(pi_\w+) created$/m.exec(example.output())?.[1],
      60_000,
    );
    expect((await api.simulate(id, 'confirmed')).status).toBe(200);
    expect(await example.ended).toBe(0);
    expect(example.output()).toContain('intent.confirmed confirmed');
  });

  it.each([
    ['Base, with viem', 'base'],
    ['Solana, with @solana/web3.js', 'solana'],
    ['Tempo, with viem', 'tempo'],
  ])('pay on %s', async (title, name) => {
    const chain = chainOf(stack, name);
    const payer = chain.wallets.at(-1);
    const { body } = await api.create({
      chain: chain.caip2,
      token: 'USDC',
      amount: '0.75',
      requestor: newWallet(chain).address,
    });
    const output = await runToEnd(title, { PF_INTENT: body.intent.id, PF_PRIVATE_KEY: payer?.privateKey ?? '' });
    expect(output.trim().split('\n').at(-1)).toBe('confirmed');
    expect((await api.get(body.intent.id)).body.intent.fulfiller).toBe(payer?.address);
  });

  it('open an intent to its payer with a client secret', async () => {
    expect(await runToEnd('With a client secret')).toContain('12.50 USDC 0x70997970C51812dc3A010C7d01b50e0d17dc79C8');
  });

  it('say and hear an intent', async () => {
    const id = 'pi_TEbEEpDcQaW6mkHGogzHDt';
    expect(await runToEnd('Sound', { PF_INTENT: id })).toBe(`${id} 1\n`);
  });

  it('receive webhooks and reject unsigned ones', async () => {
    const [port = 0] = await freePorts(1);
    const example = await run('Webhooks', { PORT: String(port), PF_WEBHOOK_SECRET: stack.webhookSecret });
    const body = JSON.stringify({ eventId: 'evt_1', type: 'intent.confirmed', data: { intent: { id: 'pi_1' } } });
    const send = async (signed: string): Promise<number> => {
      const timestamp = Math.floor(Date.now() / 1_000);
      const signature = createHmac('sha256', Buffer.from(stack.webhookSecret.replace('whsec_', ''), 'base64'))
        .update(`evt_1.${timestamp}.${signed}`)
        .digest('base64');
      const headers = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signature}`,
      };
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status;
    };
    expect(await until('the receiver to listen', () => send(body), 60_000)).toBe(204);
    expect(await send(body.replace('pi_1', 'pi_2'))).toBe(400);
    await until('what it prints', () => example.output().includes('evt_1 intent.confirmed pi_1'));
  });

  it('list intents', async () => {
    expect(await runToEnd('Lists')).toMatch(/^pi_\w+ 0\.75$/m);
  });
});
