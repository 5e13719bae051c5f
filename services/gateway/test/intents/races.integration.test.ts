import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { type ApiClient, apiClient, type Cluster, type Instance, readWholeLog, startCluster, until } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { type EvmWallet, evmWallet } from '@pf/testing/wallets';

const CHAIN = 'eip155:84532';

describe('concurrent requests', () => {
  let anvil: Anvil;
  let cluster: Cluster;
  let writer: Instance;
  let clients: readonly [ApiClient, ApiClient];
  const wallet = (index: number): EvmWallet =>
    evmWallet(anvil, anvil.wallets[index] ?? { address: '', privateKey: '' });

  beforeAll(async () => {
    [anvil, cluster] = await Promise.all([startAnvil(), startCluster()]);
    const env = { RPC_BASE_SEPOLIA: anvil.rpcUrl };
    const [one, other, intent] = await Promise.all([
      cluster.start('gateway', { env }),
      cluster.start('gateway', { env }),
      cluster.start('intent'),
    ]);
    writer = intent;
    clients = [apiClient(`${one.url}/v1`, cluster.apiKeys.test), apiClient(`${other.url}/v1`, cluster.apiKeys.test)];
  });
  afterAll(async () => {
    await cluster.close();
    await anvil.stop();
  });

  it('create one intent with one idempotency key, even before the first create is decided', async () => {
    const reader = await cluster.log.reader('test');
    const waiting = async (): Promise<bigint> =>
      (await reader.endOffsets('intent.commands')).reduce((sum, end) => sum + end, 0n);
    const before = await waiting();
    writer.kill('SIGSTOP');
    // The API keys are cached and the writer's pending fetch has ended before the creates are sent.
    await Promise.all(Array.from({ length: 60 }, (_, n) => clients[n % 2 ? 1 : 0].get(newIntentId(0))));
    const creating = Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        clients[n % 2 ? 1 : 0].create({
          chain: CHAIN,
          token: 'USDC',
          amount: String(n + 1),
          requestor: wallet(2).address,
          idempotencyKey: 'met',
        }),
      ),
    );
    await until('all creates to wait', async () => (await waiting()) === before + 60n);
    writer.kill('SIGCONT');
    const responses = await creating;
    await reader.close();
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array<number>(59).fill(200), 201]);
    const { intents } = await readWholeLog(cluster);
    expect([...intents.values()].filter(({ idempotencyKey }) => idempotencyKey === 'met')).toHaveLength(1);
  });

  it('let only one of two payers pay when both submit at once', async () => {
    const [payer, rival, merchant] = [wallet(0), wallet(1), wallet(3)];
    const usdc = anvil.tokens['USDC'] ?? '';
    const { id } = (
      await clients[0].create({ chain: CHAIN, token: 'USDC', amount: '2.5', requestor: merchant.address })
    ).body.intent;
    const signedBy = async (from: EvmWallet): Promise<string> =>
      from.sign((await clients[0].build(id, from.address)).body.transaction.blob);
    const signed = [await signedBy(payer), await signedBy(rival)] as const;
    const before = await merchant.tokenBalance(usdc);
    const responses = await Promise.all([
      clients[0].submit(id, signed[0], payer.address),
      clients[1].submit(id, signed[1], rival.address),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    await anvil.mine();
    expect((await merchant.tokenBalance(usdc)) - before).toBe(2_500_000n);
  });
});
