import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicIntent } from '@pf/domain';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Anvil, type ApiClient, apiClient, type Cluster, type EvmWallet, evmWallet, type Instance, startAnvil, startCluster, until } from '../src/index.ts';

/** On a chain of its own, whose blocks come when the test says: what goes wrong on Base, through the running services. */
describe('a payment that goes wrong on chain', () => {
  let anvil: Anvil;
  let cluster: Cluster;
  let watcher: Instance;
  let api: ApiClient;
  let payer: EvmWallet;
  let usdc: string;
  let nextWallet = 1;

  beforeAll(async () => {
    [anvil, cluster] = await Promise.all([startAnvil(), startCluster()]);
    const env = { RPC_BASE_SEPOLIA: anvil.rpcUrl };
    const [gateway, , firstWatcher] = await Promise.all([cluster.start('gateway', { env }), cluster.start('intent'), cluster.start('watcher', { env })]);
    watcher = firstWatcher;
    api = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    usdc = anvil.tokens['USDC'] ?? '';
  }, 60_000);
  beforeEach(() => {
    // Each test has a payer of its own: one blacklisted or with a burnt nonce spoils no other.
    payer = evmWallet(anvil, anvil.wallets[nextWallet++] ?? { address: '', privateKey: '' });
  });
  afterAll(async () => {
    await cluster.close();
    await anvil.stop();
  });

  const request = () => ({ chain: anvil.caip2, token: 'USDC', amount: '3', requestor: anvil.wallets[0]?.address });
  const create = async (): Promise<PublicIntent> => (await api.create(request())).body.intent;
  const submit = async (id: string): Promise<{ hash: string; signed: string; intent: PublicIntent }> => {
    const { body } = await api.build(id, payer.address);
    const signed = await payer.sign(body.transaction.blob);
    const submitted = await api.submit(id, signed, payer.address);
    expect([submitted.status, submitted.body.error]).toEqual([200, undefined]);
    return { hash: submitted.body.txSignature, signed, intent: submitted.body.intent };
  };
  /** Mines block after block until the intent is as `good` says. */
  const mineUntil = (what: string, id: string, good: (intent: PublicIntent) => boolean): Promise<PublicIntent> =>
    until(`${id} to be ${what}`, async () => {
      await anvil.mine();
      const { intent } = (await api.get(id)).body;
      return good(intent) && intent;
    }, 45_000);
  const history = async (id: string): Promise<string[]> => {
    const { rows } = await cluster.database.sql.query<{ type: string }>('SELECT type FROM ledger.intent_events WHERE intent_id = $1 ORDER BY version', [id]);
    return rows.map(({ type }) => type);
  };

  it('reverts: the intent fails', async () => {
    const { id } = await create();
    const { hash, signed, intent } = await submit(id);
    expect(intent.state).toBe('pending');
    await anvil.rpc('anvil_dropTransaction', hash);
    await anvil.asTokenOwner(usdc, 'blacklist', [payer.address]);
    // The same bytes again, for what is live is broadcast again; the watcher would do so by itself a little later.
    expect((await api.submit(id, signed, payer.address)).body.intent.state).toBe('pending');
    const failed = await mineUntil('failed', id, ({ state }) => state === 'failed');
    expect(failed.txSignature).toBe(hash);
    expect(await history(id)).toEqual(['intent.created', 'intent.pending', 'intent.failed']);
  }, 60_000);

  it('is dropped, provably: the payer signs again and pays', async () => {
    const { id } = await create();
    const first = await submit(id);
    await anvil.rpc('anvil_dropTransaction', first.hash);
    const account = privateKeyToAccount((anvil.wallets[nextWallet - 1]?.privateKey ?? '') as `0x${string}`);
    const wallet = createWalletClient({ account, transport: http(anvil.rpcUrl) });
    const nonce = await payer.client.getTransactionCount({ address: payer.address });
    await wallet.sendTransaction({ chain: null, to: payer.address, value: 0n, nonce, gas: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 11n });
    const dropped = await mineUntil('created again', id, ({ state }) => state === 'created');
    expect(dropped).toMatchObject({ retryRequired: true, txSignature: null });

    const second = await submit(id);
    expect(second.hash).not.toBe(first.hash);
    expect(second.intent.retryRequired).toBe(false);
    await mineUntil('finalized', id, ({ state }) => state === 'finalized');
    expect(await history(id)).toEqual(['intent.created', 'intent.pending', 'intent.retry_required', 'intent.pending', 'intent.confirmed', 'intent.finalized']);
  }, 90_000);

  it('lands after it was cancelled: the money moved, so it is confirmed', async () => {
    const { id, reference } = await create();
    expect((await api.cancel(id)).body.intent.state).toBe('cancelled');
    const hash = await payer.transfer(usdc, request().requestor ?? '', 3_000_000n, reference as `0x${string}`);
    const confirmed = await mineUntil('finalized', id, ({ state }) => state === 'finalized');
    expect(confirmed).toMatchObject({ txSignature: hash, fulfiller: payer.address });
  }, 60_000);

  it('is orphaned by a reorganisation after it was confirmed: it stays confirmed and lands again', async () => {
    const { id } = await create();
    const { hash } = await submit(id);
    await anvil.mine();
    // Confirmed takes two seconds of the same block; no further blocks meanwhile, or it would be final.
    await until('confirmed', async () => (await api.get(id)).body.intent.state === 'confirmed');
    await anvil.rpc('anvil_reorg', 1, []);
    expect(await payer.client.getTransactionReceipt({ hash: hash as `0x${string}` }).catch(() => null)).toBeNull();
    await mineUntil('finalized', id, ({ state }) => state === 'finalized');
    expect(await history(id)).toEqual(['intent.created', 'intent.pending', 'intent.confirmed', 'intent.finalized']);
  }, 90_000);

  it('happens while the watcher is down: it is found afterwards', async () => {
    const { id, reference } = await create();
    watcher.kill('SIGKILL');
    await watcher.exited;
    await payer.transfer(usdc, request().requestor ?? '', 3_000_000n, reference as `0x${string}`);
    await anvil.mine(3);
    watcher = await cluster.start('watcher', { env: { RPC_BASE_SEPOLIA: anvil.rpcUrl } });
    await mineUntil('finalized', id, ({ state }) => state === 'finalized');
  }, 60_000);
});
