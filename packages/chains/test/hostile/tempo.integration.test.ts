import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PaymentTerms } from '@pf/domain';
import { type RpcProxy, startRpcProxy } from '@pf/testing/chains';
import { leastCpu, leastDelay } from '@pf/testing/quiet-core';
import { tempoWallet } from '@pf/testing/wallets';
import { type Hex, toHex } from 'viem';
import { getReceipt, STRANGERS_MAX_BYTES } from '../../src/evm/calls.ts';
import { paymentsIn } from '../../src/tempo/observe/landings.ts';
import { keeps } from '../../src/tempo/observe/receipts.ts';
import { TempoObserver } from '../../src/tempo/observer.ts';
import { Watcher } from '../conformance/watching.ts';
import { startTempoUnderTest, tempoPool, type TempoUnderTest } from '../tempo/chain.ts';
import { DELAY_MAX_MS } from './delay.ts';
import { HOSTILE_ON_TEMPO, type Hostile, type Place } from './tempo.ts';

/** The CPU of one core that the longest receipt may take that is read. */
const CPU_MAX_MS = 50;
const FOREIGN = `0x${'cd'.repeat(20)}`;

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

  /** Pays in a block of its own. @returns the hash */
  async function pay({ tokenAddress, requestor, amount, reference }: PaymentTerms): Promise<string> {
    const [wallet] = chain.tempo.wallets;
    if (wallet === undefined) throw new Error('there are wallets');
    const paying = tempoWallet(chain.tempo, wallet);
    const hash = await paying.transfer(tokenAddress, requestor, amount, reference as string as Hex);
    await chain.tempo.mine();
    return hash;
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
      let payments = 0;
      /** The honest payment is observed in the first step after its block that has the time. */
      const payOnce = async (isBeside: boolean): Promise<void> => {
        const before = (await watcher.stepOnce()).setAside ?? 0;
        const id = `${index}_${(payments += 1)}`;
        const claimed = watched(`pi_hostile_${id}`);
        const honest = watched(`pi_honest_${id}`);
        const hash = await pay(honest);
        const place = await chain.tempo.rpc<Place>('eth_getBlockByNumber', 'latest', false);
        const its = toHex(0xbad_000 + 100 * index + payments, { size: 32 });
        show(new Map(isBeside ? [[its, make(its, place, claimed)]] : []));
        const first = await watcher.stepOnce();
        // What a step had no time for, as other processes took it, is observed by the next one.
        const { observations, setAside } = first.observations.length > 0 ? first : await watcher.stepOnce();
        expect(observations).toMatchObject([
          { intentId: `pi_honest_${id}`, type: 'landed', data: { hash, level: 'finalized' } },
        ]);
        expect((setAside ?? 0) - before).toBe(isBeside && isSetAside ? 1 : 0);
      };
      const delayMs = await leastDelay(
        () => payOnce(false),
        () => payOnce(true),
        DELAY_MAX_MS,
      );
      expect(delayMs).toBeLessThan(DELAY_MAX_MS);
    });

  it.each(HOSTILE_ON_TEMPO.map((one) => [one.name, one] as const))(
    'takes little of the time of others where its receipt is short enough to be read: %s',
    (_name, { make }) => {
      const terms = watched('pi_read');
      const hash = toHex(0xbad, { size: 32 });
      const text = JSON.stringify(make(hash, { number: '0x1', hash }, terms).receipt ?? null);
      if (text.length > STRANGERS_MAX_BYTES) return;
      const read = (): void => {
        try {
          const receipt = getReceipt(hash, keeps).parse(JSON.parse(text));
          if (receipt !== null) paymentsIn(receipt, chain.adapter.network);
        } catch (error) {
          // What has no form that is known is set aside.
          expect(error).toBeInstanceOf(Error);
        }
      };
      expect(leastCpu(read)).toBeLessThan(CPU_MAX_MS);
    },
  );

  it('hides no payment by a receipt that is too long: the logs of its block tell what it pays', async () => {
    const second = await startRpcProxy(chain.tempo.rpcUrl);
    const pool = tempoPool([proxy.url, second.url]);
    const doubting = new Watcher(new TempoObserver(chain.adapter.network, pool, () => chain.now()), watcher.watched);
    await doubting.step();
    const terms = watched('pi_long');
    const hash = await pay(terms);
    const receipt = await chain.tempo.rpc<{ logs: readonly object[] }>('eth_getTransactionReceipt', hash);
    const others = Array.from({ length: 30_000 }, () => ({ ...receipt.logs[0], address: FOREIGN }));
    for (const by of [proxy, second])
      by.respond = ({ method, params }) =>
        method === 'eth_getTransactionReceipt' && params[0] === hash
          ? { ...receipt, logs: [...others, ...receipt.logs] }
          : undefined;
    const { observations, setAside } = await doubting.stepOnce();
    await pool.close();
    await second.stop();
    // The other watcher follows this intent too.
    proxy.respond = () => undefined;
    await watcher.step();
    expect(setAside).toBe(0);
    expect(observations).toMatchObject([
      { intentId: 'pi_long', data: { hash, level: 'finalized', transfer: { amount: terms.amount } } },
    ]);
  });

  it('is looked at again, and is found once it can be read', async () => {
    const terms = watched('pi_late');
    const hash = await pay(terms);
    proxy.respond = ({ method }) => (method === 'eth_getTransactionReceipt' ? 'none' : undefined);
    const before = (await watcher.stepOnce()).setAside ?? 0;
    proxy.respond = () => undefined;
    await chain.pass(1_000);
    const { observations, setAside } = await watcher.stepOnce();
    expect(observations).toMatchObject([{ intentId: 'pi_late', data: { hash } }]);
    expect(setAside).toBe(before - 1);
  });
});
