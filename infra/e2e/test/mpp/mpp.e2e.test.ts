import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ApiClient,
  apiClient,
  checkedFetch,
  type Cluster,
  type CreatedBody,
  readBackingStack,
  type StackWallet,
  startCluster,
  until,
} from '@pf/testing';
import { type LocalSolana, startSolana, startTempo, type Tempo } from '@pf/testing/chains';
import { newWallet } from '@pf/testing/wallets';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { solana } from '@solana/mpp/client';
import { base58 } from '@scure/base';
import { Receipt } from 'mppx';
import { Mppx, tempo } from 'mppx/client';
import { createClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempoModerato } from 'viem/chains';

const PACE_MS = 300;
/** A test pays on a chain that runs, and waits for its confirmation. */
const TEST_MS = 90_000;
type Name = 'solana' | 'tempo';
type Way = 'pull' | 'push';
/** What a client does with a request, as fetch does. */
type Pay = (url: string, init: RequestInit) => Promise<Response>;

let chains: { readonly solana: LocalSolana; readonly tempo: Tempo };
let cluster: Cluster;
let api: ApiClient;
/** Without a key: a credential opens what it pays. */
let stranger: ApiClient;
let baseUrl: string;

const walletAt = (name: Name, index: number): StackWallet => chains[name].wallets[index] as StackWallet;

/** The requestor on Solana has a token account, which these clients do not create. */
async function create(name: Name): Promise<CreatedBody> {
  const requestor = name === 'solana' ? walletAt(name, 0).address : newWallet(chains.tempo).address;
  const { status, body } = await api.create({ chain: chains[name].caip2, token: 'USDC', amount: '3', requestor });
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
}

/** The client of the protocol's own library: a payer's whole program. The service's code has no part in it. */
async function clientOf(name: Name, { privateKey }: StackWallet, way: Way, fetch: Pay): Promise<Pay> {
  const common = { fetch: fetch as typeof globalThis.fetch, polyfill: false };
  if (name === 'tempo') {
    const account = privateKeyToAccount(privateKey as Hex);
    const client = createClient({ account, chain: tempoModerato, transport: http(chains.tempo.rpcUrl) });
    const method = tempo.charge({ account, getClient: () => client, mode: way });
    const { fetch: pay } = Mppx.create({ ...common, methods: [method] });
    return (url, init) => pay(url, init);
  }
  const signer = await createKeyPairSignerFromBytes(base58.decode(privateKey));
  const method = solana.charge({ signer, rpcUrl: chains.solana.rpcUrl, broadcast: way === 'push' });
  const { fetch: pay } = Mppx.create({ ...common, methods: [method] });
  return (url, init) => pay(url, init);
}

/** Keeps the credentials that a client sends, to repeat them. @param withheld they do not reach the service */
function recording(withheld = false): { readonly fetch: Pay; readonly credentials: string[] } {
  const credentials: string[] = [];
  return {
    credentials,
    fetch: async (url, init) => {
      const authorization = new Headers(init.headers).get('Authorization') ?? '';
      const isCredential = authorization.startsWith('Payment ');
      if (isCredential) credentials.push(authorization);
      if (isCredential && withheld) return new Response('{}', { status: 503 });
      return until('a response of the chain', async () => {
        const response = await checkedFetch(baseUrl)(url, init);
        return response.status !== 503 && response;
      });
    },
  };
}
const bearer = (secret: string): RequestInit => ({ method: 'POST', headers: { Authorization: `Bearer ${secret}` } });
const repeat = (id: string, credential: string) =>
  stranger.request('POST', `/intents/${id}/mpp`, undefined, { Authorization: credential });
const read = (credential: string) =>
  JSON.parse(Buffer.from(credential.slice('Payment '.length), 'base64url').toString()) as {
    challenge: Record<string, string>;
    payload: Record<string, string>;
  };
const written = (credential: object): string =>
  `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;

/** Another text of the same form. */
const changed = (text: string): string =>
  /^\d{4}-/.test(text) ? text.replace(/^\d{4}/, '2099') : text.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

beforeAll(async () => {
  const [onSolana, onTempo] = await Promise.all([startSolana({ slotMs: PACE_MS }), startTempo({ blockMs: PACE_MS })]);
  chains = { solana: onSolana, tempo: onTempo };
  cluster = await startCluster(readBackingStack(), Object.values(chains));
  const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent'), cluster.start('watcher')]);
  baseUrl = `${gateway.url}/v1`;
  api = apiClient(baseUrl, cluster.apiKeys.test);
  stranger = apiClient(baseUrl, null);
}, TEST_MS);
afterAll(async () => {
  await cluster.close();
  await Promise.all(Object.values(chains).map((chain) => chain.stop()));
});

describe.each([
  ['tempo', 'pull', 1],
  ['tempo', 'push', 2],
  ['solana', 'pull', 1],
  ['solana', 'push', 2],
] as const)('an MPP client on %s, by %s', (name, way, payer) => {
  it(
    'pays an intent with its client secret, once',
    async () => {
      const { intent, clientSecret } = await create(name);
      const { fetch, credentials } = recording();
      const pay = await clientOf(name, walletAt(name, payer), way, fetch);
      const response = await pay(`${baseUrl}/intents/${intent.id}/mpp`, bearer(clientSecret));
      const body = (await response.json()) as {
        readonly intent: { readonly state: string };
        readonly txSignature: string;
      };
      expect([response.status, body]).toMatchObject([200, { txSignature: expect.any(String) }]);
      expect(['confirmed', 'finalized']).toContain(body.intent.state);
      expect(body.intent).not.toHaveProperty('metadata');
      expect(Receipt.fromResponse(response)).toMatchObject({
        method: name,
        reference: body.txSignature,
        status: 'success',
      });
      const paid = (await api.get(intent.id)).body.intent;
      expect(paid).toMatchObject({ fulfiller: walletAt(name, payer).address, txSignature: body.txSignature });

      const [credential = ''] = credentials;
      expect(credentials).toHaveLength(1);
      const again = await repeat(intent.id, credential);
      expect([again.status, again.body.error?.code]).toEqual([409, 'intent.already_fulfilled']);
      expect(again.headers.get('Payment-Receipt')).toBeNull();
    },
    TEST_MS,
  );
});

describe.each([
  ['tempo', 3],
  ['solana', 3],
] as const)('a credential of an MPP client on %s', (name, payer) => {
  it(
    'pays no other intent, nothing once it is changed, and nothing that was asked for otherwise',
    async () => {
      const { intent, clientSecret } = await create(name);
      const other = await create(name);
      const { fetch, credentials } = recording(true);
      const pay = await clientOf(name, walletAt(name, payer), 'pull', fetch);
      await pay(`${baseUrl}/intents/${intent.id}/mpp`, bearer(clientSecret));
      const [credential = ''] = credentials;
      const { challenge, payload } = read(credential);
      const codeOf = async (id: string, text: string) => {
        const { status, body } = await repeat(id, text);
        return [status, body.error?.code];
      };
      expect(await codeOf(other.intent.id, credential)).toEqual([404, 'intent.not_found']);
      for (const field of ['id', 'realm', 'request', 'expires'])
        expect([
          field,
          ...(await codeOf(
            intent.id,
            written({ challenge: { ...challenge, [field]: changed(challenge[field] ?? '') }, payload }),
          )),
        ]).toEqual([field, 401, 'api_key.invalid']);
      // A challenge of another intent with this payment: it is judged by what it does.
      const { headers } = await api.request('POST', `/intents/${other.intent.id}/mpp`);
      const others: Record<string, string> = {};
      for (const [, key = '', value = ''] of (headers.get('WWW-Authenticate') ?? '').matchAll(/(\w+)="([^"]*)"/g))
        others[key] = value;
      expect(await codeOf(other.intent.id, written({ challenge: others, payload }))).toEqual([
        422,
        'transaction.mismatch',
      ]);
      expect(await codeOf(intent.id, written({ challenge, payload: { type: 'proof' } }))).toEqual([
        422,
        'transaction.malformed',
      ]);
      for (const id of [intent.id, other.intent.id]) expect((await api.get(id)).body.intent.state).toBe('created');
    },
    TEST_MS,
  );
});

describe.each([
  ['tempo', 4],
  ['solana', 4],
] as const)('a payment that an MPP client on %s has sent', (name, payer) => {
  it(
    'is found although the client never reported it',
    async () => {
      const { intent, clientSecret } = await create(name);
      const { fetch, credentials } = recording(true);
      const pay = await clientOf(name, walletAt(name, payer), 'push', fetch);
      await pay(`${baseUrl}/intents/${intent.id}/mpp`, bearer(clientSecret));
      const { payload } = read(credentials[0] ?? '');
      const paid = await until(
        `${intent.id} to be finalized`,
        async () => {
          const now = (await api.get(intent.id)).body.intent;
          return now.state === 'finalized' && now;
        },
        TEST_MS,
      );
      expect(paid).toMatchObject({ fulfiller: walletAt(name, payer).address });
      expect(paid.txSignature).toBe(payload['hash'] ?? payload['signature']);
    },
    TEST_MS,
  );
});
