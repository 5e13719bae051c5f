import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Reference } from '@pf/domain';
import { apiClient, chainOf, freePorts, readStack, type StackWallet, until } from '@pf/testing';
import { walletOn } from '@pf/testing/wallets';
import { Guide, tableUnder } from './guide.ts';

const PAGE = 'docs/guide/accept-a-payment.md';
const root = path.join(import.meta.dirname, '../../../..');
const stack = readStack();
const api = apiClient(stack.baseUrl, stack.apiKeys.test);
const base = chainOf(stack, 'base');
const usdc = base.tokens['USDC'] ?? '';
/** Another payer than the guide's, so that the two do not use each other's nonces. */
const payer = walletOn(base, base.wallets.at(-2) as StackWallet);
const order = String(Date.now());

describe('the guide to accepting a payment', () => {
  let guide: Guide;
  let url: string;
  let endpoint: string;
  beforeAll(async () => {
    const [port] = await freePorts(1);
    url = `http://127.0.0.1:${port}/webhooks`;
    guide = await Guide.open(PAGE, { 3000: String(port), 1042: order });
  });
  afterAll(async () => {
    await guide.close();
    await api.request('DELETE', `/webhook-endpoints/${endpoint}`);
  });

  const told = (): Promise<string> => guide.printedBy('receiver');
  const received = (line: string): Promise<true> =>
    until(line, async () => (await told()).includes(`${line}\n`), 60_000);
  /** The intent of another order, from the guide's program. */
  const create = async (name: string): Promise<string> =>
    /^(pi_\w+) created$/m.exec(await guide.terminal.run(`node create.ts ${order}-${name}`))?.[1] ?? '';
  /** Pays on chain, without `submit`, as payers do who get it wrong. */
  const payDirectly = async (id: string, units: bigint): Promise<string> => {
    const { requestor, reference } = (await api.get(id)).body.intent;
    return payer.pay(usdc, requestor, units, reference as Reference);
  };

  it('leads from an order to its payment and its refund, when it is followed word by word', async () => {
    await guide.run('export PF_BASE_URL');
    await guide.run('npm init');
    const packages = guide.next('npm install').trim().split(' ').slice(2);
    expect(packages).toEqual(['standardwebhooks', 'eventsource-parser', 'viem']);
    await guide.save('retry_after');
    await guide.save('idempotencyKey');
    const id = /^(pi_\w+) created$/m.exec(await guide.run('node create.ts'))?.[1] ?? '';
    await guide.save('signTransaction');
    await guide.save('switch (state)');
    await guide.save('webhook.verify');
    const made = (
      await api.request<{ endpoint: { id: string }; secret: string }>('POST', '/webhook-endpoints', { url })
    ).body;
    endpoint = made.endpoint.id;
    await guide.terminal.run(guide.next('WEBHOOK_SECRET').replace('whsec_…', made.secret));
    await guide.start('node receiver.ts &', { name: 'receiver' });
    await until('the receiver to refuse what is not signed', async () => {
      return (await fetch(url, { method: 'POST', body: '{}' })).status === 400;
    });

    expect(await guide.run('node wallet.ts $ID')).toMatch(/^pay 12\.50 USDC to 0x7099\w+\nsubmitted 0x\w{64}$/m);
    await received(`order ${order}: paid and final, deliver and book`);
    await guide.save('EventSourceParserStream');
    expect(await guide.run('node follow.ts')).toContain(`order ${order}: paid and final, deliver and book`);
    expect((await guide.terminal.run('echo $ID')).trim()).toBe(id);

    await guide.save('/refund');
    await guide.run('node refund.ts');
    await until(
      'the refund',
      async () => /^refund of (pi_\w+): (confirmed|finalized)$/m.exec(await told())?.[1] === id,
    );
    expect((await api.get(id)).body.intent.refundedBy).toMatch(/^pi_/);
    expect(guide.left).toEqual([]);
  });

  it('has programs whose types are right', async () => {
    const options = '--noEmit --strict --target esnext --module nodenext --allowImportingTsExtensions --skipLibCheck';
    const compile = promisify(execFile)(
      process.execPath,
      [
        path.join(root, 'node_modules/typescript/bin/tsc'),
        ...options.split(' '),
        '--erasableSyntaxOnly',
        ...['--typeRoots', path.join(root, 'node_modules/@types'), '--types', 'node'],
        ...['create', 'wallet', 'receiver', 'follow', 'refund'].map((name) => path.join(guide.folder, `${name}.ts`)),
      ],
      { cwd: guide.folder },
    );
    expect(
      await compile.then(
        () => '',
        ({ stdout }: { stdout: string }) => stdout,
      ),
    ).toBe('');
  });

  it('tells a shop how each payment ended', async () => {
    const named = (await tableUnder(PAGE, '5. Handle each end')).map(([, state = '']) => state.replaceAll('`', ''));
    const ends = ['confirmed', 'finalized', 'failed', 'created', 'expired', 'cancelled'];
    const odd = ['as before', 'follows', 'as before', 'as before'];
    expect(named).toEqual([...ends, ...odd, 'confirmed', 'finalized', 'failed']);

    for (const [name, targets, line] of [
      ['failed', ['failed'], 'the transaction failed, offer a new intent'],
      ['dropped', ['pending', 'created'], 'ask the payer to sign again'],
      ['expired', ['expired'], 'expired, release the goods'],
      ['late', ['pending', 'expired'], 'late, it may still be paid'],
      ['cancelled', ['cancelled'], 'cancelled, release the goods'],
    ] as const) {
      const id = await create(name);
      for (const target of targets) expect((await api.simulate(id, target)).status).toBe(200);
      await received(`order ${order}-${name}: ${line}`);
    }

    const id = await create('odd');
    const wrong = await payDirectly(id, 12_400_000n);
    await received(`intent.mismatched_payment: send 12.4 back to ${payer.address}, see ${wrong}`);
    await payDirectly(id, 12_500_000n);
    await received(`order ${order}-odd: paid and final, deliver and book`);
    const second = await payDirectly(id, 12_500_000n);
    await received(`intent.extra_payment: send 12.50 back to ${payer.address}, see ${second}`);
    const cancelled = await create('after');
    await api.cancel(cancelled);
    await payDirectly(cancelled, 12_500_000n);
    await received('intent.late_payment: deliver after all, or refund');
  });

  it('retries what can be retried, and throws the rest', async () => {
    const keys: unknown[] = [];
    const error = { code: 'service.unavailable', message: '', param: null, details: { retry_after: 1 } };
    /** Undefined: no response at all. */
    const answers = [undefined, 503, 429, 201];
    const created = { intent: { id: 'pi_1', state: 'created' } };
    const service = createServer((request, response) => {
      void text(request).then((body) => {
        keys.push((JSON.parse(body) as { idempotencyKey: unknown }).idempotencyKey);
        const status = answers.shift();
        if (status === undefined) request.socket.destroy();
        else response.writeHead(status).end(JSON.stringify(status === 201 ? created : { error }));
      });
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { port } = service.address() as AddressInfo;
    const printed = await guide.terminal.run(`PF_BASE_URL=http://127.0.0.1:${port} node create.ts 1`);
    service.close();
    expect(printed).toContain('pi_1 created');
    expect(keys).toEqual(Array.from({ length: 4 }, () => 'order-1-1-12.50'));

    const refused = await guide.terminal.run('node wallet.ts $ID || true');
    expect(refused).toMatch(/ApiError: 409 intent\.invalid_state: /);
  });
});
