import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { ERROR_CODES } from '@pf/contracts';
import { changeSettings, createAccount, createKey } from '@pf/database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  apiClient,
  chainOf,
  type Cluster,
  type CreatedBody,
  gatewayDouble,
  type GatewayDouble,
  type Instance,
  json,
  readBackingStack,
  refusalOf,
  startCluster,
  until,
} from '@pf/testing';
import { linkInCode, signSolanaPay, solanaWallet } from '@pf/testing/wallets';
import { BY, openShop } from './shops.ts';

const REQUESTOR = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const stack = readBackingStack();
const chain = chainOf(stack, 'solana');
const [funded] = chain.wallets;
if (!funded) throw new Error('the stack has no wallet on Solana');
const wallet = solanaWallet(chain, funded);

describe('a Solana Pay link', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let checkout: Instance;
  const create = async (key = cluster.apiKeys.test): Promise<CreatedBody & { readonly token: string }> => {
    const client = apiClient(`${gateway.url}/v1`, key);
    const { body } = await client.create({ chain: chain.caip2, token: 'USDC', amount: '0.25', requestor: REQUESTOR });
    const fetched = await apiClient(`${gateway.url}/v1`, body.clientSecret).request<{ solanaPayToken: string }>(
      'GET',
      `/intents/${body.intent.id}`,
    );
    return { ...body, token: fetched.body.solanaPayToken };
  };
  const ask = (token: string, init: RequestInit = {}): Promise<Response> => fetch(`${checkout.url}/s/${token}`, init);
  const post = (token: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    ask(token, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    cluster = await startCluster(stack, [chain]);
    [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
    checkout = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url } });
  });
  afterAll(() => cluster.close());

  it('is a code that the wallets read', async () => {
    const { token } = await create();
    const link = `https://pay.example/s/${token}`;
    expect(linkInCode(`solana:${link}`).href).toBe(link);
  });

  it('tells wallets whom it pays, with an image for each merchant', async () => {
    const { token } = await create();
    const response = await ask(token);
    expect([response.status, await response.json()]).toEqual([
      200,
      { label: 'test', icon: `${checkout.url}/icon.svg` },
    ]);
    const icon = await fetch(`${checkout.url}/icon.svg`);
    expect([icon.headers.get('content-type'), (await icon.text()).startsWith('<svg')]).toEqual(['image/svg+xml', true]);
    const { id: accountId } = await createAccount(cluster.database, { name: '<script>window.injected = 1</script>' });
    const logo = 'https://cdn.example/logo.png';
    await changeSettings(cluster.database, { accountId, branding: { logo }, at: new Date() }, BY);
    const { key } = await createKey(cluster.database, { accountId, livemode: false, scope: 'full' });
    const other = await create(key);
    expect(await (await ask(other.token)).json()).toEqual({
      label: '<script>window.injected = 1</script>',
      icon: `${checkout.url}/logo/${other.intent.id}`,
    });
  });

  it('is open to wallets in browsers of every origin', async () => {
    const { token } = await create();
    const preflight = await ask(token, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://wallet.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'cache-control,content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, POST, OPTIONS');
    for (const header of ['cache-control', 'content-type'])
      expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain(header);
    for (const response of [preflight, await ask(token), await post(token, {}), await ask('nonsense')])
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect((await ask(token, { method: 'PUT' })).status).toBe(405);
  });

  it('pays: a wallet gets the transaction and sends it, and the intent is confirmed', async () => {
    const { token, intent, clientSecret } = await create();
    const signed = await signSolanaPay(wallet, `${checkout.url}/s/${token}`);
    const signature = await wallet.connection.sendRawTransaction(Buffer.from(signed, 'base64'));
    const page = `${checkout.url}/v1/intents/${intent.id}`;
    const shown = await until(
      'the payment',
      async () => {
        const response = await fetch(page, { headers: { authorization: `Bearer ${clientSecret}` } });
        const { intent: now } = (await response.json()) as { intent: { state: string; txSignature: string | null } };
        return ['confirmed', 'finalized'].includes(now.state) && now;
      },
      60_000,
    );
    expect(shown.txSignature).toBe(signature);
  });

  it('says what the transaction pays', async () => {
    const { token } = await create();
    const response = await post(token, { account: wallet.address });
    expect([response.status, await response.json()]).toEqual([
      200,
      { transaction: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/), message: '0.25 USDC to test' },
    ]);
  });

  it('records nothing that a wallet asked for: another wallet can pay', async () => {
    const { token, intent } = await create();
    expect((await post(token, { account: wallet.address })).status).toBe(200);
    const now = await apiClient(`${gateway.url}/v1`, cluster.apiKeys.test).get(intent.id);
    expect([now.body.intent.state, now.body.intent.fulfiller]).toEqual(['created', null]);
  });

  it('says in words what is wrong, in 80 characters', async () => {
    const { token, intent, clientSecret } = await create();
    const forged = token.replace(/_spl_.*/, '_spl_1111111111111111');
    const cancelled = await create();
    await apiClient(`${gateway.url}/v1`, cluster.apiKeys.test).cancel(cancelled.intent.id);
    const poor = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
    for (const [asked, body, status] of [
      [forged, { account: wallet.address }, 401],
      [`${intent.id}_spl_`, { account: wallet.address }, 404],
      [clientSecret, { account: wallet.address }, 404],
      [token, {}, 400],
      [token, { account: 'nonsense' }, 400],
      [token, [], 400],
      [token, { account: poor }, 422],
      [cancelled.token, { account: wallet.address }, 409],
    ] as const) {
      const response = await post(asked, body);
      const answer = (await response.json()) as { message: string };
      expect([asked, response.status, Object.keys(answer)]).toEqual([asked, status, ['message']]);
      expect(answer.message).toMatch(/^[A-Z].{10,79}$/);
    }
    await expect(signSolanaPay(wallet, `${checkout.url}/s/${forged}`)).rejects.toThrow('request failed: 401');
  });

  it('leaves no token in the log', async () => {
    const { token } = await create();
    await ask(token);
    const log = await until('the line of the request', async () => {
      const text = await readFile(checkout.log, 'utf8');
      return text.includes('/s/{token}') && text;
    });
    expect(log).not.toContain(token.split('_spl_')[1]);
  });
});

describe('a Solana Pay link while the gateway does not do its part', () => {
  let cluster: Cluster;
  let gateway: GatewayDouble;
  let checkout: Instance;

  beforeAll(async () => {
    [cluster, gateway] = await Promise.all([startCluster(), gatewayDouble()]);
    checkout = await cluster.start('checkout', { env: { GATEWAY_URL: gateway.url, TRUSTED_PROXIES: '1' } });
  });
  afterAll(async () => {
    await cluster.close();
    await gateway.close();
  });

  it('says so in words, whatever the gateway returns', async () => {
    const { intentId } = await openShop(cluster.database, 'Shop');
    const answer = async (): Promise<readonly [number, string, string | null]> => {
      const response = await fetch(`${checkout.url}/s/${intentId}_spl_2222222222222222`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.9' },
        body: JSON.stringify({ account: wallet.address }),
      });
      const { message } = (await response.json()) as { message: string };
      return [response.status, message, response.headers.get('retry-after')];
    };
    for (const code of ERROR_CODES) {
      gateway.answerWith(json(409, refusalOf(code)));
      const [status, message] = await answer();
      expect([code, status, message]).toEqual([code, 409, expect.stringMatching(/^[A-Z].{10,79}$/)]);
      expect(message).not.toBe('No.');
    }
    expect(gateway.received.at(-1)?.request.headers).toMatchObject({
      authorization: `Bearer ${intentId}_spl_2222222222222222`,
      'x-forwarded-for': '192.0.2.9',
    });
    gateway.answerWith(json(429, refusalOf('intent.too_many_builds'), { 'retry-after': '7' }));
    expect(await answer()).toEqual([429, 'Too many requests at this moment. Wait a little, and try again.', '7']);
    for (const broken of [
      json(200, { transaction: null }),
      json(500, { error: {} }),
      (request: IncomingMessage) => request.socket.destroy(),
    ]) {
      gateway.answerWith(broken);
      const [status, message] = await answer();
      expect([status >= 500, message]).toEqual([true, expect.stringMatching(/^[A-Z].{10,79}$/)]);
    }
  });
});
