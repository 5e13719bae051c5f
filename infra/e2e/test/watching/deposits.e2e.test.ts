import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openAccount, type OpenedAccount } from '@pf/database';
import type { PublicDeposit } from '@pf/domain';
import {
  type ApiClient,
  apiClient,
  type Cluster,
  readBackingStack,
  startCluster,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { evmWallet, type EvmWallet } from '@pf/testing/wallets';

const UNITS = 2_000_000n;
const WITHIN_MS = 60_000;
/** Blocks after which one is final on the local chain. */
const FINAL_AFTER = 70;

interface Told {
  readonly eventId: string;
  readonly type: string;
  readonly data: { readonly deposit: PublicDeposit };
}

describe('Money that names no intent, on Base', () => {
  let base: Anvil;
  let cluster: Cluster;
  let receiver: WebhookReceiver;
  let payer: EvmWallet;
  let merchant: EvmWallet;
  let usdc: string;
  let api: ApiClient;
  let neighbor: ApiClient;

  beforeAll(async () => {
    base = await startAnvil();
    cluster = await startCluster(readBackingStack(), [base]);
    const [gateway] = await Promise.all([
      cluster.start('gateway'),
      cluster.start('intent'),
      cluster.start('webhook'),
      cluster.start('watcher', { env: { DEPOSITS: 'true' } }),
    ]);
    const [of, by] = base.wallets;
    if (of === undefined || by === undefined) throw new Error('the chain has wallets');
    [merchant, payer] = [evmWallet(base, of), evmWallet(base, by)];
    usdc = base.tokens['USDC'] ?? '';
    const other: OpenedAccount = await openAccount(cluster.database, cluster.secretsKey, { name: 'neighbor' });
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    neighbor = apiClient(`${gateway.url}/v1`, other.apiKeys.test);
    receiver = await webhookReceiver();
    await api.request('POST', '/webhook-endpoints', { url: receiver.url });
    const create = async (client: ApiClient): Promise<void> => {
      const { status, body } = await client.create({
        chain: base.caip2,
        token: 'USDC',
        amount: '2',
        requestor: merchant.address,
      });
      expect([status, body.error]).toEqual([201, undefined]);
    };
    await create(api);
    await create(neighbor);
  });
  afterAll(async () => {
    await cluster.close();
    await receiver.close();
    await base.stop();
  });

  const listed = async (by = api): Promise<readonly PublicDeposit[]> =>
    (await by.request<{ deposits: readonly PublicDeposit[] }>('GET', '/deposits')).body.deposits;
  const reaches = (hash: string, level: string, by = api): Promise<PublicDeposit> =>
    until(
      `the deposit of ${hash} to be ${level}`,
      async () => (await listed(by)).find((one) => one.txSignature === hash && one.level === level),
      WITHIN_MS,
    );
  const told = (): readonly Told[] =>
    receiver.received.map(({ body }) => body as unknown as Told).filter(({ type }) => type.startsWith('deposit.'));
  const toldOf = (type: string): Promise<Told> => until(type, () => told().find((one) => one.type === type), WITHIN_MS);
  const pass = (): Promise<unknown> => base.mine();

  it('is a deposit of each account that names the wallet, and is lost with its block', async () => {
    const hash = await payer.transfer(usdc, merchant.address, UNITS);
    await pass();
    const [mine, theirs] = await Promise.all([reaches(hash, 'confirmed'), reaches(hash, 'confirmed', neighbor)]);
    expect(mine).toMatchObject({
      chain: base.caip2,
      token: 'USDC',
      amount: '2',
      sender: payer.address,
      recipient: merchant.address,
      reason: 'no_reference',
      state: 'open',
      intentId: null,
    });
    expect(theirs).toMatchObject({ txSignature: hash, amountBaseUnits: String(UNITS) });
    expect(theirs.id).not.toBe(mine.id);
    expect((await toldOf('deposit.received')).data.deposit).toEqual(mine);
    const shown = await api.request<{ deposit: PublicDeposit }>('GET', `/deposits/${mine.id}`);
    expect(shown.body.deposit).toEqual(mine);
    expect((await api.request('GET', `/deposits/${theirs.id}`)).status).toBe(404);

    await base.rpc('anvil_reorg', 1, []);
    await pass();
    await Promise.all([reaches(hash, 'lost'), reaches(hash, 'lost', neighbor)]);
    expect((await toldOf('deposit.lost')).data.deposit).toMatchObject({ id: mine.id, level: 'lost' });
  });

  it('pays the intent that it is assigned to, whoever claims it, and again where a reorg lands it again', async () => {
    const create = async (): Promise<string> => {
      const wanted = { chain: base.caip2, token: 'USDC', amount: '2', requestor: merchant.address };
      return (await api.create(wanted)).body.intent.id;
    };
    const [intended, claimant] = [await create(), await create()];
    const isNow = (state: string): Promise<unknown> =>
      until(`${intended} to be ${state}`, async () => (await api.get(intended)).body.intent.state === state, WITHIN_MS);
    // Blocks that come on demand are behind our clock, and nothing from before an intent is claimed for it.
    await base.rpc('evm_increaseTime', 60);
    const hash = await payer.transfer(usdc, merchant.address, UNITS);
    await pass();
    const { id } = await reaches(hash, 'confirmed');
    expect((await api.request('POST', `/deposits/${id}/assign`, { intentId: intended })).status).toBe(200);
    await isNow('confirmed');

    // Two seconds later the chain shows it as confirmed.
    await base.rpc('evm_increaseTime', 2);
    await pass();
    const claim = { signedTransaction: hash, fulfiller: payer.address };
    const { body } = await until('the claim to be read', async () => {
      const response = await api.request('POST', `/intents/${claimant}/submit`, claim);
      return response.status !== 503 && response;
    });
    expect(body.error?.message).toMatch(/for another of its payment intents/);
    const raw = await base.rpc<string>('eth_getRawTransactionByHash', hash);
    await base.rpc('anvil_reorg', 2, []);
    await pass();
    await reaches(hash, 'lost');
    await base.rpc('eth_sendRawTransaction', raw);
    await pass();
    expect(await reaches(hash, 'confirmed')).toMatchObject({ id, state: 'assigned', intentId: intended });
    await base.mine(FINAL_AFTER);
    await isNow('finalized');
    expect((await reaches(hash, 'finalized')).state).toBe('assigned');
  });
});
