import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PaymentClient } from '@pf/client';
import { LINK_INTENTS_MAX, type PaymentLinkEventType, type ShownPaymentLink } from '@pf/contracts';
import { createAccount, createKey } from '@pf/database';
import type { PublicIntent } from '@pf/domain';
import {
  apiClient,
  type ApiResponse,
  type Cluster,
  type Instance,
  LISTED,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';

const BASE = 'eip155:84532';
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const ON_BASE = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ON_SOLANA = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const order = {
  amount: '12.50',
  offers: [
    { chain: BASE, token: 'USDC', requestor: ON_BASE },
    { chain: SOLANA, token: 'usdc', requestor: ON_SOLANA },
  ],
  metadata: { order: '1042' },
};

interface LinkBody {
  readonly paymentLink: ShownPaymentLink;
  readonly clientSecret: string;
  readonly url: string | null;
}
interface ChosenBody {
  readonly intent: PublicIntent;
  readonly clientSecret: string;
  readonly paymentUrl: string | null;
}
interface LinkEvent {
  readonly eventId: string;
  readonly type: PaymentLinkEventType;
  readonly data: { readonly paymentLink: ShownPaymentLink; readonly intentId?: string };
}

describe('payment links', () => {
  let cluster: Cluster;
  let gateway: Instance;
  /** One that has payments by amount switched off. */
  let without: Instance;
  let receiver: WebhookReceiver;
  const as = (credential: string) => apiClient(`${gateway.url}/v1`, credential);
  const full = () => as(cluster.apiKeys.test);

  beforeAll(async () => {
    cluster = await startCluster();
    receiver = await webhookReceiver();
    [gateway, without] = await Promise.all([
      cluster.start('gateway', { env: { CHECKOUT_URL: 'https://pay.example', PAY_BY_AMOUNT: 'true' } }),
      cluster.start('gateway', { env: { CHECKOUT_URL: 'https://pay.example' } }),
      cluster.start('intent'),
      cluster.start('webhook'),
    ]);
    await full().request('POST', '/webhook-endpoints', {
      url: receiver.url,
      eventTypes: ['payment_link.paid', 'payment_link.extra_payment', 'payment_link.cancelled', 'payment_link.expired'],
    });
  });
  afterAll(async () => {
    await cluster.close();
    await receiver.close();
  });

  const create = async (more: object = {}): Promise<LinkBody> => {
    const { status, body } = await full().request<LinkBody>('POST', '/payment-links', { ...order, ...more });
    expect(status).toBe(201);
    return body;
  };
  const choose = (link: LinkBody, offer: number, credential = link.clientSecret): Promise<ApiResponse<ChosenBody>> =>
    as(credential).request<ChosenBody>('POST', `/payment-links/${link.paymentLink.id}/choose`, { offer });
  const chosen = async (link: LinkBody, offer: number): Promise<ChosenBody> => {
    const { status, body } = await choose(link, offer);
    expect(status).toBe(200);
    return body;
  };
  const fetched = async ({ paymentLink: { id } }: LinkBody): Promise<ShownPaymentLink> =>
    (await full().request<LinkBody>('GET', `/payment-links/${id}`)).body.paymentLink;
  const stateOf = async ({ intent }: ChosenBody) => (await full().get(intent.id)).body.intent.state;
  const told = ({ paymentLink: { id } }: LinkBody): LinkEvent[] =>
    receiver.received.map(({ body }) => body as unknown as LinkEvent).filter(({ data }) => data.paymentLink.id === id);
  const codeOf = ({ status, body }: ApiResponse<object>): unknown[] => [status, body.error?.code];

  it('are created once for a key, and returned to their account with what the payer needs', async () => {
    const link = await create({ idempotencyKey: 'order-1042' });
    const { paymentLink, clientSecret, url } = link;
    expect(paymentLink).toMatchObject({
      amount: '12.50',
      state: 'open',
      intents: [],
      paidBy: null,
      metadata: { order: '1042' },
      ttlSeconds: 86_400,
      livemode: false,
    });
    expect(paymentLink.offers.map(({ chain, token, requestor }) => [chain, token, requestor])).toEqual([
      [BASE, 'USDC', ON_BASE],
      [SOLANA, 'USDC', ON_SOLANA],
    ]);
    expect(url).toBe(`https://pay.example/link/${paymentLink.id}#${clientSecret.split('_secret_')[1]}`);
    const repeated = await full().request<LinkBody>('POST', '/payment-links', {
      ...order,
      idempotencyKey: 'order-1042',
    });
    expect([repeated.status, repeated.headers.get('idempotent-replayed'), repeated.body]).toEqual([
      200,
      'true',
      { ...link, replayed: true },
    ]);
    const [offer] = order.offers;
    const other = { ...order, amount: '99', offers: [offer], metadata: {}, idempotencyKey: 'order-1042' };
    expect((await full().request<LinkBody>('POST', '/payment-links', other)).body).toEqual({
      ...link,
      replayed: true,
      differs: {
        amount: { existing: '12.50', requested: '99' },
        'metadata.order': { existing: '1042', requested: null },
        'offers.1.chain': { existing: SOLANA, requested: null },
        'offers.1.requestor': { existing: ON_SOLANA, requested: null },
        'offers.1.token': { existing: 'USDC', requested: null },
        'offers.1.tokenAddress': { existing: paymentLink.offers[1]?.tokenAddress, requested: null },
      },
    });
    expect((await full().request('GET', `/payment-links/${paymentLink.id}`)).body).toEqual(link);

    const second = await create();
    const page = (query: string) =>
      full().request<{ paymentLinks: ShownPaymentLink[]; nextCursor: string | null }>('GET', `/payment-links?${query}`);
    const first = (await page('limit=1')).body;
    expect(first.paymentLinks).toEqual([second.paymentLink]);
    expect((await page(`limit=1&cursor=${first.nextCursor}`)).body.paymentLinks).toEqual([paymentLink]);
  });

  it('show payers what they can pay with, and count what they ask for', async () => {
    const link = await create();
    const { metadata: _private, ...shown } = link.paymentLink;
    const { body, headers } = await as(link.clientSecret).request('GET', `/payment-links/${link.paymentLink.id}`);
    expect(body).toEqual({ paymentLink: shown });
    expect(headers.get('ratelimit-policy')).toMatch(/^"address";q=\d+;w=60, "link";q=\d+;w=60$/);
  });

  it('name the offer that cannot be paid', async () => {
    const [base, solana] = order.offers;
    const problem = async (offers: object[], amount = '1') => {
      const { body } = await full().request('POST', '/payment-links', { amount, offers });
      return [body.error?.code, body.error?.param];
    };
    expect(await problem([base as object, { ...solana, requestor: ON_BASE }])).toEqual([
      'request.validation_failed',
      'offers.1.requestor',
    ]);
    expect(await problem([{ ...base, token: 'DOGE' }])).toEqual(['token.not_available', 'offers.0.token']);
    expect(await problem([{ ...base, chain: 'eip155:1' }])).toEqual(['chain.not_available', 'offers.0.chain']);
    expect(await problem([base as object], '0.0000001')).toEqual(['request.validation_failed', 'amount']);
  });

  describe('whose intents are also paid by their amount', () => {
    const byAmount = { attribution: 'amount' };

    it('say so, and so do their intents, each with an amount that it keeps', async () => {
      const [link, other] = [await create(byAmount), await create(byAmount)];
      expect(link.paymentLink).toMatchObject({ amount: '12.50', attribution: 'amount' });
      const [first, again] = await Promise.all([chosen(link, 0), chosen(link, 0)]);
      expect(again.intent).toEqual(first.intent);
      expect(first.intent).toMatchObject({ amount: '12.500001', attribution: 'amount' });
      expect((await chosen(other, 0)).intent.amount).toBe('12.500002');
      // Another network has amounts of its own.
      expect((await chosen(link, 1)).intent).toMatchObject({ amount: '12.500001', attribution: 'amount' });
      expect((await create()).paymentLink).not.toHaveProperty('attribution');
    });

    it('compare it in a repeat', async () => {
      const idempotencyKey = 'by-amount';
      await create({ ...byAmount, idempotencyKey });
      const { body } = await full().request('POST', '/payment-links', { ...order, idempotencyKey });
      expect(body).toMatchObject({
        replayed: true,
        differs: { attribution: { existing: 'amount', requested: 'reference' } },
      });
    });

    it('are refused where it is switched off, and where an amount is too large for it', async () => {
      const ask = async (at: Instance, change: object): Promise<unknown[]> => {
        const client = apiClient(`${at.url}/v1`, cluster.apiKeys.test);
        const { status, body } = await client.request('POST', '/payment-links', { ...order, ...byAmount, ...change });
        return [status, body.error?.code, body.error?.param];
      };
      expect(await ask(without, {})).toEqual([400, 'request.validation_failed', 'attribution']);
      const amount = '18446744073709.55';
      expect(await ask(gateway, { amount })).toEqual([400, 'request.validation_failed', 'amount']);
      expect(await ask(gateway, { amount, attribution: 'reference' })).toEqual([201, undefined, undefined]);
    });

    it('begin intents that their reference pays where it is switched off later', async () => {
      const link = await create(byAmount);
      const payer = apiClient(`${without.url}/v1`, link.clientSecret);
      const { body } = await payer.request<ChosenBody>('POST', `/payment-links/${link.paymentLink.id}/choose`, {
        offer: 0,
      });
      expect(body.intent.amount).toBe('12.50');
      expect(body.intent).not.toHaveProperty('attribution');
    });

    it('begin intents that only their reference pays where all amounts are reserved', async () => {
      const [offer] = order.offers;
      const link = await create({ ...byAmount, amount: '77', offers: [offer] });
      const { tokenAddress } = link.paymentLink.offers[0] ?? {};
      await cluster.database.sql.query(
        `INSERT INTO service.reserved_amounts
                (intent_id, account_id, livemode, chain, token_address, recipient, amount_base_units, reserved_at,
                 until)
         SELECT 'pi_taken' || n, $1, false, $2, $3, $4, 77000000 + n, now(), now() + interval '1 hour'
           FROM generate_series(1, 9999) n`,
        [cluster.accountId, BASE, tokenAddress, ON_BASE],
      );
      const { intent } = await chosen(link, 0);
      expect(intent.amount).toBe('77');
      expect(intent).not.toHaveProperty('attribution');
      expect((await chosen(link, 0)).intent.id).toBe(intent.id);
      await cluster.database.sql.query(`DELETE FROM service.reserved_amounts WHERE intent_id = 'pi_taken7'`);
      const later = await create({ ...byAmount, amount: '77', offers: [offer] });
      expect((await chosen(later, 0)).intent).toMatchObject({ amount: '77.000007', attribution: 'amount' });
    });
  });

  it('are refused where the plan or the screening refuses their intents', async () => {
    const [first] = order.offers;
    const live = as(cluster.apiKeys.live).request('POST', '/payment-links', {
      amount: '1',
      offers: [{ ...first, chain: 'eip155:8453' }],
      ttlSeconds: 600,
    });
    expect(codeOf(await live)).toEqual([402, 'plan.upgrade_required']);
    const [{ address: listed }] = LISTED;
    const refused = await full().request('POST', '/payment-links', {
      amount: '1',
      offers: [first, { ...first, requestor: listed }],
    });
    expect([...codeOf(refused), refused.body.error?.param]).toEqual([
      422,
      'address.sanctions_match',
      'offers.1.requestor',
    ]);
    const link = await create();
    await cluster.database.sql.query(
      `UPDATE service.payment_links SET offers = jsonb_set(offers, '{0,requestor}', to_jsonb($2::text)) WHERE id = $1`,
      [link.paymentLink.id, listed],
    );
    expect(codeOf(await choose(link, 0))).toEqual([422, 'address.sanctions_match']);
  });

  it('have one intent for an offer, however many ask for it at once', async () => {
    const link = await create();
    const credentials = Array.from({ length: 20 }, (_, at) => (at % 2 ? cluster.apiKeys.test : link.clientSecret));
    const answers = await Promise.all(credentials.map((credential) => choose(link, 1, credential)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.intent.id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.clientSecret)).size).toBe(1);
    const { intent, clientSecret } = await chosen(link, 1);
    expect(intent).toMatchObject({ chain: SOLANA, amount: '12.50', requestor: ON_SOLANA, state: 'created' });
    expect(intent).not.toHaveProperty('metadata');
    expect((await as(clientSecret).get(intent.id)).status).toBe(200);
    expect((await full().get(intent.id)).body.intent.metadata).toEqual(order.metadata);
    const { intents } = await fetched(link);
    expect(intents.map(({ offer, intentId, paid }) => [offer, intentId, paid])).toEqual([[1, intent.id, false]]);
    const { rows } = await cluster.database.sql.query<{ count: string }>(
      `SELECT count(*) FROM ledger.intents WHERE id IN
         (SELECT intent_id FROM service.payment_link_intents WHERE link_id = $1)`,
      [link.paymentLink.id],
    );
    expect(rows).toEqual([{ count: '1' }]);
  });

  it('create the intent that an earlier request could only assign', async () => {
    const link = await create();
    const { intent } = await chosen(link, 0);
    const unborn = intent.id.replace(/.{4}$/, '1111');
    await cluster.database.sql.query('UPDATE service.payment_link_intents SET intent_id = $2 WHERE intent_id = $1', [
      intent.id,
      unborn,
    ]);
    expect((await chosen(link, 0)).intent).toMatchObject({ id: unborn, state: 'created' });
  });

  it('are paid by the first payment, which cancels what else was begun', async () => {
    const link = await create();
    const base = await chosen(link, 0);
    const solana = await chosen(link, 1);
    await full().simulate(solana.intent.id, 'confirmed');
    await until('the other to be cancelled', async () => (await stateOf(base)) === 'cancelled');
    await until('the event', () => told(link).length === 1);
    const paid = await fetched(link);
    expect(paid).toMatchObject({ state: 'paid', paidBy: solana.intent.id });
    expect(paid.intents.map((intent) => [intent.intentId, intent.paid])).toEqual([
      [base.intent.id, false],
      [solana.intent.id, true],
    ]);
    expect(told(link)).toMatchObject([
      {
        type: 'payment_link.paid',
        data: { intentId: solana.intent.id, paymentLink: { state: 'paid', metadata: order.metadata } },
      },
    ]);
    // Whoever comes back sees how it ended; nothing else can be begun.
    expect((await chosen(link, 1)).intent.state).toBe('confirmed');
    const refused = await choose(link, 0);
    expect([...codeOf(refused), refused.body.error?.details?.['current_state']]).toEqual([
      409,
      'payment_link.invalid_state',
      'paid',
    ]);
    expect(codeOf(await full().request('POST', `/payment-links/${link.paymentLink.id}/cancel`))).toEqual([
      409,
      'payment_link.invalid_state',
    ]);
  });

  it('keep both payments when two come at once, and tell of the second', async () => {
    const link = await create();
    const both = [await chosen(link, 0), await chosen(link, 1)];
    // A payment that is under way cannot be cancelled.
    for (const { intent } of both) await full().simulate(intent.id, 'pending');
    await Promise.all(both.map(({ intent }) => full().simulate(intent.id, 'confirmed')));
    await until('both events', () => told(link).length === 2);
    const [first, second] = told(link).toSorted((a, b) => b.type.localeCompare(a.type));
    expect([first?.type, second?.type]).toEqual(['payment_link.paid', 'payment_link.extra_payment']);
    expect([first?.data.intentId, second?.data.intentId].toSorted()).toEqual(
      both.map(({ intent }) => intent.id).toSorted(),
    );
    const link2 = await fetched(link);
    expect([link2.state, link2.paidBy]).toEqual(['paid', first?.data.intentId]);
    expect(link2.intents.map(({ paid }) => paid)).toEqual([true, true]);
    expect(await Promise.all(both.map(stateOf))).toEqual(['confirmed', 'confirmed']);
  });

  it('are cancelled with what was begun', async () => {
    const link = await create();
    const base = await chosen(link, 0);
    const cancel = () => full().request<LinkBody>('POST', `/payment-links/${link.paymentLink.id}/cancel`);
    const { status, body } = await cancel();
    expect([status, body.paymentLink.state, body.paymentLink.cancelledAt === null]).toEqual([200, 'cancelled', false]);
    expect((await cancel()).body).toEqual(body);
    expect(codeOf(await choose(link, 1))).toEqual([409, 'payment_link.invalid_state']);
    await until('the intent to be cancelled', async () => (await stateOf(base)) === 'cancelled');
    await until('the event', () => told(link).length === 1);
    expect(told(link).map(({ type }) => type)).toEqual(['payment_link.cancelled']);
  });

  it('expire with their intents', async () => {
    const link = await create({ ttlSeconds: 600 });
    const { intent } = await chosen(link, 0);
    expect(Date.parse(intent.expiresAt) - Date.parse(link.paymentLink.expiresAt)).toBeLessThan(5_000);
    await cluster.database.sql.query(`UPDATE service.payment_links SET expires_at = now() WHERE id = $1`, [
      link.paymentLink.id,
    ]);
    await until('the event', () => told(link).length === 1);
    expect(told(link)).toMatchObject([{ type: 'payment_link.expired', data: { paymentLink: { state: 'expired' } } }]);
    expect((await fetched(link)).state).toBe('expired');
    expect(codeOf(await choose(link, 1))).toEqual([409, 'payment_link.invalid_state']);
    await until(
      'the intent to be cancelled',
      async () => (await full().get(intent.id)).body.intent.state === 'cancelled',
    );
  });

  it('expire although another one, whose turn came first, cannot be ended', async () => {
    const { sql } = cluster.database;
    const [broken, link] = [await create(), await create()];
    await sql.query(`
      CREATE FUNCTION service.refuse_link() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'this link cannot be ended'; END $$;
      CREATE TRIGGER refuse_link BEFORE UPDATE OF state ON service.payment_links
        FOR EACH ROW WHEN (OLD.id = '${broken.paymentLink.id}') EXECUTE FUNCTION service.refuse_link()`);
    for (const [minutes, { paymentLink }] of [
      [2, broken],
      [1, link],
    ] as const)
      await sql.query(
        `UPDATE service.payment_links SET expires_at = now() - $2::int * interval '1 minute' WHERE id = $1`,
        [paymentLink.id, minutes],
      );
    await until('the other link to expire', async () => (await fetched(link)).state === 'expired', 10_000);
    await until('its account to hear of it', () => told(link).some(({ type }) => type === 'payment_link.expired'));
    expect((await fetched(broken)).state).toBe('open');
    await sql.query('DROP TRIGGER refuse_link ON service.payment_links; DROP FUNCTION service.refuse_link');
  });

  it('give an offer another intent when the last one has ended unpaid, up to a limit', async () => {
    const link = await create();
    const first = await chosen(link, 0);
    await full().cancel(first.intent.id);
    const second = await chosen(link, 0);
    expect([second.intent.id === first.intent.id, second.intent.state]).toEqual([false, 'created']);
    await cluster.database.sql.query(
      `INSERT INTO service.payment_link_intents (intent_id, link_id, offer, open, created_at)
       SELECT 'pi_' || $1::text || n, $1, 5, false, now() FROM generate_series(1, $2) n`,
      [link.paymentLink.id, LINK_INTENTS_MAX - 2],
    );
    expect((await chosen(link, 0)).intent.id).toBe(second.intent.id);
    const refused = await choose(link, 1);
    expect([...codeOf(refused), refused.body.error?.details?.['max']]).toEqual([
      409,
      'payment_link.limit_reached',
      LINK_INTENTS_MAX,
    ]);
    expect(codeOf(await choose(link, 2))).toEqual([400, 'request.validation_failed']);
  });

  it('serve the client of integrators', async () => {
    const { paymentLinks } = new PaymentClient({ baseUrl: `${gateway.url}/v1`, apiKey: cluster.apiKeys.test });
    const created = await paymentLinks.create(order);
    const { id } = created.paymentLink;
    expect(await paymentLinks.get(id)).toEqual(created);
    const { intent, clientSecret } = await paymentLinks.choose(id, 0);
    expect([intent.metadata, await paymentLinks.choose(id, 0)]).toMatchObject([order.metadata, { clientSecret }]);
    const [newest] = (await paymentLinks.list({ limit: 1 }).page()).items;
    expect(newest?.intents.map(({ intentId }) => intentId)).toEqual([intent.id]);
    expect((await paymentLinks.cancel(id)).state).toBe('cancelled');
    expect((await paymentLinks.cancel(id)).state).toBe('cancelled');
  });

  it('exist for their account and mode only', async () => {
    const link = await create();
    const other = await createAccount(cluster.database, { name: 'other' });
    const { key } = await createKey(cluster.database, { accountId: other.id, livemode: false, scope: 'full' });
    for (const stranger of [key, cluster.apiKeys.live].map(as)) {
      const path = `/payment-links/${link.paymentLink.id}`;
      for (const [method, rest, body] of [
        ['GET', ''],
        ['POST', '/cancel'],
        ['POST', '/choose', { offer: 0 }],
      ] as const)
        expect(codeOf(await stranger.request(method, `${path}${rest}`, body))).toEqual([404, 'payment_link.not_found']);
      expect((await stranger.request<{ paymentLinks: [] }>('GET', '/payment-links')).body.paymentLinks).toEqual([]);
    }
    expect((await fetched(link)).state).toBe('open');
  });
});
