import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiClient, apiClient, type Cluster, type CreatedBody, readBackingStack, startCluster } from '@pf/testing';
import { startTempo, type Tempo } from '@pf/testing/chains';
import { walletOn } from '@pf/testing/wallets';
import { MppChallenges } from '../../src/mpp/challenges.ts';
import { type Challenge, challengeOf, credentialFor, readChallenge } from './credentials.ts';

const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const TEMPO = 'eip155:42431';
const BASE = 'eip155:84532';
const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const REQUESTORS = {
  [SOLANA]: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
  [TEMPO]: EVM_WALLET,
  [BASE]: EVM_WALLET,
};

describe('POST /intents/{id}/mpp', () => {
  let cluster: Cluster;
  let tempo: Tempo;
  let api: ApiClient;
  let stranger: ApiClient;

  beforeAll(async () => {
    tempo = await startTempo({ blockMs: 300 });
    cluster = await startCluster(readBackingStack(), [tempo]);
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    stranger = apiClient(`${gateway.url}/v1`, null);
  });
  afterAll(async () => {
    await cluster.close();
    await tempo.stop();
  });

  const create = async (chain: keyof typeof REQUESTORS): Promise<CreatedBody> =>
    (await api.create({ chain, token: 'USDC', amount: '3', requestor: REQUESTORS[chain] })).body;
  async function codeOf(id: string, challenge: Challenge, payload: object = { type: 'hash', hash: '0x' }) {
    const { status, body } = await stranger.request(
      'POST',
      `/intents/${id}/mpp`,
      {},
      credentialFor(challenge, payload),
    );
    return [status, body.error?.code];
  }
  const requestOf = ({ request }: Challenge) => JSON.parse(Buffer.from(request, 'base64url').toString()) as object;

  it('returns 402 with a challenge and problem details', async () => {
    const { intent } = await create(TEMPO);
    const { status, headers, body } = await api.request<object>('POST', `/intents/${intent.id}/mpp`);
    const challenge = readChallenge(headers.get('WWW-Authenticate'));
    expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
      402,
      'application/problem+json; charset=utf-8',
      'no-store',
    ]);
    expect(body).toMatchObject({ status: 402, challengeId: challenge.id, detail: `Pay 3 USDC.e on ${TEMPO}.` });
    expect(challenge).toMatchObject({ realm: intent.reference, intent: 'charge', expires: intent.expiresAt });
  });

  it('asks on Tempo for the token and chain, on Solana for a memo that is the reference', async () => {
    const [onTempo, onSolana] = [await create(TEMPO), await create(SOLANA)];
    expect(requestOf(await challengeOf(api, onTempo.intent.id))).toEqual({
      amount: '3000000',
      currency: onTempo.intent.tokenAddress,
      recipient: EVM_WALLET,
      methodDetails: { chainId: 42_431, supportedModes: ['pull', 'push'] },
    });
    expect(requestOf(await challengeOf(api, onSolana.intent.id))).toEqual({
      amount: '3000000',
      currency: onSolana.intent.tokenAddress,
      recipient: REQUESTORS[SOLANA],
      externalId: onSolana.intent.reference,
      methodDetails: {
        network: 'devnet',
        decimals: 6,
        tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      },
    });
  });

  it('returns 422 on Base, which has no form of it', async () => {
    const { intent } = await create(BASE);
    const { status, body } = await api.request('POST', `/intents/${intent.id}/mpp`);
    expect([status, body.error?.code, body.error?.param]).toEqual([422, 'chain.not_available', 'chain']);
  });

  it('returns 409 for an intent that is paid, with and without a credential', async () => {
    const { intent } = await create(TEMPO);
    const challenge = await challengeOf(api, intent.id);
    await api.simulate(intent.id, 'confirmed');
    const { status, body } = await api.request('POST', `/intents/${intent.id}/mpp`);
    expect([status, body.error?.code]).toEqual([409, 'intent.already_fulfilled']);
    const payload = { type: 'hash', hash: `0x${'ab'.repeat(32)}` };
    expect(await codeOf(intent.id, challenge, payload)).toEqual([409, 'intent.already_fulfilled']);
  });

  it('returns 409 for an expired challenge, and no other challenge', async () => {
    const { intent } = await create(TEMPO);
    const challenge = await challengeOf(api, intent.id);
    // The same challenge, made when the intent had another end.
    const charge = { realm: challenge.realm, request: requestOf(challenge) as Record<string, unknown> };
    const method = { name: 'tempo', charge: () => charge } as unknown as Parameters<MppChallenges['make']>[1];
    const before = { ...intent, expiresAt: Date.now() - 1 } as unknown as Parameters<MppChallenges['make']>[0];
    const expired = new MppChallenges(cluster.secretsKey).make(before, method);
    const { status, body, headers } = await stranger.request(
      'POST',
      `/intents/${intent.id}/mpp`,
      {},
      credentialFor(expired, { type: 'hash', hash: `0x${'ab'.repeat(32)}` }),
    );
    expect([status, body.error?.code, headers.get('WWW-Authenticate')]).toEqual([409, 'mpp.challenge_expired', null]);
  });

  it('returns 422 for a payload that is no transaction of the type that it names', async () => {
    const { intent } = await create(TEMPO);
    const challenge = await challengeOf(api, intent.id);
    const hash = `0x${'ab'.repeat(32)}`;
    for (const payload of [
      {},
      { type: 'proof', signature: '0x' },
      { type: 'hash', hash: '0x' },
      { type: 'hash', hash: 7 },
      { type: 'transaction', signature: hash },
      { type: 'toString' },
    ])
      expect([payload, ...(await codeOf(intent.id, challenge, payload))]).toEqual([
        payload,
        422,
        'transaction.malformed',
      ]);
    expect(await codeOf(intent.id, challenge, { type: 'hash', hash })).toEqual([503, 'transaction.not_visible']);
  });

  it('returns 202 while the payment is not confirmed, and again for the same credential', async () => {
    const { intent } = await create(TEMPO);
    const challenge = await challengeOf(api, intent.id);
    const [payer = { address: '', privateKey: '' }] = tempo.wallets;
    const { blob } = (await api.build(intent.id, payer.address)).body.transaction;
    // No watcher runs, so nothing confirms it.
    const payload = { type: 'transaction', signature: await walletOn(tempo, payer).sign(blob) };
    for (const times of ['once', 'again']) {
      const { status, headers, body } = await stranger.request<object>(
        'POST',
        `/intents/${intent.id}/mpp`,
        {},
        credentialFor(challenge, payload),
      );
      expect([times, status, headers.get('Payment-Receipt')]).toEqual([times, 202, null]);
      expect(body).toMatchObject({ intent: { state: 'pending', fulfiller: payer.address } });
    }
  });

  it('lets pages of other origins read the challenge and the receipt', async () => {
    const { intent } = await create(TEMPO);
    const { headers } = await api.request('POST', `/intents/${intent.id}/mpp`);
    expect(headers.get('Access-Control-Expose-Headers')).toMatch(/WWW-Authenticate.*Payment-Receipt/);
  });
});
