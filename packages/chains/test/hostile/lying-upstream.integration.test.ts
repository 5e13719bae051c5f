import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { PaymentTerms, Reference } from '@pf/domain';
import type { RpcPool } from '@pf/rpc';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { evmWallet } from '@pf/testing/wallets';
import type { Hex } from 'viem';
import { BaseObserver } from '../../src/base/observer.ts';
import { type BaseUnderTest, poolOver, startBase } from '../base/chain.ts';
import { Watcher } from '../conformance/watching.ts';

let base: BaseUnderTest;
let proxies: readonly [RpcProxy, RpcProxy];
let pool: RpcPool;
let watcher: Watcher;
beforeEach(async () => {
  base = await startBase();
  proxies = [await startRpcProxy(base.anvil.rpcUrl), await startRpcProxy(base.anvil.rpcUrl)];
  pool = poolOver(proxies.map(({ url }) => url));
  watcher = new Watcher(new BaseObserver(base.adapter.network, pool, base.clock.now));
}, 60_000);
afterEach(async () => {
  await pool.close();
  for (const proxy of proxies) await proxy.stop();
  await base.stop();
});

/** The calldata of a payment with another reference. */
const named = (input: string, reference: Reference): string => `${input.slice(0, 138)}${reference.slice(2)}`;

it.each([0, 1])(
  'a payment is reported where upstream %s of two shows it as that of another',
  async (lying) => {
    const [requestor, token] = [base.newRecipient(), base.adapter.token('USDC')];
    if (token === null) throw new Error('Base has USDC');
    const newTerms = (): PaymentTerms => ({
      chain: base.adapter.network.chain,
      tokenAddress: token.address,
      amount: 2_000_000n,
      requestor,
      reference: base.adapter.newReference(),
    });
    const [honest, thief] = [newTerms(), newTerms()];
    watcher.watched.add('pi_honest', honest);
    watcher.watched.add('pi_thief', thief);
    await watcher.step();
    const [wallet] = base.anvil.wallets;
    if (wallet === undefined) throw new Error('there are wallets');
    const payer = evmWallet(base.anvil, wallet);
    const hash = await payer.transfer(token.address, requestor, honest.amount, honest.reference as string as Hex);
    await base.anvil.mine();
    const liar = proxies[lying];
    if (liar === undefined) throw new Error('there are two upstreams');
    liar.respond = async ({ method, params }) => {
      if (method !== 'eth_getTransactionByHash' || params[0] !== hash) return undefined;
      const shown = await base.anvil.rpc<{ readonly input: string }>(method, hash);
      return { ...shown, input: named(shown.input, thief.reference) };
    };
    const told = new Set<string>();
    const confirmed = 'pi_honest landed confirmed';
    // On a slow machine an upstream lags for some seconds, and then nothing is asked of it.
    for (let steps = 0; steps < 20 || (steps < 300 && !told.has(confirmed)); steps += 1) {
      await base.anvil.mine(2);
      base.clock.pass(3_000);
      for (const { intentId, type, data } of await watcher.step())
        told.add(`${intentId} ${type} ${'level' in data ? data.level : ''}`);
    }
    expect(told).toContain(confirmed);
    // Of two that contradict each other, neither makes anything final.
    expect([...told].filter((one) => one.endsWith('finalized'))).toEqual([]);
  },
  120_000,
);
