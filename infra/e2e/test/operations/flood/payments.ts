import {
  METADATA_KEYS_MAX,
  METADATA_VALUE_LENGTH_MAX,
  newDeliveryId,
  newWebhookReplayId,
  OPERATIONS,
} from '@pf/contracts';
import { openAccount } from '@pf/database';
import { type ApiClient, apiClient, type Cluster } from '@pf/testing';
import { Wallet } from 'ethers/wallet';
import type { Asked, Flood } from './flooding.ts';

const CHAIN = 'eip155:84532';
const REQUESTOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032';
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/';
const HOUR = '2026-11-27T00:00:00.000Z';

const METADATA = Object.fromEntries(
  Array.from({ length: METADATA_KEYS_MAX }, (_, n) => [`key-${n}`, 'm'.repeat(METADATA_VALUE_LENGTH_MAX)]),
);
const QUERY = Array.from(
  { length: METADATA_KEYS_MAX },
  (_, n) => `metadata[key-${n}]=${'m'.repeat(METADATA_VALUE_LENGTH_MAX)}`,
).join('&');
export const PAYMENT = { chain: CHAIN, token: 'USDC', amount: '2', requestor: REQUESTOR };
const LINK = {
  amount: '2',
  offers: ['USDC', 'EURC'].map((token) => ({ chain: CHAIN, token, requestor: REQUESTOR })),
};

/** Whoever floods: an account of its own on the free plan, whose lists are as long as is quickly made. */
export interface Stranger {
  readonly accountId: string;
  readonly key: string;
  readonly api: ApiClient;
  readonly intent: { readonly id: string; readonly clientSecret: string };
  readonly link: { readonly id: string; readonly clientSecret: string };
  readonly endpointId: string;
  /** Opens the account's paymaster for the intent. */
  readonly paymasterToken: string;
}

/** What only payers are shown of an intent. */
interface PayerBody {
  readonly paymasterUrl?: string | null;
  readonly solanaPayToken?: string | null;
}

/** @param hanging the URL of a receiver that never answers */
export async function newStranger(cluster: Cluster, url: string, hanging: string): Promise<Stranger> {
  const { id: accountId, apiKeys } = await openAccount(cluster.database, cluster.secretsKey, { name: 'stranger' });
  const api = apiClient(`${url}/v1`, apiKeys.test);
  const create = () => api.create({ ...PAYMENT, metadata: METADATA });
  const [{ body: first }, link, endpoint] = await Promise.all([
    create(),
    api.request<{ paymentLink: { id: string }; clientSecret: string }>('POST', '/payment-links', LINK),
    api.request<{ endpoint: { id: string } }>('POST', '/webhook-endpoints', { url: hanging }),
    api.request('PUT', `/sponsors/${CHAIN}`, { url: NOWHERE }),
  ]);
  const { paymasterUrl } = await shownToPayer(url, first);
  return {
    accountId,
    key: apiKeys.test,
    api,
    intent: { id: first.intent.id, clientSecret: first.clientSecret },
    link: { id: link.body.paymentLink.id, clientSecret: link.body.clientSecret },
    endpointId: endpoint.body.endpoint.id,
    paymasterToken: paymasterUrl?.split('/').at(-1) ?? '',
  };
}

/** What the payer of an intent is shown of it. */
export async function shownToPayer(
  url: string,
  { intent, clientSecret }: { readonly intent: { readonly id: string }; readonly clientSecret: string },
): Promise<PayerBody> {
  const { body } = await apiClient(`${url}/v1`, clientSecret).request<PayerBody>('GET', `/intents/${intent.id}`);
  return body;
}

const hash = (n: number): string => `0x${n.toString(16).padStart(64, 'f')}`;
/** The longest transaction with as many addresses as may be accessed. */
const WORST_TRANSACTION = Buffer.from(
  (
    await new Wallet(`0x${'a1'.repeat(32)}`).signTransaction({
      type: 2,
      chainId: 84_532,
      nonce: 0,
      to: USDC,
      data: '0x',
      gasLimit: 1_000_000,
      maxFeePerGas: 1,
      maxPriorityFeePerGas: 1,
      accessList: Array.from({ length: 16 }, (_, at) => ({
        address: `0x${at.toString(16).padStart(40, 'a')}`,
        storageKeys: Array.from({ length: 6 }, (_key, key) => hash(key)),
      })),
    })
  ).slice(2),
  'hex',
).toString('base64');

const word = (value: number): string => value.toString(16).padStart(64, '0');
/** As many calls as fit, all of them the same bytes (packages/chains/test/worst-inputs.unit.test.ts has others). */
const CALLS = 240;
const WORST_CALLS = [
  '0x34fcd5be',
  word(32),
  word(CALLS),
  word(32 * CALLS).repeat(CALLS),
  // (address, uint256, bytes)
  USDC.slice(2).padStart(64, '0'),
  word(0),
  word(96),
  word(0),
].join('');

type Fields = Readonly<Record<string, unknown>>;

interface Worst {
  /** By what the request is authorized. Default: the key. */
  readonly by?: 'secret' | 'link' | 'paymaster';
  readonly id?: string;
  readonly query?: string;
  readonly body?: Fields | ((n: number) => Fields);
}

/** The worst that each operation takes. One without an entry does not compile. */
const WORST: { readonly [Id in keyof typeof OPERATIONS]: (stranger: Stranger) => Worst } = {
  createIntent: () => ({ body: (n) => ({ ...PAYMENT, metadata: METADATA, idempotencyKey: `${n}`.padEnd(255, 'k') }) }),
  getIntent: ({ intent: { id } }) => ({ by: 'secret', id }),
  listIntents: () => ({ query: `limit=100&${QUERY}` }),
  updateIntent: ({ intent: { id } }) => ({ id, body: { updatedAt: HOUR, metadata: METADATA } }),
  cancelIntent: ({ intent: { id } }) => ({ id, body: {} }),
  refundIntent: ({ intent: { id } }) => ({ id, body: {} }),
  simulateIntent: ({ intent: { id } }) => ({ id, body: { targetState: 'finalized' } }),
  createPaymentLink: () => ({
    body: (n) => ({ ...LINK, metadata: METADATA, idempotencyKey: `${n}`.padEnd(255, 'k') }),
  }),
  getPaymentLink: ({ link: { id } }) => ({ by: 'link', id }),
  listPaymentLinks: () => ({ query: 'limit=100' }),
  listDeposits: () => ({ query: 'limit=100' }),
  getDeposit: () => ({ id: 'dp_5mUj8xNgYq3vWJ2hTfKd7' }),
  ignoreDeposit: () => ({ id: 'dp_5mUj8xNgYq3vWJ2hTfKd7', body: {} }),
  reopenDeposit: () => ({ id: 'dp_5mUj8xNgYq3vWJ2hTfKd7', body: {} }),
  assignDeposit: () => ({ id: 'dp_5mUj8xNgYq3vWJ2hTfKd7', body: { intentId: 'pi_5mUj8xNgYq3vWJ2hTfKd7' } }),
  unassignDeposit: () => ({ id: 'dp_5mUj8xNgYq3vWJ2hTfKd7', body: {} }),
  cancelPaymentLink: ({ link: { id } }) => ({ id, body: {} }),
  chooseOffer: ({ link: { id } }) => ({ by: 'link', id, body: (n) => ({ offer: n % 2 }) }),
  detectIntent: ({ intent: { id } }) => ({ by: 'secret', id, body: {} }),
  buildIntent: ({ intent: { id } }) => ({ by: 'secret', id, body: (n) => ({ fulfiller: walletOf(n) }) }),
  submitIntent: ({ intent: { id } }) => ({
    by: 'secret',
    id,
    // Half of them are parsed, the others looked for.
    body: (n) => ({ signedTransaction: n % 2 === 0 ? WORST_TRANSACTION : hash(n), fulfiller: walletOf(n) }),
  }),
  buildAuthorization: ({ intent: { id } }) => ({ by: 'secret', id, body: (n) => ({ fulfiller: walletOf(n) }) }),
  submitAuthorization: ({ intent: { id } }) => ({
    by: 'secret',
    id,
    body: (n) => ({
      authorization: {
        from: walletOf(n),
        to: REQUESTOR,
        value: '2000000',
        validAfter: '0',
        validBefore: String(2 ** 47),
        nonce: hash(n),
      },
      signature: `0x${'12'.repeat(8_191)}`,
    }),
  }),
  askPaymaster: ({ intent: { id } }) => ({
    by: 'paymaster',
    id,
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'pm_getPaymasterStubData',
      params: [{ sender: walletOf(1), nonce: '0x0', callData: WORST_CALLS }, ENTRY_POINT, '0x14a34'],
    },
  }),
  payByMpp: ({ intent: { id } }) => ({ by: 'secret', id, body: {} }),
  intentEvents: ({ intent: { id } }) => ({ by: 'secret', id, query: 'limit=100' }),
  setSponsor: () => ({ id: CHAIN, body: { url: NOWHERE, context: { policy: 'p'.repeat(2_000) } } }),
  listSponsors: () => ({}),
  removeSponsor: () => ({ id: CHAIN }),
  listDeliveries: ({ intent: { id } }) => ({ query: `limit=100&intentId=${id}` }),
  retryDelivery: () => ({ id: newDeliveryId(), body: {} }),
  deliveryAttempts: () => ({ id: newDeliveryId() }),
  createEndpoint: () => ({
    body: (n) => ({ url: `https://shop.example/${String(n).padEnd(2_000, 'u')}`, name: 'n'.repeat(100) }),
  }),
  listEndpoints: () => ({}),
  getEndpoint: ({ endpointId: id }) => ({ id }),
  updateEndpoint: ({ endpointId: id }) => ({ id, body: (n) => ({ name: String(n).padEnd(100, 'n') }) }),
  removeEndpoint: ({ endpointId: id }) => ({ id }),
  enableEndpoint: ({ endpointId: id }) => ({ id, body: {} }),
  rotateEndpointSecret: ({ endpointId: id }) => ({ id, body: (n) => ({ idempotencyKey: `${n}`.padEnd(255, 'k') }) }),
  // Its receiver never answers.
  testEndpoint: ({ endpointId: id }) => ({ id, body: {} }),
  createReplay: () => ({ body: (n) => ({ since: HOUR, idempotencyKey: `${n}`.padEnd(255, 'k') }) }),
  listReplays: () => ({ query: 'limit=100' }),
  getReplay: () => ({ id: newWebhookReplayId() }),
  cancelReplay: () => ({ id: newWebhookReplayId(), body: {} }),
};

const walletOf = (n: number): string => `0x${(n + 1).toString(16).padStart(40, '7')}`;

export type PaymentOperation = keyof typeof WORST;
export const PAYMENT_OPERATIONS = Object.keys(WORST) as readonly PaymentOperation[];

/** The worst requests to an operation. */
export function floodOf(operation: PaymentOperation, stranger: Stranger): Flood {
  const { method, path } = OPERATIONS[operation];
  const { by, id = '', query, body } = WORST[operation](stranger);
  const { intent, link, key, paymasterToken } = stranger;
  const bearer = { secret: intent.clientSecret, link: link.clientSecret, paymaster: paymasterToken };
  const secret = by === undefined ? key : bearer[by];
  return (n): Asked => ({
    method: method.toUpperCase(),
    path: `/v1${path.replace(/\{\w+\}/, encodeURIComponent(id))}${query === undefined ? '' : `?${query}`}`,
    headers: { accept: 'application/json', authorization: `Bearer ${secret}` },
    body: typeof body === 'function' ? body(n) : body,
  });
}
