import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { tempoWallet } from '@pf/testing/wallets';
import { type Hex, toHex } from 'viem';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { startTempoUnderTest, tempoPool, type TempoUnderTest } from '../tempo/chain.ts';
import { HOSTILE_ON_TEMPO, type Hostile, type Place } from './tempo.ts';

/** How long the step may take, in ms, which observes the honest payment: this process is the node, too. */
const STEP_MAX_MS = 3_000;

describe('A hostile transaction on Tempo', () => {
  let chain: TempoUnderTest;
  let proxy: RpcProxy;
  let watcher: Watcher;
  let close: () => Promise<void>;
  beforeAll(async () => {
    chain = await startTempoUnderTest();
    proxy = await startRpcProxy(chain.tempo.rpcUrl);
    const pool = tempoPool([proxy.url]);
    close = async () => {
      await pool.close();
      await proxy.stop();
      await chain.stop();
    };
    watcher = new Watcher(new TempoObserver(chain.adapter.network, pool, () => chain.now()));
    await watcher.step();
  });
  afterAll(() => close());

  function watched(id: string): PaymentTerms {
    const token = chain.adapter.token('USDC');
    if (token === null) throw new Error('Tempo has USDC');
    const terms: PaymentTerms = {
      chain: chain.adapter.network.chain,
      tokenAddress: token.address,
      amount: 2_000_000n,
      requestor: chain.newRecipient(),
      reference: chain.adapter.newReference(),
    };
    watcher.watched.add(id, terms);
    return terms;
  }

  /** The node has these transactions too, in the block of the honest payment. */
  function show(transactions: ReadonlyMap<string, Hostile>): void {
    proxy.respond = async ({ method, params }) => {
      const logs = [...transactions.values()].flatMap((one) => one.logs);
      if (method === 'eth_getLogs') return [...logs, ...(await chain.tempo.rpc<object[]>(method, params[0]))];
      const found = method === 'eth_getTransactionReceipt' ? transactions.get(String(params[0])) : undefined;
      return found?.receipt;
    };
  }

  for (const [index, { name, isSetAside, make }] of HOSTILE_ON_TEMPO.entries())
    it(`delays and changes no other payment: ${name}`, async () => {
      const before = (await watcher.stepOnce()).setAside ?? 0;
      const claimed = watched(`pi_hostile_${index}`);
      const honest = watched(`pi_honest_${index}`);
      const [wallet] = chain.tempo.wallets;
      if (wallet === undefined) throw new Error('there are wallets');
      const hash = await tempoWallet(chain.tempo, wallet).transfer(
        honest.tokenAddress,
        honest.requestor,
        honest.amount,
        honest.reference as string as Hex,
      );
      await chain.tempo.mine();
      const place = await chain.tempo.rpc<Place>('eth_getBlockByNumber', 'latest', false);
      const its = toHex(0xbad_000 + index, { size: 32 });
      show(new Map([[its, make(its, place, claimed)]]));
      const begun = performance.now();
      const { observations, setAside } = await watcher.stepOnce();
      expect(performance.now() - begun).toBeLessThan(STEP_MAX_MS);
      expect(observations).toMatchObject([
        { intentId: `pi_honest_${index}`, type: 'landed', data: { hash, level: 'finalized' } },
      ]);
      expect((setAside ?? 0) - before).toBe(isSetAside ? 1 : 0);
    });

  it('is looked at again, and is found once it can be read', async () => {
    const terms = watched('pi_late');
    const [, wallet] = chain.tempo.wallets;
    if (wallet === undefined) throw new Error('there are wallets');
    const hash = await tempoWallet(chain.tempo, wallet).transfer(
      terms.tokenAddress,
      terms.requestor,
      terms.amount,
      terms.reference as string as Hex,
    );
    await chain.tempo.mine();
    proxy.respond = ({ method }) => (method === 'eth_getTransactionReceipt' ? 'none' : undefined);
    const before = (await watcher.stepOnce()).setAside ?? 0;
    proxy.respond = () => undefined;
    await chain.pass(1_000);
    const { observations, setAside } = await watcher.stepOnce();
    expect(observations).toMatchObject([{ intentId: 'pi_late', data: { hash } }]);
    expect(setAside).toBe(before - 1);
  });
});
