import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IntentId } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { Watcher } from '../conformance/watching.ts';
import { solanaOn, type SolanaPayer, type SolanaUnderTest, startSolana, termsOn } from './chain.ts';

/** An upgraded node: the word `confirmed` is gone, as its docs announce, and statuses have a new one. */
describe('a Solana node without the commitment "confirmed"', () => {
  let behind: SolanaUnderTest;
  let proxy: RpcProxy;
  let solana: SolanaUnderTest;
  beforeAll(async () => {
    behind = await startSolana();
    proxy = await startRpcProxy(behind.node.rpcUrl);
    solana = await solanaOn(behind.node, proxy.url);
  });
  afterAll(async () => {
    await solana.pool.close();
    await proxy.stop();
    await behind.stop();
  });

  it('has a payment built and found all the same', async () => {
    const refused: string[] = [];
    proxy.respond = ({ method, params }) => {
      if (!JSON.stringify(params).includes('"confirmed"')) return undefined;
      refused.push(method);
      return Object.assign(new Error('Invalid params: unknown variant `confirmed`'), { code: -32_602 });
    };
    const watcher = new Watcher(solana.observer);
    await watcher.step();
    const terms = termsOn(solana);
    watcher.watched.add('pi_1', terms);
    const payer = solana.payers[0] as SolanaPayer;
    const built = await solana.adapter.build({
      intentId: 'pi_1' as IntentId,
      terms,
      direction: 'request',
      fulfiller: payer.address,
      expiresAt: 0,
    });
    expect(built.kind).toBe('built');
    await payer.transfer(terms.tokenAddress, terms.requestor, terms.amount, { references: [terms.reference] });
    await behind.node.finalize();
    solana.clock.pass(5_000);
    const found = [...(await watcher.step()), ...(await watcher.step())];
    expect(found.map(({ type }) => type)).toContain('landed');
    expect(refused).toEqual(expect.arrayContaining(['getEpochInfo', 'getMultipleAccounts', 'getTransaction']));
    // It is asked in the other word at once from then on.
    refused.length = 0;
    await watcher.step();
    expect(refused).toEqual([]);
  });
});
