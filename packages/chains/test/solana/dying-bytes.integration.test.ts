import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, Build, IntentId } from '@pf/domain';
import { startRpcProxy } from '@pf/testing/chains';
import { SolanaAdapter } from '../../src/solana/adapter.ts';
import { solanaPool, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';

/** The chain counts in blocks: at 200 ms each, a blockhash is dead after 30 s, and on this node after 150 advances. */
describe('bytes that are about to die on Solana', () => {
  let solana: SolanaUnderTest;
  beforeAll(async () => {
    solana = await startSolana();
  });
  afterAll(() => solana.stop());

  async function build(adapter = solana.adapter, feePayer: Address | null = null): Promise<Build> {
    const [payer] = solana.payers;
    if (payer === undefined) throw new Error('no payer');
    const terms = termsOn(solana, 'USDC');
    const fulfiller = payer.address;
    const request = { intentId: 'pi_test' as IntentId, terms, fulfiller, expiresAt: 0, feePayer };
    const built = await adapter.build({ ...request, direction: 'request', sponsored: feePayer !== null });
    if (built.kind !== 'built') throw new Error(JSON.stringify(built));
    return { version: 2, fulfiller, transaction: built.transaction, lifetime: built.lifetime };
  }

  it('are not handed out when a build is asked for just before its blockhash dies', async () => {
    const made = await build();
    expect(await solana.adapter.isReusable(made)).toBe(true);
    await solana.node.advance(49);
    expect(await solana.adapter.isReusable(made)).toBe(true);
    await solana.node.advance(2);
    expect(await solana.adapter.isReusable(made)).toBe(false);
    await solana.node.advance(96);
    expect(await solana.adapter.isReusable(made)).toBe(false);
    expect((await build()).transaction.blob).not.toBe(made.transaction.blob);
  });

  it('are handed out again where a sponsor may have them signed, until they can no longer land', async () => {
    const sponsor = solana.payers[1]?.address ?? null;
    const made = await build(solana.adapter, sponsor);
    await solana.node.advance(150);
    expect(await solana.adapter.isReusable(made)).toBe(true);
    await solana.node.advance(2);
    expect(await solana.adapter.isReusable(made)).toBe(false);
  });

  it('are found out although a node that is behind would have them live', async () => {
    const proxy = await startRpcProxy(solana.node.rpcUrl);
    const pool = solanaPool([proxy.url]);
    const adapter = new SolanaAdapter(solana.adapter.network, pool);
    const made = await build(adapter);
    const [height, latest] = await Promise.all([
      solana.node.rpc('getBlockHeight', { commitment: 'confirmed' }),
      solana.node.rpc('getLatestBlockhash', { commitment: 'confirmed' }),
    ]);
    await solana.node.advance(140);
    // Another build has seen the head: a node that was left behind is asked no more.
    await build(adapter);
    const answers: Record<string, unknown> = { getBlockHeight: height, getLatestBlockhash: latest };
    proxy.respond = ({ method }) => answers[method];
    await expect(adapter.isReusable(made)).rejects.toMatchObject({ name: 'RpcUnavailableError' });
    // Behind one URL, only its height may come from such a node.
    proxy.respond = ({ method }) => (method === 'getBlockHeight' ? height : undefined);
    expect(await adapter.isReusable(made)).toBe(false);
    await pool.close();
    await proxy.stop();
  });

  it('say until when they can land, by the newest height of any node', async () => {
    const proxy = await startRpcProxy(solana.node.rpcUrl);
    const pool = solanaPool([proxy.url]);
    const adapter = new SolanaAdapter(solana.adapter.network, pool);
    const before = Date.now();
    const made = await build(adapter);
    const { expiresAt, lastValidBlockHeight } = adapter.expiryOf(made.lifetime);
    const height = BigInt(await solana.node.rpc<number>('getBlockHeight', { commitment: 'confirmed' }));
    expect(lastValidBlockHeight).toBe(height + 150n);
    // Nothing is measured yet: 200 ms a block is what the network aims at.
    expect(expiresAt).toBeGreaterThan(before);
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + 30_000);
    await solana.node.advance(8);
    expect(await adapter.isReusable(made)).toBe(true);
    expect(adapter.expiryOf(made.lifetime).expiresAt).toBeLessThanOrEqual(Date.now() + 142 * 200);
    const latest = await solana.node.rpc<{ value: object }>('getLatestBlockhash', { commitment: 'confirmed' });
    proxy.respond = ({ method }) =>
      method === 'getLatestBlockhash'
        ? { ...latest, value: { ...latest.value, lastValidBlockHeight: Number.MAX_SAFE_INTEGER } }
        : undefined;
    expect(adapter.expiryOf((await build(adapter)).lifetime).expiresAt).toBeNull();
    await pool.close();
    await proxy.stop();
  });
});
