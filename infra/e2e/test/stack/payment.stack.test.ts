import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PUBLIC_EVENT_TYPES, type PublicIntent, type Reference } from '@pf/domain';
import { Transaction } from 'ethers/transaction';
import { Wallet } from 'ethers/wallet';
import {
  type ApiClient,
  apiClient,
  chainOf,
  hasValidSignature,
  pf,
  readStack,
  type StackWallet,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { newWallet, walletOn } from '@pf/testing/wallets';
import { signWithAmount } from './paying-less.ts';

const AMOUNT = '1.25';
const UNITS = 1_250_000n;
const FEE = expect.stringMatching(/^0\.\d+$/) as unknown;
const LAMPORTS = expect.any(Number) as unknown;
const TIME = expect.stringMatching(/^\d{4}-.*Z$/) as unknown;
const noFees = { ataRentLamports: null, estimatedFeeLamports: null, estimatedFeeUsdc: null, estimatedFeeEth: null };
const unlimited = { expiresAt: null, lastValidBlockHeight: null };

/** What a client sees differently on each chain. */
const chains = [
  {
    name: 'base',
    symbol: 'USDC',
    reference: /^0x[0-9a-f]{64}$/,
    transaction: { ...noFees, ...unlimited, format: 'evm_rlp', estimatedFeeEth: FEE },
  },
  {
    name: 'solana',
    symbol: 'USDC',
    reference: /^[1-9A-HJ-NP-Za-km-z]{32,44}$/,
    transaction: {
      ...noFees,
      format: 'solana_v0_message',
      estimatedFeeLamports: LAMPORTS,
      ataRentLamports: LAMPORTS,
      expiresAt: TIME,
      lastValidBlockHeight: expect.any(Number) as unknown,
    },
  },
  {
    name: 'tempo',
    symbol: 'USDC.e',
    reference: /^0x[0-9a-f]{64}$/,
    transaction: { ...noFees, ...unlimited, format: 'tempo_tip20', estimatedFeeUsdc: FEE, expiresAt: TIME },
  },
] as const;

const stack = readStack();
const api: ApiClient = apiClient(stack.baseUrl, stack.apiKeys.test);
let receiver: WebhookReceiver;
/** The intent that GET returned when a webhook arrived, by event. */
const shownAt = new Map<string, PublicIntent>();

beforeAll(async () => {
  receiver = await webhookReceiver();
  receiver.respond = async ({ body }) => {
    shownAt.set(body.eventId, (await api.get(body.data.intent.id)).body.intent);
    return 200;
  };
  await pf('webhooks', 'add', receiver.url);
});
afterAll(async () => {
  await pf('webhooks', 'remove', receiver.url);
  await receiver.close();
});

const reach = (id: string, ...states: string[]): Promise<PublicIntent> =>
  until(`${id} to be ${states.join(' or ')}`, async () => {
    const { intent } = (await api.get(id)).body;
    return states.includes(intent.state) && intent;
  });

describe.each(chains)('a payment on $name through the running stack', ({ name, symbol, reference, transaction }) => {
  const chain = chainOf(stack, name);
  const usdc = chain.tokens['USDC'] ?? '';
  // The demo uses wallets 0 and 1.
  const [, , key, rivalKey] = chain.wallets as [StackWallet, StackWallet, StackWallet, StackWallet];
  const payer = walletOn(chain, key);
  const merchant = walletOn(chain, newWallet(chain));

  const create = async (more: Record<string, unknown> = {}): Promise<PublicIntent> => {
    const { status, body } = await api.create({
      chain: chain.caip2,
      token: 'usdc',
      amount: AMOUNT,
      requestor: merchant.address,
      ...more,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.intent;
  };

  it('goes from created to finalized, moves exactly the amount and sends signed webhooks', async () => {
    const created = await create({ metadata: { order: 'A-1001' } });
    expect(created).toMatchObject({
      chain: chain.caip2,
      token: symbol,
      tokenAddress: usdc,
      amount: AMOUNT,
      amountBaseUnits: UNITS.toString(),
      state: 'created',
      fulfiller: null,
      livemode: false,
      metadata: { order: 'A-1001' },
      ttlSeconds: 86_400,
      ataRentLamports: null,
    });
    expect(created.id).toMatch(/^pi_[1-9A-HJ-NP-Za-km-z]{16,22}$/);
    expect(created.reference).toMatch(reference);
    expect(Date.parse(created.expiresAt) - Date.parse(created.createdAt)).toBe(86_400_000);

    const detected = await api.detected(created.id);
    expect(detected.body.intent.detectedAt).not.toBeNull();
    const built = await api.build(created.id, payer.address);
    expect([built.status, built.body.error]).toEqual([200, undefined]);
    expect(built.body.transaction).toEqual({ blob: expect.any(String) as unknown, ...transaction });
    // A new merchant: on Solana its token account costs rent.
    expect(built.body.intent).toMatchObject({
      fulfiller: payer.address,
      ataRentLamports: built.body.transaction.ataRentLamports,
    });
    const { blob } = built.body.transaction;
    expect((await api.build(created.id, payer.address)).body.transaction).toMatchObject({ ...transaction, blob });

    const signed = await payer.sign(built.body.transaction.blob);
    const submitted = await api.submit(created.id, signed, payer.address);
    expect([submitted.status, submitted.body.error]).toEqual([200, undefined]);
    expect(['pending', 'confirmed', 'finalized']).toContain(submitted.body.intent.state);

    const finalized = await reach(created.id, 'finalized');
    expect(finalized).toMatchObject({
      txSignature: submitted.body.txSignature,
      fulfiller: payer.address,
      retryRequired: false,
      pendingAtExpiry: false,
      ataRentLamports: built.body.transaction.ataRentLamports,
    });
    expect(await merchant.tokenBalance(usdc)).toBe(UNITS);

    // A duplicate submit is harmless, whatever the state.
    const again = await api.submit(created.id, signed, payer.address);
    expect([again.status, again.body.intent.state, again.body.txSignature]).toEqual([
      200,
      'finalized',
      submitted.body.txSignature,
    ]);

    const webhooks = () => receiver.received.filter(({ body }) => body.data.intent.id === created.id);
    const types = ['intent.created', 'intent.detected', 'intent.pending', 'intent.confirmed', 'intent.finalized'];
    await until('each event', () => types.every((type) => webhooks().some(({ body }) => body.type === type)));
    for (const webhook of webhooks()) {
      expect(hasValidSignature(webhook, stack.webhookSecret)).toBe(true);
      expect(webhook.headers['x-pf-event-id']).toBe(webhook.body.eventId);
      expect(PUBLIC_EVENT_TYPES).toContain(webhook.body.type);
      // A webhook never arrives before GET shows its state: what GET returned then is at least as new.
      const shown = await until('the response of GET', () => shownAt.get(webhook.body.eventId));
      expect(Date.parse(shown.updatedAt)).toBeGreaterThanOrEqual(Date.parse(webhook.body.data.intent.updatedAt));
    }
  });

  it('is rejected at submit, and not broadcast, when the signed transaction pays less', async () => {
    const created = await create();
    const { body } = await api.build(created.id, payer.address);
    // The merchant has been paid before.
    expect([body.transaction.ataRentLamports, body.intent.ataRentLamports]).toEqual([null, null]);
    const before = await payer.tokenBalance(usdc);
    const refused = await api.submit(
      created.id,
      await signWithAmount[name](chain, key, body.transaction.blob, UNITS - 1n),
      payer.address,
    );
    expect([refused.status, refused.body.error?.code]).toEqual([422, 'transaction.mismatch']);
    expect(JSON.stringify(refused.body.error?.details)).toContain((UNITS - 1n).toString());
    expect((await api.get(created.id)).body.intent.state).toBe('created');
    expect(await payer.tokenBalance(usdc)).toBe(before);
  });

  it('is found by its reference when it was sent without submit', async () => {
    const created = await create();
    const hash = await payer.pay(usdc, merchant.address, UNITS, created.reference as Reference);
    expect(await reach(created.id, 'finalized')).toMatchObject({ txSignature: hash, fulfiller: payer.address });
  });

  it('is submitted by the hash of a transaction that the wallet sent itself', async () => {
    const created = await create();
    const { body } = await api.build(created.id, payer.address);
    const hash = await payer.send(body.transaction.blob);
    const submitted = await until('the node to show the transaction', async () => {
      const response = await api.submit(created.id, hash, payer.address);
      return response.status !== 503 && response;
    });
    expect([submitted.status, submitted.body.error, submitted.body.txSignature]).toEqual([200, undefined, hash]);
    await reach(created.id, 'confirmed', 'finalized');
  });

  it('can be submitted by only one of two payers', async () => {
    const created = await create();
    const rival = walletOn(chain, rivalKey);
    const builds = [await api.build(created.id, payer.address), await api.build(created.id, rival.address)];
    const [first, second] = await Promise.all([
      payer.sign(builds[0]?.body.transaction.blob ?? ''),
      rival.sign(builds[1]?.body.transaction.blob ?? ''),
    ]);
    const before = await merchant.tokenBalance(usdc);
    const responses = await Promise.all([
      api.submit(created.id, first, payer.address),
      api.submit(created.id, second, rival.address),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(['intent.submission_in_progress', 'intent.already_fulfilled']).toContain(
      responses.find(({ status }) => status === 409)?.body.error?.code,
    );
    const settled = await reach(created.id, 'confirmed', 'finalized');
    expect([payer.address, rival.address]).toContain(settled.fulfiller);
    expect(await merchant.tokenBalance(usdc)).toBe(before + UNITS);
  });
});

describe('a live key', () => {
  it('pays on the live network through the same endpoints', async () => {
    const chain = chainOf(stack, 'baseLive');
    const live = apiClient(stack.baseUrl, stack.apiKeys.live);
    const [, , key] = chain.wallets as [StackWallet, StackWallet, StackWallet];
    const [payer, merchant] = [walletOn(chain, key), walletOn(chain, newWallet(chain))];
    const { intent } = (
      await live.create({ chain: 'eip155:8453', token: 'USDC', amount: AMOUNT, requestor: merchant.address })
    ).body;
    expect(intent).toMatchObject({ chain: 'eip155:8453', livemode: true });
    const { body } = await live.build(intent.id, payer.address);
    await live.submit(intent.id, await payer.sign(body.transaction.blob), payer.address);
    await until(
      'the intent to be confirmed',
      async () => ['confirmed', 'finalized'].includes((await live.get(intent.id)).body.intent.state),
      60_000,
    );
    expect(await merchant.tokenBalance(chain.tokens['USDC'] ?? '')).toBe(UNITS);
    // A test key with the same chain id gets an intent on the testnet, and cannot read the live one.
    const test = await api.create({ chain: 'eip155:8453', token: 'USDC', amount: AMOUNT, requestor: merchant.address });
    expect(test.body.intent).toMatchObject({ chain: 'eip155:84532', livemode: false });
    expect((await api.get(intent.id)).status).toBe(404);
  });
});

describe('an intent through the running stack', () => {
  const chain = chainOf(stack, 'base');
  const [, , key, requestor] = chain.wallets as [StackWallet, StackWallet, StackWallet, StackWallet];
  const payer = walletOn(chain, key);
  const request = { chain: chain.caip2, token: 'usdc', amount: AMOUNT, requestor: requestor.address };

  it('is paid with a blob that ethers signs unchanged', async () => {
    const created = (await api.create(request)).body.intent;
    const { body } = await api.build(created.id, payer.address);
    const unsigned = Transaction.from(`0x${Buffer.from(body.transaction.blob, 'base64').toString('hex')}`);
    const signed = await new Wallet(key.privateKey).signTransaction(unsigned);
    const submitted = await api.submit(created.id, signed, payer.address);
    expect([submitted.status, submitted.body.error, submitted.body.txSignature]).toEqual([
      200,
      undefined,
      Transaction.from(signed).hash,
    ]);
    await reach(created.id, 'confirmed', 'finalized');
  });

  it('is returned again for its idempotency key, whatever the body says', async () => {
    const idempotencyKey = `order-${Date.now()}`;
    const first = await api.create({ ...request, idempotencyKey });
    const again = await api.create({ ...request, amount: '99', idempotencyKey });
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 200, 'true']);
    expect(again.body.intent).toEqual(first.body.intent);
    expect(first.body.intent.idempotencyKey).toBe(idempotencyKey);
  });

  it('accepts no payment once it was cancelled', async () => {
    const created = (await api.create(request)).body.intent;
    const cancelled = await api.cancel(created.id);
    expect([cancelled.status, cancelled.body.intent.state]).toEqual([200, 'cancelled']);
    const refused = await api.build(created.id, payer.address);
    expect([refused.status, refused.body.error?.code, refused.body.error?.details]).toEqual([
      409,
      'intent.invalid_state',
      expect.objectContaining({ intent_id: created.id, current_state: 'cancelled' }),
    ]);
  });
});
