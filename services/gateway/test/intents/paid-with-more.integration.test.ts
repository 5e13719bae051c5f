import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { partitionOf } from '@pf/contracts';
import type { Address, IntentId, PublicIntent, Reference, TransactionHash, Transfer } from '@pf/domain';
import { about, samples, watcher } from '@pf/domain/testing';
import type { Publisher } from '@pf/event-log';
import { type ApiClient, apiClient, type ApiResponse, type Cluster, startCluster, until } from '@pf/testing';

const TRACE = { traceparent: null, requestId: null };
/** Checksummed, as the API takes them. */
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' as Address;
const RECIPIENT = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' as Address;
const MORE = 13_000_000n;

type Created = ApiResponse<{
  readonly intent: PublicIntent;
  readonly clientSecret: string;
  readonly differs?: object;
}>;
interface History {
  readonly events: readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];
}

describe('An intent that accepts at least its amount', () => {
  let cluster: Cluster;
  let publisher: Publisher;
  let url: string;
  let api: ApiClient;
  let count = 0;

  beforeAll(async () => {
    cluster = await startCluster();
    const [gateway] = await Promise.all([
      cluster.start('gateway', { env: { PAY_BY_AMOUNT: 'true' } }),
      cluster.start('intent'),
    ]);
    url = `${gateway.url}/v1`;
    api = apiClient(url, cluster.apiKeys.test);
    publisher = await cluster.log.publisher();
  });
  afterAll(async () => {
    await publisher.close();
    await cluster.close();
  });

  const order = { chain: samples.BASE_SEPOLIA, token: 'USDC', amount: '12.50', requestor: RECIPIENT };
  const create = (change: object = {}): Promise<Created> =>
    api.request('POST', '/intents', { ...order, accept: 'at_least', ...change });
  const make = async (change: object = {}): Promise<Created['body']> => {
    const { status, body } = await create(change);
    expect([status, body.error]).toEqual([201, undefined]);
    return body;
  };
  const hashOf = (): TransactionHash => `0x${(++count).toString(16).padStart(64, '0')}` as TransactionHash;
  /** A watcher sees a transfer that carries the reference of the intent. */
  async function land(intent: PublicIntent, amount: bigint, level: 'confirmed' | 'finalized', hash = hashOf()) {
    const change: Partial<Transfer> = {
      tokenAddress: intent.tokenAddress as Transfer['tokenAddress'],
      from: PAYER,
      to: RECIPIENT,
      reference: intent.reference as Reference,
      amount,
    };
    const observation = about(intent.id, watcher.landed(hash, change, level));
    await publisher.publish('chain.observations', {
      partition: partitionOf(intent.id),
      key: intent.id,
      value: cluster.asWatcher({ ...observation, trace: TRACE }),
    });
    return hash;
  }
  const reaches = (id: IntentId, state: string): Promise<PublicIntent> =>
    until(`${id} to be ${state}`, async () => {
      const { body } = await api.get(id);
      return body.intent.state === state ? body.intent : null;
    });
  const historyOf = async (id: IntentId, by = api): Promise<History['events']> =>
    (await by.request<History>('GET', `/intents/${id}/events`)).body.events;

  it('is paid by more, says what it has received, and tells of the overpayment once that is final', async () => {
    const { intent, clientSecret } = await make();
    expect(intent).toMatchObject({ amount: '12.50', accept: 'at_least' });
    expect(intent).not.toHaveProperty('amountReceived');
    const hash = await land(intent, MORE, 'confirmed');
    const received = { amount: '12.50', amountReceived: '13', amountReceivedBaseUnits: '13000000' };
    expect(await reaches(intent.id, 'confirmed')).toMatchObject(received);
    await land(intent, MORE, 'finalized', hash);
    expect(await reaches(intent.id, 'finalized')).toMatchObject(received);
    const overpayment = { txSignature: hash, amount: '0.5', amountBaseUnits: '500000' };
    for (const by of [api, apiClient(url, clientSecret)]) {
      const events = await historyOf(intent.id, by);
      expect(events.map(({ type }) => type)).toEqual([
        'intent.created',
        'intent.pending',
        'intent.confirmed',
        'intent.finalized',
        'intent.overpaid',
      ]);
      expect(events.at(-1)?.data).toMatchObject({ intent: received, overpayment });
    }
    const { body } = await api.request<{ readonly intents: readonly PublicIntent[] }>('GET', '/intents?limit=1');
    expect(body.intents[0]).toMatchObject({ id: intent.id, ...received });
  });

  it('tells of a second payment with its own amount, and is not paid by less', async () => {
    const { intent } = await make();
    await land(intent, 12_499_999n, 'confirmed');
    await land(intent, MORE, 'confirmed');
    await reaches(intent.id, 'confirmed');
    await land(intent, 14_000_000n, 'confirmed');
    const told = await until('the second payment to be told of', async () => {
      const events = await historyOf(intent.id);
      return events.at(-1)?.type === 'intent.extra_payment' && events;
    });
    expect(told.map(({ type, data }) => [type, (data['payment'] as { amount: string } | undefined)?.amount])).toEqual([
      ['intent.created', undefined],
      ['intent.mismatched_payment', '12.499999'],
      ['intent.pending', undefined],
      ['intent.confirmed', undefined],
      ['intent.extra_payment', '14'],
    ]);
  });

  it('is refunded with all that has arrived, or with less where its account says so', async () => {
    const { intent } = await make();
    await land(intent, MORE, 'finalized');
    await reaches(intent.id, 'finalized');
    const { status, body } = await api.request<Created['body']>('POST', `/intents/${intent.id}/refund`, {});
    expect([status, body.intent]).toMatchObject([201, { amount: '13', amountBaseUnits: '13000000', requestor: PAYER }]);
    expect(body.intent).not.toHaveProperty('accept');
    const { id, updatedAt } = body.intent;
    const lowered = await api.request<Created['body']>('PATCH', `/intents/${id}`, { updatedAt, amount: '0.50' });
    expect(lowered.body.intent).toMatchObject({ amount: '0.50', amountBaseUnits: '500000' });
  });

  it('is compared in a repeat', async () => {
    const idempotencyKey = 'at-least';
    await make({ idempotencyKey });
    expect((await create({ idempotencyKey })).body.differs).toBeUndefined();
    expect((await create({ idempotencyKey, accept: 'exact' })).body.differs).toEqual({
      accept: { existing: 'at_least', requested: 'exact' },
    });
  });

  it('is none where it is not asked for', async () => {
    expect((await make({ accept: 'exact' })).intent).not.toHaveProperty('accept');
    expect((await make({ accept: undefined })).intent).not.toHaveProperty('accept');
  });

  it.each([
    ['the direction is "send"', { direction: 'send', fulfiller: PAYER }],
    ['the amount is its name', { attribution: 'amount' }],
  ])('is refused where %s', async (_, change) => {
    const { status, body } = await create(change);
    expect([status, body.error?.code, body.error?.param]).toEqual([400, 'request.validation_failed', 'accept']);
  });

  it('is made of a payment link that accepts at least its amount', async () => {
    const { chain, token, requestor } = order;
    const asked = {
      amount: '12.50',
      accept: 'at_least',
      offers: [{ chain, token, requestor }],
      idempotencyKey: 'link',
    };
    const { body } = await api.request<LinkBody>('POST', '/payment-links', asked);
    expect(body.paymentLink).toMatchObject({ accept: 'at_least', amount: '12.50' });
    const { id } = body.paymentLink;
    const chosen = await apiClient(url, body.clientSecret).request<Created['body']>(
      'POST',
      `/payment-links/${id}/choose`,
      { offer: 0 },
    );
    expect(chosen.body.intent).toMatchObject({ amount: '12.50', accept: 'at_least' });
    const again = await api.request<LinkBody>('POST', '/payment-links', { ...asked, accept: undefined });
    expect(again.body.differs).toEqual({ accept: { existing: 'at_least', requested: 'exact' } });
    const byAmount = await api.request<LinkBody>('POST', '/payment-links', {
      ...asked,
      idempotencyKey: undefined,
      attribution: 'amount',
    });
    expect([byAmount.status, byAmount.body.error?.param]).toEqual([400, 'accept']);
  });
});

interface LinkBody {
  readonly paymentLink: { readonly id: string };
  readonly clientSecret: string;
  readonly differs?: object;
}
