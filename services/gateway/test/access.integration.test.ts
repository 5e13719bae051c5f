import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PayerClient } from '@pf/client';
import {
  newDeliveryId,
  newIntentId,
  newPaymentLinkId,
  newWebhookEndpointId,
  newWebhookReplayId,
  OPERATIONS,
  SOLANA_PAY_TOKEN,
} from '@pf/contracts';
import { createKey } from '@pf/database';
import {
  apiClient,
  type ApiResponse,
  type Cluster,
  type CreatedBody,
  type Instance,
  readBackingStack,
  startCluster,
} from '@pf/testing';
import { ClientSecrets } from '../src/client-secrets.ts';
import { type Challenge, challengeOf, credentialFor } from './mpp/credentials.ts';

const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const REQUESTOR = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const FULFILLER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const PRIVATE = { idempotencyKey: 'order-private-1', metadata: { customer: 'private@example.com' } };
const good = { chain: SOLANA, token: 'USDC', amount: '12.50', requestor: REQUESTOR, ttlSeconds: 600 };

/** The operations of payers, those of their tokens, and those of the secret of a payment link. */
const PAYERS = [
  'getIntent',
  'detectIntent',
  'buildIntent',
  'submitIntent',
  'buildAuthorization',
  'submitAuthorization',
  'askPaymaster',
  'payByMpp',
  'intentEvents',
];
const MPP = ['payByMpp'];
const SOLANA_PAY = ['getIntent', 'buildIntent'];
const PAYMASTER = ['askPaymaster'];
const LINK = ['getPaymentLink', 'chooseOffer'];

const BODIES: Readonly<Record<string, object>> = {
  createIntent: good,
  updateIntent: { updatedAt: '2026-11-21T12:00:00.000Z', metadata: {} },
  buildIntent: { fulfiller: FULFILLER },
  submitIntent: { signedTransaction: 'AA==', fulfiller: FULFILLER },
  submitAuthorization: {
    authorization: {
      from: EVM_WALLET,
      to: EVM_WALLET,
      value: '1',
      validAfter: '0',
      validBefore: '1',
      nonce: `0x${'0'.repeat(64)}`,
    },
    signature: '0x12',
  },
  askPaymaster: { jsonrpc: '2.0', id: 1, method: 'pm_getPaymasterData', params: [] },
  simulateIntent: { targetState: 'created' },
  setSponsor: { url: 'https://kora.example' },
  createEndpoint: { url: 'https://shop.example/webhooks' },
  createReplay: { since: '2026-11-21T12:00:00.000Z' },
  createPaymentLink: { amount: '12.50', offers: [{ chain: SOLANA, token: 'USDC', requestor: REQUESTOR }] },
  chooseOffer: { offer: 0 },
};
const IDS: Readonly<Record<string, () => string>> = {
  webhooks: newDeliveryId,
  'webhook-endpoints': newWebhookEndpointId,
  'webhook-replays': newWebhookReplayId,
  'payment-links': newPaymentLinkId,
};

interface LinkBody {
  readonly paymentLink: { readonly id: string };
  readonly clientSecret: string;
}
/** What it pays with is no transaction: access is decided before it is looked at. */
const credentialOf = (challenge: Challenge) => credentialFor(challenge, { type: 'transaction', transaction: 'AA==' });
const codeOf = (secret: string): string => secret.split('_secret_')[1] ?? '';

describe('access to the API', () => {
  let cluster: Cluster;
  let gateway: Instance;
  let payerKey: string;
  let created: CreatedBody;
  let other: CreatedBody;
  /** What the full key changes. */
  let spare: CreatedBody;
  let token: string;
  let challenge: Challenge;
  let otherChallenge: Challenge;
  let link: LinkBody;
  let otherLink: LinkBody;
  const as = (credential: string | null) => apiClient(`${gateway.url}/v1`, credential);
  const fetched = async <Body = Record<string, unknown>>(credential: string): Promise<Body> =>
    (await as(credential).request<Body>('GET', `/intents/${created.intent.id}`)).body;

  /** Intents on Base have one; whether it opens its intent does not depend on the chain. */
  const paymasterToken = (): string => {
    const secrets = new ClientSecrets(cluster.secretsKey, new URL('https://pay.example'));
    const url = new URL(secrets.paymasterUrl({ id: created.intent.id, livemode: false }) ?? '');
    return url.pathname.slice('/p/'.length);
  };

  beforeAll(async () => {
    cluster = await startCluster();
    gateway = await cluster.start('gateway', { env: { CHECKOUT_URL: 'https://pay.example' } });
    await cluster.start('intent');
    const full = as(cluster.apiKeys.test);
    created = (await full.create({ ...good, ...PRIVATE })).body;
    other = (await full.create(good)).body;
    spare = (await full.create(good)).body;
    token = (await fetched<{ solanaPayToken: string }>(created.clientSecret)).solanaPayToken;
    challenge = await challengeOf(as(created.clientSecret), created.intent.id);
    otherChallenge = await challengeOf(as(other.clientSecret), other.intent.id);
    const createLink = async () =>
      (
        await full.request<LinkBody>('POST', '/payment-links', {
          ...BODIES['createPaymentLink'],
          metadata: PRIVATE.metadata,
        })
      ).body;
    link = await createLink();
    otherLink = await createLink();
    payerKey = (await createKey(cluster.database, { accountId: cluster.accountId, livemode: false, scope: 'payer' }))
      .key;
  });
  afterAll(() => cluster.close());

  /** Who calls, and what they get: `passes` is any response of the endpoint itself. */
  const CALLERS = {
    'a full key': () => cluster.apiKeys.test,
    'a payer key': () => payerKey,
    'the client secret': () => created.clientSecret,
    'the client secret of another intent': () => other.clientSecret,
    'the Solana Pay token': () => token,
    'the paymaster token': () => paymasterToken(),
    'the secret of the payment link': () => link.clientSecret,
    'the secret of another payment link': () => otherLink.clientSecret,
    'a secret with the code of a payment link': () => `${created.intent.id}_secret_${codeOf(link.clientSecret)}`,
    'a forged secret of the payment link': () => `${link.paymentLink.id}_secret_${codeOf(otherLink.clientSecret)}`,
    'an MPP credential': () => credentialOf(challenge),
    'an MPP credential of another intent': () => credentialOf(otherChallenge),
    'an MPP credential with a changed challenge': () => credentialOf({ ...challenge, realm: otherChallenge.realm }),
    'a forged client secret': () => `${created.intent.id}_secret_${other.clientSecret.split('_secret_')[1]}`,
    'a malformed client secret': () => `${created.intent.id}_secret_`,
    'no credential': () => null,
  } as const;
  type Caller = keyof typeof CALLERS;

  const expected = (caller: Caller, operation: string): string => {
    const isPayers = PAYERS.includes(operation);
    switch (caller) {
      case 'a full key':
        return 'passes';
      case 'a payer key':
      case 'the client secret':
        return isPayers ? 'passes' : 'api_key.insufficient_scope';
      case 'the client secret of another intent':
        return isPayers ? 'intent.not_found' : 'api_key.insufficient_scope';
      case 'the Solana Pay token':
        return SOLANA_PAY.includes(operation) ? 'passes' : 'api_key.insufficient_scope';
      case 'the paymaster token':
        return PAYMASTER.includes(operation) ? 'passes' : 'api_key.insufficient_scope';
      case 'the secret of the payment link':
        return LINK.includes(operation) ? 'passes' : 'api_key.insufficient_scope';
      case 'the secret of another payment link':
        return LINK.includes(operation) ? 'payment_link.not_found' : 'api_key.insufficient_scope';
      case 'an MPP credential':
        return MPP.includes(operation) ? 'passes' : 'api_key.insufficient_scope';
      case 'an MPP credential of another intent':
        return MPP.includes(operation) ? 'intent.not_found' : 'api_key.insufficient_scope';
      case 'an MPP credential with a changed challenge':
      case 'a secret with the code of a payment link':
      case 'a forged secret of the payment link':
      case 'a forged client secret':
      case 'a malformed client secret':
        return 'api_key.invalid';
      case 'no credential':
        return 'api_key.missing';
    }
  };
  const REFUSALS = ['api_key.missing', 'api_key.invalid', 'api_key.insufficient_scope'];

  describe.each(Object.values(OPERATIONS).map(({ id, method, path }) => ({ id, method, path })))(
    '$method $path',
    ({ id, method, path }) => {
      it.each(Object.keys(CALLERS) as Caller[])('lets %s do what it may', async (caller) => {
        const { intent } = caller === 'a full key' ? spare : created;
        const ownId = LINK.includes(id) ? link.paymentLink.id : intent.id;
        const target = path
          .replace('{id}', () => (LINK.includes(id) ? null : IDS[path.split('/')[1] ?? '']?.()) ?? ownId)
          .replace('{chain}', SOLANA);
        const body = method === 'get' || method === 'delete' ? undefined : (BODIES[id] ?? {});
        const credential = CALLERS[caller]();
        const response: ApiResponse<object> = await (typeof credential === 'object'
          ? as(null).request(method.toUpperCase(), target, body, credential ?? {})
          : as(credential).request(method.toUpperCase(), target, body));
        const code = response.body.error?.code;
        const isOfIntent = path.includes('/intents/{id}');
        const isRefused =
          code !== undefined &&
          (REFUSALS.includes(code) ||
            (isOfIntent && code === 'intent.not_found') ||
            (LINK.includes(id) && code === 'payment_link.not_found'));
        expect(isRefused ? code : 'passes').toBe(expected(caller, id));
        if (caller !== 'a full key') {
          const text = JSON.stringify(response.body);
          for (const secret of [PRIVATE.idempotencyKey, PRIVATE.metadata.customer, 'refundedBy', 'refundOf'])
            expect(text).not.toContain(secret);
        }
      });
    },
  );

  it('gives a full key, with a new intent and with one that it fetches, what the payer needs', async () => {
    const { clientSecret, paymentUrl, intent } = created;
    expect(paymentUrl).toBe(`https://pay.example/pay/${intent.id}#${clientSecret.split('_secret_')[1]}`);
    expect(await fetched(cluster.apiKeys.test)).toMatchObject({ clientSecret, paymentUrl });
    const again = await as(cluster.apiKeys.test).create({ ...good, ...PRIVATE });
    expect([again.status, again.body.clientSecret]).toEqual([200, clientSecret]);
    const list = await as(cluster.apiKeys.test).list();
    expect(JSON.stringify(list.body)).not.toContain('_secret_');
  });

  it('gives payers the intent without what is between the account and the service', async () => {
    const { idempotencyKey, metadata, refundedBy, refundOf, ...shared } = (
      await fetched<{ intent: Record<string, unknown> }>(cluster.apiKeys.test)
    ).intent;
    expect([idempotencyKey, metadata, refundedBy, refundOf]).toEqual([
      PRIVATE.idempotencyKey,
      PRIVATE.metadata,
      null,
      null,
    ]);
    expect(await fetched(created.clientSecret)).toEqual({
      intent: shared,
      solanaPayToken: token,
      sponsors: [],
      paymasterUrl: null,
    });
    for (const credential of [payerKey, token]) expect(await fetched(credential)).toEqual({ intent: shared });
  });

  it('gives payers the events of the intent reduced, in the history and in the stream', async () => {
    const own = await as(cluster.apiKeys.test).events(created.intent.id);
    expect(JSON.stringify(own.body)).toContain(PRIVATE.metadata.customer);
    for (const credential of [created.clientSecret, payerKey]) {
      const stream = await as(credential).follow(created.intent.id, '0');
      const history = await as(credential).events(created.intent.id);
      while (stream.messages.length < history.body.events.length)
        await new Promise((resolve) => setTimeout(resolve, 20));
      stream.close();
      const resumed = stream.messages.map(({ data }) => JSON.parse(data) as unknown);
      expect(resumed.slice(0, history.body.events.length)).toEqual(history.body.events);
      const snapshot = await as(credential).follow(created.intent.id);
      while (snapshot.messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      snapshot.close();
      const text = JSON.stringify([history.body, stream.messages, snapshot.messages]);
      expect(text).toContain(created.intent.reference);
      for (const secret of [PRIVATE.idempotencyKey, PRIVATE.metadata.customer, 'refundedBy', 'refundOf'])
        expect(text).not.toContain(secret);
    }
  });

  it('builds with a Solana Pay token without recording, because the wallet changes the transaction', async () => {
    const [wallet] = readBackingStack().chains['solana']?.wallets ?? [];
    const intent = (await as(cluster.apiKeys.test).create(good)).body;
    const { solanaPayToken } = (
      await as(intent.clientSecret).request<{ solanaPayToken: string }>('GET', `/intents/${intent.intent.id}`)
    ).body;
    const built = await as(solanaPayToken).build(intent.intent.id, wallet?.address);
    expect([built.status, built.body.transaction.format]).toEqual([200, 'solana_v0_message']);
    const after = (await as(cluster.apiKeys.test).get(intent.intent.id)).body.intent;
    expect([built.body.intent.fulfiller, after.fulfiller, after.updatedAt]).toEqual([
      null,
      null,
      intent.intent.updatedAt,
    ]);
    const recorded = await as(intent.clientSecret).build(intent.intent.id, wallet?.address);
    expect(recorded.body.intent.fulfiller).toBe(wallet?.address);
  });

  it('serves the client of payers, which follows the payment to its end', async () => {
    const full = as(cluster.apiKeys.test);
    const { clientSecret, intent } = (await full.create({ ...good, ...PRIVATE, idempotencyKey: 'order-2' })).body;
    const payer = new PayerClient({ baseUrl: `${gateway.url}/v1`, clientSecret });
    expect([payer.id, (await payer.get()).id, (await payer.detected()).state]).toEqual([
      intent.id,
      intent.id,
      'created',
    ]);
    expect(await payer.solanaPayToken()).toMatch(SOLANA_PAY_TOKEN);
    const seen: string[] = [];
    for await (const { type, intent: now } of payer.follow()) {
      seen.push(`${type} ${now.state}`);
      expect(now).not.toHaveProperty('metadata');
      if (type === 'snapshot') await full.simulate(intent.id, 'confirmed');
    }
    expect(seen).toEqual(['snapshot created', 'intent.pending pending', 'intent.confirmed confirmed']);
    expect((await payer.events()).map(({ type }) => type)).toEqual([
      'intent.created',
      'intent.detected',
      'intent.pending',
      'intent.confirmed',
    ]);
  });

  it('opens no intent of the other mode, and none that was never made', async () => {
    const { secretsKey } = cluster;
    const secrets = new ClientSecrets(secretsKey);
    const codeOf = async (id: string, livemode: boolean) => {
      const { clientSecret } = secrets.forPayer({ id: created.intent.id, livemode });
      const { status, body } = await as(clientSecret).get(id);
      return [status, body.error?.code];
    };
    expect(await codeOf(created.intent.id, false)).toEqual([200, undefined]);
    expect(await codeOf(created.intent.id, true)).toEqual([503, 'service.unavailable']);
    const unknown = secrets.forPayer({ id: newIntentId(0), livemode: false }).clientSecret;
    expect((await as(unknown).get(created.intent.id)).status).toBe(503);
  });

  it('leaves no secret in logs, events and webhooks', async () => {
    const { rows } = await cluster.database.sql.query<{ row: string }>(
      'SELECT e::text AS row FROM ledger.intent_events e UNION ALL SELECT i::text FROM ledger.intents i',
    );
    const kept = [await readFile(gateway.log, 'utf8'), ...rows.map(({ row }) => row)].join('\n');
    expect(kept).toContain(created.intent.id);
    for (const secret of [created.clientSecret.split('_secret_')[1], token.split('_spl_')[1], '_secret_', '_spl_'])
      expect(kept).not.toContain(secret);
  });
});
