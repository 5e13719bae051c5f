import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Address, IntentId, PaymentTerms, TokenAddress } from '@pf/domain';
import { type LocalSolana, startSolana } from '@pf/testing/chains';
import { type Provider, startProvider } from '@pf/testing/providers';
import type { PayerWallet } from '../conformance/suite.ts';
import { solanaOn, type SolanaUnderTest } from '../solana/chain.ts';
import { conformanceBehindProviders, insist } from './behind.ts';

conformanceBehindProviders(
  'solana',
  async () => {
    const node = await startSolana();
    return {
      rpcUrl: node.rpcUrl,
      at: async (url) => {
        const chain = await solanaOn(node, url);
        return {
          ...chain,
          // For the nodes of a pool that are behind, too.
          expire: async () => void [await node.expire(), await node.expire()],
          kill: async () => void [await node.expire(), await node.expire()],
          pass: () => chain.clock.pass(2_000),
          // So far that the nearer node of a pool has it too, and not final yet.
          settle: async () => {
            await chain.settle();
            await node.advance(8);
          },
          stop: () => chain.pool.close(),
        };
      },
      stop: () => node.stop(),
    };
  },
  {
    'helius-free': 'serves',
    'helius-paid': 'serves',
    quicknode: 'serves',
    'solana-public': 'serves',
    'solana-pool': 'serves',
    'publicnode-solana': 'serves',
    'alchemy-free': 'serves',
    envelopes: 'serves',
    streams: 'serves',
  },
);

describe('the Solana adapter behind solana-pool', () => {
  let node: LocalSolana;
  let provider: Provider;
  let solana: SolanaUnderTest;
  beforeAll(async () => {
    node = await startSolana();
    // More than the nodes of the pool are behind.
    await node.advance(200);
    provider = await startProvider('solana-pool', node.rpcUrl);
    solana = await solanaOn(node, provider.url);
  });
  afterAll(async () => {
    await solana.stop();
    await provider.stop();
  });

  it('refuses no payment because a node does not have its blockhash yet', async () => {
    const { adapter, payers } = solana;
    const [payer] = payers;
    const outcomes = new Set<string>();
    for (let payment = 0; payment < 6; payment += 1) {
      const terms: PaymentTerms = {
        chain: adapter.network.chain,
        tokenAddress: adapter.token('USDC')?.address as TokenAddress,
        amount: 1n,
        requestor: solana.newRecipient(),
        reference: adapter.newReference(),
      };
      const built = await insist(() =>
        adapter.build({
          intentId: 'pi_test' as IntentId,
          terms,
          direction: 'request',
          fulfiller: payer?.address as Address,
          expiresAt: solana.now() + 3_600_000,
        }),
      );
      if (built.kind !== 'built') throw new Error(JSON.stringify(built));
      const parsed = adapter.parseSubmitted(await (payer as PayerWallet).sign(built.transaction.blob));
      if (!parsed.ok || parsed.value.kind !== 'signed') throw new Error(JSON.stringify(parsed));
      const { transaction } = parsed.value;
      outcomes.add((await insist(() => adapter.verify(transaction, terms, payer?.address as Address, false))).kind);
      outcomes.add((await adapter.broadcast(transaction)).kind);
      await node.advance();
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['verified', 'taken']));
    for (const refusal of ['rejected', 'refused']) expect([...outcomes]).not.toContain(refusal);
  });
});
