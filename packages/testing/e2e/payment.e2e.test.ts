import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PUBLIC_EVENT_TYPES, type PublicIntent } from '@pf/domain';
import { Transaction, Wallet } from 'ethers';
import { type ApiClient, apiClient, chainOf, evmWallet, hasValidSignature, pf, readStack, until, type WebhookReceiver, webhookReceiver } from '../src/index.ts';

const AMOUNT = '1.25';
const UNITS = 1_250_000n;

describe('a payment on Base through the running stack', () => {
  const stack = readStack();
  const chain = chainOf(stack, 'base');
  const usdc = chain.tokens['USDC'] ?? '';
  // Wallets 0 and 1 are the demo's.
  const payer = evmWallet(chain, chain.wallets[2] ?? expectNever());
  const merchant = evmWallet(chain, chain.wallets[3] ?? expectNever());
  const api: ApiClient = apiClient(stack.baseUrl, stack.apiKeys.test);
  let receiver: WebhookReceiver;
  /** What GET showed at the moment a webhook came, by event. */
  const shownAt = new Map<string, PublicIntent>();

  beforeAll(async () => {
    receiver = await webhookReceiver();
    receiver.answer = async ({ body }) => {
      shownAt.set(body.eventId, (await api.get(body.data.intent.id)).body.intent);
      return 200;
    };
    await pf('webhooks', 'add', receiver.url);
  });
  afterAll(async () => {
    await pf('webhooks', 'remove', receiver.url);
    await receiver.close();
  });

  const request = { chain: chain.caip2, token: 'usdc', amount: AMOUNT, requestor: merchant.address };
  const create = async (more: Record<string, unknown> = {}): Promise<PublicIntent> => {
    const { status, body } = await api.create({ ...request, ...more });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.intent;
  };
  const reach = (id: string, state: string): Promise<PublicIntent> => until(`${id} to be ${state}`, async () => {
    const { intent } = (await api.get(id)).body;
    return intent.state === state && intent;
  }, 30_000);

  it('goes from created to finalized, moves exactly the amount, and tells it by signed webhooks', async () => {
    const before = await merchant.tokenBalance(usdc);
    const created = await create({ metadata: { order: 'A-1001' } });
    expect(created).toMatchObject({ chain: chain.caip2, token: 'USDC', tokenAddress: usdc, amount: AMOUNT, amountBaseUnits: UNITS.toString(), state: 'created', fulfiller: null, livemode: false, metadata: { order: 'A-1001' }, ttlSeconds: 86_400 });
    expect(created.id).toMatch(/^pi_[1-9A-HJ-NP-Za-km-z]{16,22}$/);
    expect(created.reference).toMatch(/^0x[0-9a-f]{64}$/);
    expect(Date.parse(created.expiresAt) - Date.parse(created.createdAt)).toBe(86_400_000);

    const detected = await api.detected(created.id);
    expect(detected.body.intent.detectedAt).not.toBeNull();
    const built = await api.build(created.id, payer.address);
    expect(built.status).toBe(200);
    expect(built.body.intent.fulfiller).toBe(payer.address);
    expect(built.body.transaction).toMatchObject({ format: 'evm_rlp', ataRentLamports: null, estimatedFeeLamports: null, estimatedFeeUsdc: null });
    expect(built.body.transaction.estimatedFeeEth).toMatch(/^0\.\d+$/);
    expect((await api.build(created.id, payer.address)).body.transaction).toEqual(built.body.transaction);

    const signed = await payer.sign(built.body.transaction.blob);
    const submitted = await api.submit(created.id, signed, payer.address);
    expect([submitted.status, submitted.body.error]).toEqual([200, undefined]);
    expect(['pending', 'confirmed']).toContain(submitted.body.intent.state);
    expect(submitted.body.txSignature).toBe(Transaction.from(`0x${Buffer.from(signed, 'base64').toString('hex')}`).hash);
    const submittedAt = Date.now();

    const finalized = await reach(created.id, 'finalized');
    expect(Date.parse(finalized.confirmedAt ?? '') - submittedAt).toBeLessThan(5_000);
    expect(finalized).toMatchObject({ txSignature: submitted.body.txSignature, fulfiller: payer.address, retryRequired: false, pendingAtExpiry: false });
    expect(await merchant.tokenBalance(usdc)).toBe(before + UNITS);
    const sent = await payer.client.getTransaction({ hash: finalized.txSignature as `0x${string}` });
    expect(sent.input.endsWith(created.reference.slice(2))).toBe(true);

    // A duplicate submit is harmless, whatever the state.
    const again = await api.submit(created.id, signed, payer.address);
    expect([again.status, again.body.intent.state, again.body.txSignature]).toEqual([200, 'finalized', submitted.body.txSignature]);

    const webhooks = () => receiver.received.filter(({ body }) => body.data.intent.id === created.id);
    await until('all webhooks', () => webhooks().some(({ body }) => body.type === 'intent.finalized'));
    const types = ['intent.created', 'intent.detected', 'intent.pending', 'intent.confirmed', 'intent.finalized'];
    await until('each event', () => types.every((type) => webhooks().some(({ body }) => body.type === type)));
    for (const webhook of webhooks()) {
      expect(hasValidSignature(webhook, stack.webhookSecret)).toBe(true);
      expect(webhook.headers['x-pf-event-id']).toBe(webhook.body.eventId);
      expect(PUBLIC_EVENT_TYPES).toContain(webhook.body.type);
      // Never before GET shows it: what GET showed then is at least as new as what the webhook says.
      const shown = await until('the look at the intent', () => shownAt.get(webhook.body.eventId));
      expect(Date.parse(shown.updatedAt)).toBeGreaterThanOrEqual(Date.parse(webhook.body.data.intent.updatedAt));
    }
  }, 60_000);

  it('builds a blob that ethers signs as it comes', async () => {
    const created = await create();
    const { body } = await api.build(created.id, payer.address);
    const unsigned = Transaction.from(`0x${Buffer.from(body.transaction.blob, 'base64').toString('hex')}`);
    const signed = await new Wallet(chain.wallets[2]?.privateKey ?? '').signTransaction(unsigned);
    const submitted = await api.submit(created.id, signed, payer.address);
    expect([submitted.status, submitted.body.error]).toEqual([200, undefined]);
    await reach(created.id, 'finalized');
  }, 60_000);

  it('refuses a signed transaction that pays less, and nothing is broadcast', async () => {
    const created = await create();
    const { body } = await api.build(created.id, payer.address);
    const before = await payer.tokenBalance(usdc);
    const less = (UNITS - 1n).toString(16).padStart(64, '0');
    const signed = await payer.sign(body.transaction.blob, (transaction) => ({ ...transaction, data: `0x${(transaction.data ?? '').slice(2, 74)}${less}${(transaction.data ?? '').slice(138)}` }));
    const refused = await api.submit(created.id, signed, payer.address);
    expect([refused.status, refused.body.error?.code]).toEqual([422, 'transaction.mismatch']);
    expect(JSON.stringify(refused.body.error?.details)).toContain((UNITS - 1n).toString());
    expect((await api.get(created.id)).body.intent.state).toBe('created');
    expect(await payer.tokenBalance(usdc)).toBe(before);
  });

  it('finds a payment that was sent without submit, by its reference', async () => {
    const created = await create();
    const hash = await payer.transfer(usdc, merchant.address, UNITS, created.reference as `0x${string}`);
    const confirmed = await reach(created.id, 'finalized');
    expect(confirmed).toMatchObject({ txSignature: hash, fulfiller: payer.address });
  }, 60_000);

  it('takes the hash of what a wallet sent by itself', async () => {
    const created = await create();
    const { body } = await api.build(created.id, payer.address);
    expect(body.intent.fulfiller).toBe(payer.address);
    const hash = await payer.transfer(usdc, merchant.address, UNITS, created.reference as `0x${string}`);
    const submitted = await until('the node to show it', async () => {
      const answer = await api.submit(created.id, hash, payer.address);
      return answer.status !== 503 && answer;
    });
    expect([submitted.status, submitted.body.error, submitted.body.txSignature]).toEqual([200, undefined, hash]);
    await reach(created.id, 'finalized');
  }, 60_000);

  it('lets only one of two payers submit', async () => {
    const created = await create();
    const rival = evmWallet(chain, chain.wallets[1] ?? expectNever());
    const builds = [await api.build(created.id, payer.address), await api.build(created.id, rival.address)];
    const [first, second] = await Promise.all([payer.sign(builds[0]?.body.transaction.blob ?? ''), rival.sign(builds[1]?.body.transaction.blob ?? '')]);
    const answers = await Promise.all([api.submit(created.id, first, payer.address), api.submit(created.id, second, rival.address)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(['intent.submission_in_progress', 'intent.already_fulfilled']).toContain(answers.find(({ status }) => status === 409)?.body.error?.code);
    const finalized = await reach(created.id, 'finalized');
    expect([payer.address, rival.address]).toContain(finalized.fulfiller);
  }, 60_000);

  it('answers a used idempotency key with the first intent, whatever the body says', async () => {
    const idempotencyKey = `order-${Date.now()}`;
    const first = await api.create({ ...request, idempotencyKey });
    const again = await api.create({ ...request, amount: '99', idempotencyKey });
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 200, 'true']);
    expect(again.body.intent).toEqual(first.body.intent);
    expect(first.body.intent.idempotencyKey).toBe(idempotencyKey);
  });

  it('cancels what is not paid yet, and pays nothing after', async () => {
    const created = await create();
    const cancelled = await api.cancel(created.id);
    expect([cancelled.status, cancelled.body.intent.state]).toEqual([200, 'cancelled']);
    const refused = await api.build(created.id, payer.address);
    expect([refused.status, refused.body.error?.code, refused.body.error?.details]).toEqual([409, 'intent.invalid_state', expect.objectContaining({ intent_id: created.id, current_state: 'cancelled' })]);
  });
});

function expectNever(): never {
  throw new Error('the stack lists too few wallets');
}
