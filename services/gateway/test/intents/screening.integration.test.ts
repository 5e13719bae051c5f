import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readListFile, writeListFile } from '@pf/screening';
import {
  type ApiResponse,
  type ApiClient,
  apiClient,
  type Cluster,
  type Instance,
  LISTED,
  readBackingStack,
  readWholeLog,
  startCluster,
  until,
} from '@pf/testing';
import { type SanctionsProvider, startSanctionsProvider } from '@pf/testing/sanctions-provider';
import { type EvmWallet, evmWallet } from '@pf/testing/wallets';

// Each request waits for a real pipeline, on a machine that may be busy.
const CHAIN = 'eip155:84532';
const KEY = 'a-key-of-the-provider';
const someone = (): string => `0x${randomBytes(20).toString('hex')}`;
const [ON_THE_LIST] = LISTED;
const AT_THE_PROVIDER = '0xE41Af7140ec2C863b4eA98139a59A4587E81bf6c';

describe('sanctions screening of requests', () => {
  let provider: SanctionsProvider;
  let cluster: Cluster;
  let gateway: Instance;
  let api: ApiClient;
  let payer: EvmWallet;

  beforeAll(async () => {
    [cluster, provider] = await Promise.all([
      startCluster(),
      startSanctionsProvider({ apiKey: KEY, sanctioned: [AT_THE_PROVIDER] }),
    ]);
    [gateway] = await Promise.all([
      cluster.start('gateway', { env: { SCREENING_API_URL: provider.url, SCREENING_API_KEY: KEY } }),
      cluster.start('intent'),
    ]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    const chain = readBackingStack().chains['base'];
    const wallet = chain?.wallets[1];
    if (!chain || !wallet) throw new Error('the stack has no wallets on Base');
    payer = evmWallet(chain, wallet);
  });
  afterEach(() => {
    provider.mode = 'up';
  });
  afterAll(async () => {
    await cluster.close();
    await provider.close();
  });

  const create = (more: Record<string, unknown> = {}) =>
    api.create({ chain: CHAIN, token: 'USDC', amount: '2.5', requestor: someone(), ...more });
  async function created(more: Record<string, unknown> = {}): Promise<string> {
    // A circuit breaker that an earlier test has opened closes after a while.
    const { body } = await until('a create to pass', async () => {
      const response = await create(more);
      return response.status === 201 && response;
    });
    return body.intent.id;
  }
  const signed = async (id: string): Promise<string> =>
    payer.sign((await api.build(id, payer.address)).body.transaction.blob);
  /** Adds an address to the list; resolves when the gateway has fetched it. */
  async function sanction(address: string): Promise<void> {
    const list = await readListFile(cluster.sanctionsListFile);
    const addresses = [...list.addresses, { address, label: 'USDC', uid: '90009', name: 'A NAME NOBODY MAY SEE' }];
    await writeListFile(cluster.sanctionsListFile, { ...list, addresses, count: addresses.length });
    await until(
      'the gateway to screen with the new list',
      async () => (await create({ requestor: address })).status === 422,
    );
  }

  function expectMatch(response: ApiResponse<unknown>, param: string, address: string): void {
    expect([response.status, response.body.error]).toMatchObject([
      422,
      { code: 'address.sanctions_match', param, details: { address } },
    ]);
    expect(JSON.stringify(response.body)).not.toMatch(/NAME|ENTITY|SANCTIONS:|uid|list-file/);
  }
  function expectUnavailable(response: ApiResponse<unknown>): void {
    expect([response.status, response.body.error]).toMatchObject([
      503,
      { code: 'screening.unavailable', param: null, details: { retry_after: expect.any(Number) as unknown } },
    ]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }

  it('refuses a create whose requestor is on the list, in any case of its address', async () => {
    for (const requestor of [ON_THE_LIST.address, ON_THE_LIST.address.toLowerCase()])
      expectMatch(await create({ requestor }), 'requestor', ON_THE_LIST.address);
  });

  it('refuses a create whose fulfiller the provider reports', async () => {
    for (const direction of ['request', 'send'])
      expectMatch(await create({ fulfiller: AT_THE_PROVIDER.toLowerCase(), direction }), 'fulfiller', AT_THE_PROVIDER);
  });

  it('comes after the validation of the request', async () => {
    expect((await create({ requestor: ON_THE_LIST.address, amount: '-1' })).status).toBe(400);
    expect((await create({ requestor: ON_THE_LIST.address, token: 'DOGE' })).body.error?.code).toBe(
      'token.not_available',
    );
  });

  it('refuses a create that it cannot screen, until the provider is available again', async () => {
    const known = { requestor: someone(), fulfiller: someone() };
    await created(known);
    provider.mode = 'down';
    const unknown = { requestor: someone() };
    expectUnavailable(await create(unknown));
    // Its clean result is cached.
    expect((await create(known)).status).toBe(201);
    // The list works without the provider.
    expectMatch(await create({ requestor: ON_THE_LIST.address }), 'requestor', ON_THE_LIST.address);
    provider.mode = 'up';
    await created(unknown);
  });

  it.each(['hang', 'error', 'garbage'] as const)(
    'rejects what it cannot screen while the provider is in the mode "%s"',
    async (mode) => {
      await created();
      provider.mode = mode;
      expectUnavailable(await create());
    },
  );

  it('has an account wait that has more new wallets screened at once than it may', async () => {
    await created();
    provider.mode = 'hang';
    const responses = await Promise.all(Array.from({ length: 40 }, () => create()));
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused.map(({ body, headers }) => [body.error, headers.get('retry-after')])).toEqual(
      refused.map(() => [
        expect.objectContaining({
          code: 'rate_limit.exceeded',
          message: expect.stringContaining('being screened') as unknown,
          details: { retry_after: 1 },
        }),
        '1',
      ]),
    );
    expect([refused.length, responses.filter(({ status }) => status === 503).length]).toEqual([8, 32]);
  });

  it('does not apply to a used idempotency key, which returns its intent', async () => {
    const request = { requestor: someone(), idempotencyKey: `order-${randomBytes(6).toString('hex')}` };
    const id = await created(request);
    await sanction(request.requestor);
    provider.mode = 'down';
    const replayed = await create(request);
    expect([replayed.status, replayed.headers.get('idempotent-replayed'), replayed.body.intent.id]).toEqual([
      200,
      'true',
      id,
    ]);
    const other = await create({ ...request, requestor: someone() });
    expect([other.status, other.body.intent.id]).toEqual([200, id]);
  });

  it('covers both wallets again on submit, after the state and before the claim', async () => {
    const requestor = someone();
    const [id, cancelled] = [await created({ requestor }), await created({ requestor })];
    const transaction = await signed(id);
    await api.cancel(cancelled);

    expectMatch(await api.submit(id, transaction, AT_THE_PROVIDER), 'fulfiller', AT_THE_PROVIDER);
    await sanction(requestor);
    const refused = await api.submit(id, transaction, payer.address);
    expectMatch(refused, 'requestor', (await api.get(id)).body.intent.requestor);
    expect(refused.body.error?.details).toMatchObject({ intent_id: id });
    expect((await api.submit(cancelled, transaction, payer.address)).body.error?.code).toBe('intent.invalid_state');
    expect((await api.get(id)).body.intent).toMatchObject({ state: 'created', txSignature: null });
    const { events } = await readWholeLog(cluster);
    expect(events.filter(({ intentId }) => intentId === id).map(({ type }) => type)).toEqual([
      'intent.created',
      'transaction_built',
    ]);
  });

  it('refuses a submit that it cannot screen', async () => {
    const id = await created();
    const transaction = await signed(id);
    provider.mode = 'error';
    expectUnavailable(await api.submit(id, transaction, someone()));
    expect((await api.get(id)).body.intent.state).toBe('created');
  });

  it('covers both wallets of a refund, after the state', async () => {
    const fulfiller = someone();
    const [paid, unpaid] = [await created({ fulfiller }), await created({ fulfiller })];
    await api.simulate(paid, 'confirmed');
    await sanction(fulfiller);
    expectMatch(await api.refund(paid), 'fulfiller', (await api.get(paid)).body.intent.fulfiller ?? '');
    expect((await api.refund(unpaid)).body.error?.code).toBe('intent.invalid_state');
    expect((await api.get(paid)).body.intent.refundedBy).toBeNull();
  });

  it('logs the sanctioned wallet for the operator, and never the provider’s key', async () => {
    const match = await until('the line', async () =>
      (await readFile(gateway.log, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .find((line) => line.includes('sanctions_match') && line.includes('"submit"')),
    );
    expect(JSON.parse(match)).toMatchObject({
      accountId: cluster.accountId,
      param: 'fulfiller',
      address: AT_THE_PROVIDER,
      finding: { part: 'api' },
    });
    expect(await readFile(gateway.log, 'utf8')).not.toContain(KEY);
  });

  it('leaves no trace in the event log', async () => {
    const text = JSON.stringify((await readWholeLog(cluster)).events, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(text).not.toMatch(/sanction|NOBODY MAY SEE/i);
  });
});

describe('a gateway without screening', () => {
  it('warns if screening is turned off, and does not start if it is not configured', async () => {
    const cluster = await startCluster();
    try {
      const silent = await cluster.start('gateway', { env: { SCREENING_LIST_FILE: '' }, wait: false });
      expect((await silent.exited).code).toBe(78);
      expect(await readFile(silent.log, 'utf8')).toContain('SCREENING=off');
      await cluster.start('gateway', { env: { SCREENING_LIST_FILE: '', SCREENING: 'off' } });
    } finally {
      await cluster.close();
    }
  });
});
